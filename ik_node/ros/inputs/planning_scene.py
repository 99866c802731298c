"""Obstacles and allowed pairs from messages of MoveIt, moveit_msgs/PlanningScene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from ik_node.errors import OptionError
from ik_node.model.bodies import HalfSpace, Hull, make_shape, Shape
from ik_node.model.rotation import Array, pose_matrix
from ik_node.ros.messages import check_position, pose_from_message, RefusedInputError
from ik_node.scene.skeleton import z_along
import numpy as np

TOPIC = 'planning_scene'
# Operations of moveit_msgs/CollisionObject.
ADD, REMOVE, APPEND, MOVE = range(4)
# Types of shape_msgs/SolidPrimitive.
PRIMITIVES = {1: 'box', 2: 'sphere', 3: 'cylinder', 4: 'cone'}
# Most corners of a mesh.
MOST_CORNERS = 100_000


class Placed(NamedTuple):
    """
    An obstacle.

    `pose` (4, 4) is in the root frame, `local` (4, 4) in the object `of` that it is a part of; it
    is removed at the time `ends` [s].
    """

    shape: Shape
    pose: Array
    ends: float = float('inf')
    local: Array = np.eye(4)
    of: str = ''


Scene = dict[str, Placed]
Pairs = frozenset[frozenset[str]]


def changed_objects(
    before: Mapping[str, Placed],
    objects: Iterable[Any],
    frame: Callable[[str], Array],
    check: Callable[[str, str], None],
) -> Scene:
    """
    Return a scene after the operations of objects, moveit_msgs/CollisionObject.

    The first part of an object has its id as name, the others `id/1` and so on. `frame` returns
    the pose (4, 4) of a frame in the root frame, or raises LookupError; `check` is called with the
    topic and the name of each new obstacle, and raises RefusedInputError if the name is taken.
    """
    scene = dict(before)
    for each in objects:
        what, known = f'{TOPIC}: {each.id}', [n for n in scene if scene[n].of == each.id]
        if each.operation == REMOVE:
            scene = {n: part for n, part in scene.items() if each.id and n not in known}
            continue
        if not each.id or each.operation not in (ADD, APPEND, MOVE):
            field = 'operation' if each.id else 'id'
            raise RefusedInputError(what, field, getattr(each, field), 'ADD, REMOVE, APPEND, MOVE')
        place = frame(each.header.frame_id) @ _pose(what, each.pose)
        if each.operation == MOVE:
            if not known:
                raise RefusedInputError(what, 'id', each.id, 'an object of the scene')
            scene |= {n: scene[n]._replace(pose=place @ scene[n].local) for n in known}
            continue
        if each.operation == ADD:
            scene = {n: part for n, part in scene.items() if n not in known}
        number = len(known) if each.operation == APPEND else 0
        for at, (shape, local) in enumerate(_shapes(what, each), number):
            name = f'{each.id}/{at}' if at else each.id
            check(what, name)
            if name in scene:
                raise RefusedInputError(what, 'id', name, 'a name of its own')
            scene[name] = Placed(shape, place @ local, local=local, of=each.id)
    return scene


def _shapes(what: str, message: Any) -> Iterator[tuple[Shape, Array]]:
    """Yield the shapes of an object and their poses (4, 4) in it."""
    for kind, shapes, poses, read in (
        ('primitive', message.primitives, message.primitive_poses, _primitive),
        ('mesh', message.meshes, message.mesh_poses, _mesh),
        ('plane', message.planes, message.plane_poses, _plane),
    ):
        if len(poses) > len(shapes):
            raise RefusedInputError(what, f'{kind}_poses', len(poses), f'{len(shapes)} poses')
        for at, shape in enumerate(shapes):
            local = _pose(what, poses[at]) if at < len(poses) else np.eye(4)
            try:
                made, own = read(what, shape)
            except OptionError as error:
                raise RefusedInputError(what, kind, error.value, error.allowed) from None
            yield made, local @ own


def _pose(what: str, pose: Any) -> Array:
    """Return a pose (4, 4); as in MoveIt, a quaternion of zeros stands for none."""
    place, turn = pose.position, pose.orientation
    if turn.x == turn.y == turn.z == turn.w == 0.0:
        position = place.x, place.y, place.z
        check_position(what, position)
        return pose_matrix(position, (0.0, 0.0, 0.0, 1.0))
    return pose_matrix(*pose_from_message(what, pose))


def _primitive(what: str, message: Any) -> tuple[Shape, Array]:
    size, kind = [float(each) for each in message.dimensions], PRIMITIVES.get(message.type, '')
    if kind in ('cylinder', 'cone'):  # height and radius
        size.reverse()
    return make_shape(kind, *size), np.eye(4)


def _mesh(what: str, message: Any) -> tuple[Shape, Array]:
    if len(message.vertices) > MOST_CORNERS:
        count = len(message.vertices)
        raise RefusedInputError(what, 'vertices', count, f'at most {MOST_CORNERS}')
    return Hull([(each.x, each.y, each.z) for each in message.vertices]), np.eye(4)


def _plane(what: str, message: Any) -> tuple[Shape, Array]:
    """Return the half-space a x + b y + c z + d <= 0."""
    coefficients = np.array(message.coef, dtype=float)
    length = float(np.linalg.norm(coefficients[:3]))
    if not np.isfinite(coefficients).all() or not 0.0 < length < np.inf:
        raise RefusedInputError(what, 'coef', coefficients.tolist(), 'a finite normal, not zero')
    normal = coefficients[:3] / length
    return HalfSpace(), z_along(-coefficients[3] / length * normal, normal)


def allowed_pairs(matrix: Any, names: Iterable[str], link: Callable[[str], str]) -> Pairs | None:
    """
    Return the pairs of names that a matrix, moveit_msgs/AllowedCollisionMatrix, allows to touch.

    An entry for two names counts before the default of a name. `names` are those of links and
    obstacles; `link` returns the name of the link for that in a message. None = it is empty.
    """
    entries, defaults = matrix.entry_names, matrix.default_entry_names
    if not entries and not defaults:
        return None
    rows = [list(row.enabled) for row in matrix.entry_values]
    if {len(rows), *map(len, rows)} - {len(entries)}:
        raise RefusedInputError(TOPIC, 'entry_values', len(rows), 'a square of entry_names')
    if len(matrix.default_entry_values) != len(defaults):
        count = len(matrix.default_entry_values)
        raise RefusedInputError(TOPIC, 'default_entry_values', count, 'one for each name')
    own = [link(name) for name in entries]
    stated = {frozenset((own[a], own[b])): rows[a][b] for a, b in combinations(range(len(own)), 2)}
    free = {
        link(name)
        for name, each in zip(defaults, matrix.default_entry_values, strict=True)
        if each
    }
    pairs = (frozenset((one, other)) for one in free for other in {*names, *own} - {one})
    found = {pair for pair in pairs if stated.get(pair, True)}
    return frozenset(found | {pair for pair, value in stated.items() if value})


def left_out(message: Any) -> str:
    """Return what of a scene, moveit_msgs/PlanningScene, is not regarded; '' = nothing."""
    parts = {
        'attached objects': message.robot_state.attached_collision_objects,
        'octomap': message.world.octomap.octomap.data,
        'padding': [each for each in message.link_padding if each.padding],
        'scale': [each for each in message.link_scale if each.scale != 1.0],
    }
    return ', '.join(name for name, value in parts.items() if len(value))
