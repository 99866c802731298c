"""Obstacles from a file and from the topics `~/obstacles` and `~/planning_scene`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
import time
from typing import Any

from ik_node.description.sidecars.obstacles import obstacles_to_json, read_obstacles
from ik_node.errors import OptionError
from ik_node.model.bodies import make_shape, ROUND, Shape
from ik_node.model.rotation import Array, pose_matrix
from ik_node.ros.inputs.planning_scene import (
    allowed_pairs,
    changed_objects,
    left_out,
    Pairs,
    Placed,
    Scene,
)
from ik_node.ros.inputs.planning_scene import TOPIC as PLANNING_SCENE
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.loading import LoadedModel, path_of_url
from ik_node.ros.messages import pose_from_message, RefusedInputError
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process import add_publisher, LATCHED
import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

OBSTACLES, PRESENT = 'obstacles', 'present_obstacles'
# Most obstacles of the topic, and most messages that wait for a robot or a frame.
MOST, MOST_WAITING = 500, 20
# Time between two looks at lifetimes and at messages that wait [s].
LOOK = 0.1


class ObstacleInputs:
    """
    The obstacles of the robot: those of `collisions.obstacles_file`, and those of two topics.

    A message is taken as a whole or refused as a whole, so that the last good scene stays.
    """

    def __init__(
        self, node: Node, lookup: TransformLookup, refuse: Callable[[str, str], None]
    ) -> None:
        self._node, self._lookup, self._refuse = node, lookup, refuse
        self._model: LoadedModel | None = None
        self._present_q: Callable[[], NDArray[np.float64]] | None = None
        self._file: tuple[str, Scene] = ('', {})
        self._base_frame = ''
        self._sent: dict[str, Scene] = {OBSTACLES: {}, PLANNING_SCENE: {}}
        self._allowed: Pairs = frozenset()
        self._waiting: deque[tuple[str, Any, float]] = deque(maxlen=MOST_WAITING)
        self._timer: Any = None
        self._present = add_publisher(node, String, f'~/{PRESENT}', LATCHED)
        self._is_published = False
        kinds: dict[str, Any] = {OBSTACLES: MarkerArray}
        try:
            from moveit_msgs.msg import PlanningScene
        except ImportError:
            node.get_logger().info(
                f'no topic ~/{PLANNING_SCENE}: moveit_msgs is not installed; with it MoveIt can '
                f'send obstacles to this node; ~/{OBSTACLES} takes markers without it'
            )
        else:
            kinds[PLANNING_SCENE] = PlanningScene
        for topic, kind in kinds.items():
            node.create_subscription(kind, f'~/{topic}', partial(self._take, topic), 10)

    def read_file(self, settings: Settings) -> tuple[str, Scene]:
        """Return the obstacles of the file that the parameters name; raise IkError if unusable."""
        name = settings.collisions_obstacles_file
        if name == self._file[0]:
            return self._file
        found = read_obstacles(path_of_url('collisions.obstacles_file', name)) if name else {}
        return name, {each: Placed(*placed) for each, placed in found.items()}

    def configure(self, settings: Settings) -> None:
        """Take the file and the frames that the parameters name; raise IkError if unusable."""
        self._file, self._base_frame = self.read_file(settings), settings.base_frame
        self._apply()

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Put the obstacles around another robot."""
        self._model, self._present_q = model, present_q
        self._apply()
        self._look()

    def _take(self, topic: str, message: Any) -> None:
        """Take a message, refuse it, or let it wait for a robot or a frame."""
        now = time.monotonic()
        if self._waiting or not self._try(topic, message, now):
            self._waiting.append((topic, message, now))
        self._start_looking()

    def _try(self, topic: str, message: Any, arrival: float) -> bool:
        """Take or refuse a message; return False if it has to wait."""
        if self._model is None:
            return False
        try:
            change = self._changed if topic == OBSTACLES else self._planned
            scene, allowed = change(message, arrival)
            others = self._sent[PLANNING_SCENE if topic == OBSTACLES else OBSTACLES]
            if len(scene) + len(others) > MOST:
                raise RefusedInputError(topic, 'obstacles', len(scene), f'at most {MOST} in all')
        except LookupError as error:
            if self._lookup.is_starting:
                return False
            self._refuse(topic, f'{topic}: refused, the last ones stay: {error}')
        except RefusedInputError as error:
            self._refuse(topic, f'{error}; the last obstacles stay')
        else:
            self._sent[topic], self._allowed = scene, allowed
            self._apply()
        return True

    def _planned(self, message: Any, arrival: float) -> tuple[Scene, Pairs]:
        """Return the obstacles and the allowed pairs after a message of MoveIt."""
        missing, model = left_out(message), self._ready()[0]
        if missing:
            self._node.get_logger().warning(
                f'{PLANNING_SCENE}: not regarded: {missing}', throttle_duration_sec=10.0
            )
        before = self._sent[PLANNING_SCENE] if message.is_diff else {}
        scene = changed_objects(before, message.world.collision_objects, self._frame, self._free)
        names = {*model.robot.links, *self._file[1], *self._sent[OBSTACLES], *scene}
        allowed = allowed_pairs(message.allowed_collision_matrix, names, model.link)
        if allowed is None:
            allowed = self._allowed if message.is_diff else frozenset()
        return scene, allowed

    def _changed(self, message: MarkerArray, arrival: float) -> tuple[Scene, Pairs]:
        """Return the obstacles after a message of markers, and the allowed pairs."""
        scene = dict(self._sent[OBSTACLES])
        for marker in message.markers:
            name = f'{marker.ns}/{marker.id}'
            if marker.action == Marker.DELETEALL:
                scene = {
                    key: each
                    for key, each in scene.items()
                    if marker.ns and key.rpartition('/')[0] != marker.ns
                }
            elif marker.action == Marker.DELETE:
                scene.pop(name, None)
            elif marker.action == Marker.ADD:
                scene[name] = self._placed(name, marker, arrival)
            else:
                raise RefusedInputError(
                    OBSTACLES, 'action', marker.action, 'ADD, DELETE, DELETEALL'
                )
        return scene, self._allowed

    def _ready(self) -> tuple[LoadedModel, Callable[[], NDArray[np.float64]]]:
        if self._model is None or self._present_q is None:
            raise LookupError('there is no robot yet')
        return self._model, self._present_q

    def _free(self, what: str, name: str) -> None:
        """Raise RefusedInputError if a link or an obstacle of the file has a name."""
        if name in self._ready()[0].robot.links or name in self._file[1]:
            raise RefusedInputError(what, 'name', name, 'a link or an obstacle of the file')

    def _frame(self, frame_id: str) -> Array:
        """Return the pose (4, 4) of a frame in the root frame."""
        model, present_q = self._ready()
        pose = model.pose_of_frame(frame_id, self._base_frame, present_q(), self._lookup.pose)
        return np.eye(4) if pose is None else pose

    def _placed(self, name: str, marker: Marker, arrival: float) -> Placed:
        self._free(OBSTACLES, name)
        try:
            shape = _shape(name, marker)
        except OptionError as error:
            size = marker.scale.x, marker.scale.y, marker.scale.z
            raise RefusedInputError(f'{OBSTACLES}: {name}', 'scale', size, error.allowed) from None
        pose = pose_matrix(*pose_from_message(f'{OBSTACLES}: {name}', marker.pose))
        life = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
        ends = arrival + life if life > 0.0 else float('inf')
        return Placed(shape, self._frame(marker.header.frame_id) @ pose, ends)

    def _apply(self) -> None:
        """Make the obstacles of the robot those of the scene."""
        if self._model is None:
            return
        scene = self._file[1] | self._sent[PLANNING_SCENE] | self._sent[OBSTACLES]
        around = {name: (each.shape, each.pose) for name, each in scene.items()}
        for name, why in self._model.robot.collisions.surround(around, self._allowed).items():
            self._refuse(OBSTACLES, f'{OBSTACLES}: {name} is left out: {why}')
        self._is_published = False
        self.publish()

    def publish(self) -> None:
        """Publish the obstacles in the root frame, if somebody subscribes, and they changed."""
        if self._is_published or self._model is None or not self._present.get_subscription_count():
            return
        around, _ = self._model.robot.collisions.surroundings()
        self._present.publish(String(data=obstacles_to_json(around)))
        self._is_published = True

    def _start_looking(self) -> None:
        ends = any(each.ends < float('inf') for each in self._sent[OBSTACLES].values())
        if self._timer is None and (ends or self._waiting):
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(LOOK, self._look, clock=steady)

    def _look(self) -> None:
        """Take messages that waited, and remove obstacles whose time is over."""
        while self._waiting and self._try(*self._waiting[0]):
            self._waiting.popleft()
        now = time.monotonic()
        sent = self._sent[OBSTACLES]
        kept = {name: each for name, each in sent.items() if each.ends > now}
        if len(kept) < len(sent):
            self._sent[OBSTACLES] = kept
            self._apply()
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        self._start_looking()


def _shape(name: str, marker: Marker) -> Shape:
    """Return the shape of a marker; raise OptionError or RefusedInputError if unusable."""
    x, y, z = marker.scale.x, marker.scale.y, marker.scale.z
    what = f'{OBSTACLES}: {name}'
    if marker.type == Marker.CUBE:
        return make_shape('box', x, y, z)
    if marker.type == Marker.SPHERE:
        return make_shape('ellipsoid', 0.5 * x, 0.5 * y, 0.5 * z)
    if marker.type != Marker.CYLINDER:
        raise RefusedInputError(what, 'type', marker.type, 'CUBE, SPHERE or CYLINDER')
    if abs(x - y) > ROUND * abs(x):
        raise RefusedInputError(what, 'scale', (x, y, z), 'equal diameters x and y')
    return make_shape('cylinder', 0.5 * x, z)
