"""Shapes of joint axes, joint limits and joint names."""

from __future__ import annotations

from math import inf, isfinite, pi
from typing import NamedTuple

from ik_node.errors import plain
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.kinematics import motions
from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.look import AT_LIMIT, common, LOCKED, Look, NO_TURN, ShapeFactory, UniqueNames
from ik_node.scene.shapes import Cylinder, Rgba, Sector, Segment, Shape, Sphere, Text
from ik_node.scene.skeleton import along, Skeleton, Snapshot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shares of the scale.
SECTOR = 0.5
STOP = (0.03, 0.24)  # length and radius
MARK = 0.15

# A value closer to a limit than this counts as at the limit [m or rad].
TOUCHING = 1e-9
# Ranges up to this size count as a full turn, because many files write pi with four digits [rad].
FULL_TURN = 2.0 * pi + 1e-3
# Points closer to an axis than this do not define a direction [m].
ON_AXIS = 1e-6


class JointLimits:
    """The shapes of joint limits: sectors with a hand for rotations, else stops and a mark."""

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._axes: list[tuple[str, str, Joint, DOF, int]] = []  # name, value's name, .., place
        angles = np.array(_pointing(skeleton))
        for index, rotation in enumerate(motions(np.ones(len(angles)), angles)):
            column, of = skeleton.tree.columns[index], skeleton.owner[index]
            place = skeleton.attach_before(index, rotation if column.dof.is_rotation else None)
            self._axes.append((names.new(of), of, column.joint, column.dof, place))

    def limits(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a sector or stops for each joint value with limits."""
        shapes: list[Shape] = []
        free, radius = look.rgba['limits'], SECTOR * look.scale
        for (name, of, joint, dof, index), value in zip(self._axes, snapshot.values, strict=True):
            low, high = float(joint.min_dof_limit[dof]), float(joint.max_dof_limit[dof])
            if low == -inf and high == inf:
                continue
            if not dof.is_rotation:
                make = ShapeFactory('limits', name, of, look)
                shapes += _stops(make, snapshot.frames[index], (low, value, high), free)
                continue
            touching = low < high and not low + TOUCHING < value < high - TOUCHING
            rgba = AT_LIMIT if touching else free
            if not high - low <= FULL_TURN:
                # A range of more than a turn is drawn as half a turn on both sides of the hand.
                low, high = max(low, value - pi), min(high, value + pi)
            high = min(high, low + 2.0 * pi)
            same = common('limits', name, of, snapshot.poses[index], rgba, look)
            shapes.append(Sector(*same, radius, 0.0, low, high, value, look.segments))
        return shapes


def _stops(
    make: ShapeFactory, frame: Array, range_: tuple[float, float, float], free: Rgba
) -> list[Shape]:
    """Return the stops of a prismatic joint, and the mark of its value."""
    low, value, high = range_
    _, quat = pose_from_matrix(frame)

    def colour(touched: bool) -> Rgba:
        return (*(AT_LIMIT if touched else free)[:3], 1.0)

    stops = {part: index for part, index in (('lower', low), ('upper', high)) if isfinite(index)}
    touched = {
        part: low < high and abs(value - index) <= TOUCHING for part, index in stops.items()
    }
    mark = colour(any(touched.values()))
    shapes: list[Shape] = [make.ball('value', along(frame, value), MARK, mark)]
    for part, index in stops.items():
        shapes.append(make.rod(part, (along(frame, index), quat), STOP, colour(touched[part])))
    return shapes


def _pointing(skeleton: Skeleton) -> list[float]:
    """
    Return, for every column, the angle from its x axis to the carried link at q = 0 [rad].

    With this angle, a hand is parallel to the link that it rotates. It is 0 if everything that the
    joint carries is on the axis.
    """
    columns = skeleton.tree.columns
    carried: list[list[Array]] = [[] for _ in columns]
    for owner, _, end in skeleton.spans():
        index, pose = skeleton.carrier(owner)
        if index >= 0:
            carried[index] += [pose[:3, 3], pose[:3, :3] @ end + pose[:3, 3]]
    # A motion of a joint also carries what its later motions carry.
    for index in reversed(range(len(columns))):
        column = columns[index]
        if column.parent >= 0 and columns[column.parent].joint is column.joint:
            rotation, shift = column.offset[:3, :3], column.offset[:3, 3]
            carried[column.parent] += [rotation @ point + shift for point in carried[index]]
    angles = []
    for points in carried:
        off = [point for point in points if point[0] ** 2 + point[1] ** 2 > ON_AXIS**2]
        angles.append(float(np.arctan2(off[0][1], off[0][0])) if off else 0.0)
    return angles


# Shares of the scale.
AXIS = (1.0, 0.045)
BALL = 0.2
LINE = 0.06
# Longest line of a prismatic joint on each side of its present value.
LONGEST = 20.0


class JointAxes:
    """Joint axes: cylinders, lines for prismatic joints, spheres for ball joints."""

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._axes: list[_Axis] = []
        balls: set[int] = set()
        for index, column in enumerate(skeleton.tree.columns):
            joint, dof, of = column.joint, column.dof, skeleton.owner[index]
            is_ball = dof.is_rotation and joint.rotation_dof_count == 3
            if is_ball:
                if id(joint) in balls:
                    continue
                balls.add(id(joint))
                of = joint.name
            place = skeleton.attach_before(index)
            self._axes.append(_Axis(names.new(of), of, joint, dof, index, place, is_ball))

    def axes(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return the shapes of all axes; locked axes are grey."""
        length, radius = (share * look.scale for share in AXIS)
        shapes: list[Shape] = []
        for name, of, joint, dof, column, index, is_ball in self._axes:
            pose, low, high = snapshot.poses[index], 0.0, 0.0
            if not dof.is_rotation:
                low, high = _range(joint, dof, snapshot.values[column], look.scale)
                pose = along(snapshot.frames[index], 0.5 * (low + high)), pose[1]
            locked = joint.locked[3:].all() if is_ball else joint.locked[dof]
            rgba = LOCKED if locked else look.rgba['axes']
            same = common('axes', name, of, pose, rgba, look)
            if is_ball:
                shapes.append(Sphere(*same, BALL * look.scale, look.segments))
            elif dof.is_rotation:
                shapes.append(Cylinder(*same, radius, length, look.segments))
            else:
                shapes.append(Segment(*same, high - low, LINE * look.scale))
        return shapes


class _Axis(NamedTuple):
    """One axis, or the three rotations of a ball joint."""

    name: str
    of: str
    joint: Joint
    dof: DOF
    column: int
    place: int
    is_ball: bool


def _range(joint: Joint, dof: DOF, value: float, scale: float) -> tuple[float, float]:
    """Return the ends of the line of a prismatic joint [m]."""
    low, high = float(joint.min_dof_limit[dof]), float(joint.max_dof_limit[dof])
    # Without limits, the line covers zero and the present value with a margin.
    if not isfinite(low):
        low = min(value, 0.0) - 0.5 * scale
    if not isfinite(high):
        high = max(value, 0.0) + 0.5 * scale
    return max(low, value - LONGEST * scale), min(high, value + LONGEST * scale)


# Dimensions as shares of the scale.
HEIGHT = 0.3
RAISED = 0.35
ROW = 0.36


class NameTags:
    """The names of joint values, stacked for joints at the same position."""

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._tags: list[tuple[str, str, int, int]] = []  # name, value's name, place, line
        lines: list[int] = []
        for index, column in enumerate(skeleton.tree.columns):
            here = column.parent >= 0 and not column.offset[:3, 3].any()
            lines.append(lines[column.parent] + 1 if here else 0)
            of = skeleton.owner[index]
            self._tags.append((names.new(of), of, skeleton.attach_before(index), lines[index]))

    def labels(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a text for every joint value."""
        shapes: list[Shape] = []
        for name, of, index, line in self._tags:
            (x, y, z), _ = snapshot.poses[index]
            pose = (x, y, z + (RAISED + ROW * line) * look.scale), NO_TURN
            same = common('labels', name, of, pose, look.rgba['labels'], look)
            shapes.append(Text(*same, plain(of), HEIGHT * look.scale))
        return shapes
