"""Obstacles from the topic `~/obstacles` and from a file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import time
from typing import Any, NamedTuple

from ik_node.description.sidecars.obstacles import read_obstacles
from ik_node.errors import OptionError
from ik_node.model.bodies import Box, Cylinder, ellipsoid, Shape, Sphere
from ik_node.model.collisions import Collisions
from ik_node.model.rotation import Array, pose_matrix
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.loading.load_model import path_of_url
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import pose_from_message, RefusedInputError
from ik_node.ros.messages.names import frame_in_root
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

OBSTACLES = 'obstacles'
# Most obstacles of the topic, and most messages that wait for a robot or a frame.
MOST, MOST_WAITING = 500, 20
# Time between two looks at lifetimes and at messages that wait [s].
LOOK = 0.1
# Diameters that differ by less than this share are equal.
ROUND = 1e-6


class Placed(NamedTuple):
    """An obstacle: its shape, its pose (4, 4) in the root frame, and when it ends [s]."""

    shape: Shape
    pose: Array
    ends: float = float('inf')


Scene = dict[str, Placed]


class ObstacleInputs:
    """
    The obstacles of the robot: those of `collisions.obstacles_file`, and those of `~/obstacles`.

    A message is taken as a whole or refused as a whole, so that the last good scene stays.
    """

    def __init__(
        self, node: Node, lookup: TransformLookup, refuse: Callable[[str, str], None]
    ) -> None:
        self._node, self._lookup, self._refuse = node, lookup, refuse
        self._model: LoadedModel | None = None
        self._present_q: Callable[[], NDArray[np.float64]] | None = None
        self._settings: Settings | None = None
        self._file: tuple[str, Scene] = ('', {})
        self._sent: Scene = {}
        self._waiting: deque[tuple[MarkerArray, float]] = deque(maxlen=MOST_WAITING)
        self._timer: Any = None
        node.create_subscription(MarkerArray, f'~/{OBSTACLES}', self._take, 10)

    def read_file(self, settings: Settings) -> tuple[str, Scene]:
        """Return the obstacles of the file that the parameters name; raise IkError if unusable."""
        name = settings.collisions_obstacles_file
        if name == self._file[0]:
            return self._file
        found = read_obstacles(path_of_url('collisions.obstacles_file', name)) if name else []
        return name, {each.name: Placed(each.shape, each.pose) for each in found}

    def configure(self, settings: Settings) -> None:
        """Take the file and the frames that the parameters name; raise IkError if unusable."""
        self._settings, self._file = settings, self.read_file(settings)
        self._apply()

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Put the obstacles around another robot."""
        self._model, self._present_q = model, present_q
        self._apply()
        self._look()

    def _take(self, message: MarkerArray) -> None:
        """Take a message, refuse it, or let it wait for a robot or a frame."""
        now = time.monotonic()
        if self._waiting or not self._try(message, now):
            self._waiting.append((message, now))
        self._start_looking()

    def _try(self, message: MarkerArray, arrival: float) -> bool:
        """Take or refuse a message; return False if it has to wait."""
        if self._model is None or self._settings is None:
            return False
        try:
            scene = self._changed(message, arrival)
        except LookupError as error:
            if self._lookup.is_starting:
                return False
            self._refuse(OBSTACLES, f'{OBSTACLES}: refused, the last ones stay: {error}')
        except RefusedInputError as error:
            self._refuse(OBSTACLES, f'{error}; the last obstacles stay')
        else:
            self._sent = scene
            self._apply()
        return True

    def _changed(self, message: MarkerArray, arrival: float) -> Scene:
        """Return the scene after a message."""
        scene = dict(self._sent)
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
        if len(scene) > MOST:
            raise RefusedInputError(OBSTACLES, 'markers', len(scene), f'at most {MOST} obstacles')
        return scene

    def _placed(self, name: str, marker: Marker, arrival: float) -> Placed:
        model, settings, present_q = self._model, self._settings, self._present_q
        if model is None or settings is None or present_q is None:
            raise LookupError('there is no robot yet')
        if name in model.robot.links or name in self._file[1]:
            raise RefusedInputError(OBSTACLES, 'ns/id', name, 'a link or an obstacle of the file')
        try:
            shape = _shape(name, marker)
        except OptionError as error:
            size = marker.scale.x, marker.scale.y, marker.scale.z
            raise RefusedInputError(f'{OBSTACLES}: {name}', 'scale', size, error.allowed) from None
        pose = pose_matrix(*pose_from_message(f'{OBSTACLES}: {name}', marker.pose))
        frame = frame_in_root(
            marker.header.frame_id,
            *(settings.base_frame, model.robot, present_q(), self._lookup.pose),
            model.frame_prefix,
        )
        life = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
        ends = arrival + life if life > 0.0 else float('inf')
        return Placed(shape, pose if frame is None else frame @ pose, ends)

    def _apply(self) -> None:
        """Make the obstacles of the robot those of the scene."""
        if self._model is None:
            return
        collisions = self._model.robot.collisions
        scene = self._file[1] | self._sent
        for name in collisions.obstacles:
            if name not in scene or not _same(collisions.obstacle(name).shape, scene[name].shape):
                collisions.remove(name)
        for name, each in scene.items():
            try:
                _put(collisions, name, each)
            except OptionError as error:
                self._refuse(OBSTACLES, f'{OBSTACLES}: {name} is left out: {error}')

    def _start_looking(self) -> None:
        ends = any(each.ends < float('inf') for each in self._sent.values())
        if self._timer is None and (ends or self._waiting):
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(LOOK, self._look, clock=steady)

    def _look(self) -> None:
        """Take messages that waited, and remove obstacles whose time is over."""
        while self._waiting and self._try(*self._waiting[0]):
            self._waiting.popleft()
        now = time.monotonic()
        kept = {name: each for name, each in self._sent.items() if each.ends > now}
        if len(kept) < len(self._sent):
            self._sent = kept
            self._apply()
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        self._start_looking()


def _same(one: Shape, other: Shape) -> bool:
    """Return True for equal shapes; a hull equals only itself."""
    return one is other or one == other


def _put(collisions: Collisions, name: str, placed: Placed) -> None:
    """Add an obstacle, or move it if it is there."""
    if name not in collisions.obstacles:
        collisions.add_obstacle(placed.shape, placed.pose, name)
    elif not np.array_equal(collisions.obstacle(name).matrix, placed.pose):
        collisions.obstacle(name).set_pose(placed.pose)


def _shape(name: str, marker: Marker) -> Shape:
    """Return the shape of a marker; raise OptionError or RefusedInputError if unusable."""
    x, y, z = marker.scale.x, marker.scale.y, marker.scale.z
    what = f'{OBSTACLES}: {name}'
    if marker.type == Marker.CUBE:
        return Box((x, y, z))
    is_round = abs(x - y) <= ROUND * abs(x)
    if marker.type == Marker.SPHERE:
        all_round = is_round and abs(x - z) <= ROUND * abs(x)
        return Sphere(0.5 * x) if all_round else ellipsoid((0.5 * x, 0.5 * y, 0.5 * z))
    if marker.type != Marker.CYLINDER:
        raise RefusedInputError(what, 'type', marker.type, 'CUBE, SPHERE or CYLINDER')
    if not is_round:
        raise RefusedInputError(what, 'scale', (x, y, z), 'equal diameters x and y')
    return Cylinder(0.5 * x, z)
