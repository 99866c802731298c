"""Obstacles from a file and from the topics `~/obstacles` and `~/planning_scene`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import combinations, zip_longest
import time
from typing import Any, NamedTuple

from ik_node.description.sidecars.obstacles import obstacles_to_json, Pairs, read_obstacles
from ik_node.errors import OptionError
from ik_node.model.bodies import HalfSpace, Hull, make_shape, ROUND, Shape
from ik_node.model.rotation import Array, pose_matrix
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.loading import LoadedModel, path_of_url
from ik_node.ros.messages import pose_from_message, RefusedInputError
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process import add_publisher, LATCHED
from ik_node.scene.skeleton import z_along
import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

OBSTACLES, PLANNING_SCENE, PRESENT = 'obstacles', 'planning_scene', 'present_obstacles'
# Most obstacles of the topics, most messages that wait for a robot or a frame, most corners of a
# mesh.
MOST, MOST_WAITING, MOST_CORNERS = 500, 20, 100_000
# Time between two looks at lifetimes and at messages that wait [s].
LOOK = 0.1
# Operations of moveit_msgs/CollisionObject.
ADD, REMOVE, APPEND, MOVE = (bytes([number]) for number in range(4))
# Types of shape_msgs/SolidPrimitive.
PRIMITIVES = {1: 'box', 2: 'sphere', 3: 'cylinder', 4: 'cone'}


class Placed(NamedTuple):
    """
    An obstacle.

    `pose` (4, 4) is in the root frame, `local` (4, 4) in the object that it is a part of. It is
    removed under each of the names `of`, and at the time `ends` [s].
    """

    shape: Shape
    pose: Array
    ends: float = float('inf')
    local: Array = np.eye(4)
    of: tuple[str, ...] = ()


class Edit(NamedTuple):
    """
    An operation on an object of a scene, which is the last of the names `of`.

    `place` (4, 4) is its pose in the root frame; `parts` are shapes with their poses in it. The
    first part has the name of the object, the others `name/1` and so on.
    """

    operation: bytes
    of: tuple[str, ...]
    place: Array = np.eye(4)
    parts: Iterable[tuple[Shape, Array]] = ()
    ends: float = float('inf')


Scene = dict[str, Placed]
Frame = Callable[[str], Array]


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
        self._present_q: Callable[[], NDArray[np.float64]] = lambda: np.zeros(0)
        self._file: tuple[str, Scene] = ('', {})
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
        obstacles = read_obstacles(path_of_url('collisions.obstacles_file', name)) if name else {}
        return name, {each: Placed(*placed) for each, placed in obstacles.items()}

    def configure(self, settings: Settings) -> None:
        """Take the file that the parameters name; raise IkError if it is unusable."""
        self._file = self.read_file(settings)
        self._apply()

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Put the obstacles around another robot."""
        self._model, self._present_q = model, present_q
        self._apply()

    def _take(self, topic: str, message: Any) -> None:
        """Take a message, refuse it, or let it wait for a robot or a frame."""
        now = time.monotonic()
        if self._waiting or not self._try(topic, message, now):
            self._waiting.append((topic, message, now))
        ends = any(each.ends < float('inf') for each in self._sent[OBSTACLES].values())
        if self._timer is None and (ends or self._waiting):
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(LOOK, self._look, clock=steady)

    def _try(self, topic: str, message: Any, arrival: float) -> bool:
        """Take or refuse a message; return False if it has to wait."""
        model = self._model
        if model is None:
            return False
        before, allowed = self._sent[topic], self._allowed
        frame = partial(self._frame, model)
        if topic == OBSTACLES:
            edits = _marker_edits(message.markers, frame, arrival)
        else:
            self._warn_of_parts_left_out(message)
            edits = _object_edits(message.world.collision_objects, frame)
            if not message.is_diff:
                before, allowed = {}, frozenset()
        own = {*model.robot.links, *self._file[1]}
        try:
            scene = _changed(topic, before, edits, own)
            others = self._sent[PLANNING_SCENE if topic == OBSTACLES else OBSTACLES]
            if len(scene) + len(others) > MOST:
                raise RefusedInputError(topic, 'obstacles', len(scene), f'at most {MOST} in all')
            if topic == PLANNING_SCENE:
                names = {*own, *others, *scene}
                stated = _allowed_pairs(message.allowed_collision_matrix, names, model.frames.link)
                allowed = allowed if stated is None else stated
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

    def _warn_of_parts_left_out(self, message: Any) -> None:
        parts = {
            'attached objects': message.robot_state.attached_collision_objects,
            'octomap': message.world.octomap.octomap.data,
            'padding': [each for each in message.link_padding if each.padding],
            'scale': [each for each in message.link_scale if each.scale != 1.0],
        }
        missing = ', '.join(name for name, value in parts.items() if len(value))
        if missing:
            self._node.get_logger().warning(
                f'{PLANNING_SCENE}: not regarded: {missing}', throttle_duration_sec=10.0
            )

    def _frame(self, model: LoadedModel, frame_id: str) -> Array:
        """Return the pose (4, 4) of a frame in the root frame, or raise LookupError."""
        pose = model.frames.pose(frame_id, self._present_q(), self._lookup.pose)
        return np.eye(4) if pose is None else pose

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
        text = obstacles_to_json(*self._model.robot.collisions.surroundings())
        self._present.publish(String(data=text))
        self._is_published = True

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


def _changed(topic: str, before: Scene, edits: Iterable[Edit], own: Collection[str]) -> Scene:
    """Return a scene after operations; `own` are names of links and obstacles of the file."""
    scene = dict(before)
    for edit in edits:
        object_name = edit.of[-1]
        what = f'{topic}: {object_name}'
        known = [name for name, part in scene.items() if object_name in part.of]
        if edit.operation == MOVE:
            if not known:
                raise RefusedInputError(what, 'id', object_name, 'an object of the scene')
            scene |= {n: scene[n]._replace(pose=edit.place @ scene[n].local) for n in known}
        elif edit.operation != APPEND:
            scene, known = {n: part for n, part in scene.items() if n not in known}, []
        try:
            for at, (shape, local) in enumerate(edit.parts, len(known)):
                name = f'{object_name}/{at}' if at else object_name
                if name in own or name in scene:
                    reason = 'a name of its own, which no link and no obstacle of the file has'
                    raise RefusedInputError(what, 'name', name, reason)
                scene[name] = Placed(shape, edit.place @ local, edit.ends, local, edit.of)
        except OptionError as error:
            raise RefusedInputError(what, error.name, error.value, error.allowed) from None
    return scene


def _marker_edits(markers: Iterable[Marker], frame: Frame, arrival: float) -> Iterator[Edit]:
    """Yield the operations of markers; `frame` returns the pose of a frame in the root frame."""
    for marker in markers:
        name, group = f'{marker.ns}/{marker.id}', f'{marker.ns}/' if marker.ns else ''
        what = f'{OBSTACLES}: {name}'
        if marker.action in (Marker.DELETE, Marker.DELETEALL):
            yield Edit(REMOVE, (name if marker.action == Marker.DELETE else group,))
        elif marker.action == Marker.ADD:
            pose = pose_matrix(*pose_from_message(what, marker.pose))
            life = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
            ends = arrival + life if life > 0.0 else float('inf')
            place = frame(marker.header.frame_id) @ pose
            yield Edit(ADD, ('', group, name), place, _marker_shape(what, marker), ends)
        else:
            raise RefusedInputError(OBSTACLES, 'action', marker.action, 'ADD, DELETE, DELETEALL')


def _marker_shape(what: str, marker: Marker) -> Iterator[tuple[Shape, Array]]:
    x, y, z = marker.scale.x, marker.scale.y, marker.scale.z
    if marker.type == Marker.CUBE:
        shape = make_shape('box', x, y, z)
    elif marker.type == Marker.SPHERE:
        shape = make_shape('ellipsoid', 0.5 * x, 0.5 * y, 0.5 * z)
    elif marker.type != Marker.CYLINDER:
        raise RefusedInputError(what, 'type', marker.type, 'CUBE, SPHERE or CYLINDER')
    elif abs(x - y) > ROUND * abs(x):
        raise RefusedInputError(what, 'scale', (x, y, z), 'equal diameters x and y')
    else:
        shape = make_shape('cylinder', 0.5 * x, z)
    yield shape, np.eye(4)


def _object_edits(objects: Iterable[Any], frame: Frame) -> Iterator[Edit]:
    """Yield the operations of objects, moveit_msgs/CollisionObject."""
    for each in objects:
        what = f'{PLANNING_SCENE}: {each.id}'
        if each.operation == REMOVE:
            yield Edit(REMOVE, (each.id,))
        elif not each.id or each.operation not in (ADD, APPEND, MOVE):
            field = 'operation' if each.id else 'id'
            raise RefusedInputError(what, field, getattr(each, field), 'ADD, REMOVE, APPEND, MOVE')
        else:
            place = frame(each.header.frame_id) @ _pose(what, each.pose)
            parts = () if each.operation == MOVE else _object_shapes(what, each)
            yield Edit(each.operation, ('', each.id), place, parts)


def _object_shapes(what: str, message: Any) -> Iterator[tuple[Shape, Array]]:
    """Yield the shapes of an object and their poses (4, 4) in it."""
    for kind, shapes, poses, read in (
        ('primitive', message.primitives, message.primitive_poses, _primitive),
        ('mesh', message.meshes, message.mesh_poses, _mesh),
        ('plane', message.planes, message.plane_poses, _plane),
    ):
        for shape, pose in zip_longest(shapes, poses):
            if shape is None:
                raise RefusedInputError(what, f'{kind}_poses', len(poses), f'{len(shapes)} poses')
            made, own = read(shape)
            yield made, (np.eye(4) if pose is None else _pose(what, pose)) @ own


def _pose(what: str, pose: Any) -> Array:
    """Return a pose (4, 4); as in MoveIt, a quaternion of zeros stands for none."""
    rotation = pose.orientation
    if rotation.x == rotation.y == rotation.z == rotation.w == 0.0:
        rotation.w = 1.0
    return pose_matrix(*pose_from_message(what, pose))


def _primitive(message: Any) -> tuple[Shape, Array]:
    size, kind = [float(each) for each in message.dimensions], PRIMITIVES.get(message.type, '')
    if kind in ('cylinder', 'cone'):  # height and radius
        size.reverse()
    return make_shape(kind, *size), np.eye(4)


def _mesh(message: Any) -> tuple[Shape, Array]:
    if len(message.vertices) > MOST_CORNERS:
        raise OptionError('vertices', len(message.vertices), f'at most {MOST_CORNERS}')
    return Hull([(each.x, each.y, each.z) for each in message.vertices]), np.eye(4)


def _plane(message: Any) -> tuple[Shape, Array]:
    """Return the half-space a x + b y + c z + d <= 0."""
    *normal, distance = np.array(message.coef, dtype=float)
    length = float(np.linalg.norm(normal))
    if not np.isfinite(distance) or not 0.0 < length < np.inf:
        raise OptionError('coef', list(message.coef), 'a finite normal, not zero')
    along = np.array(normal) / length
    return HalfSpace(), z_along(-distance / length * along, along)


def _allowed_pairs(matrix: Any, names: Iterable[str], link: Callable[[str], str]) -> Pairs | None:
    """
    Return the pairs of names that a matrix, moveit_msgs/AllowedCollisionMatrix, allows to touch.

    An entry for two names counts before the default of a name. `names` are those of links and
    obstacles; `link` returns the name of the link for that in a message. None = it is empty.
    """
    own, others = (
        [link(n) for n in at] for at in (matrix.entry_names, matrix.default_entry_names)
    )
    if not own and not others:
        return None
    try:
        rows = np.reshape([row.enabled for row in matrix.entry_values], (len(own), len(own)))
        defaults = dict(zip(others, matrix.default_entry_values, strict=True))
    except ValueError:
        expected = 'a square of entry_names, and a default for each of default_entry_names'
        raise RefusedInputError(PLANNING_SCENE, 'names', len(own), expected) from None
    stated = {frozenset((own[a], own[b])): rows[a, b] for a, b in combinations(range(len(own)), 2)}
    free = (name for name, each in defaults.items() if each)
    pairs = (frozenset((one, other)) for one in free for other in {*names, *own} - {one})
    allowed = {pair for pair in pairs if stated.get(pair, True)}
    return frozenset(allowed | {pair for pair, value in stated.items() if value})
