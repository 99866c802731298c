"""Axes of joints: what each turns about, and what it slides along."""

from __future__ import annotations

from math import inf, isfinite, pi
from typing import NamedTuple

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.kinematics import motions
from ik_node.scene.look import AT_LIMIT, LOCKED, Look
from ik_node.scene.plain_pose import along, plain_pose
from ik_node.scene.shape_factory import ShapeFactory, UniqueNames
from ik_node.scene.shapes import Cylinder, Rgba, Sector, Segment, Shape, Sphere
from ik_node.scene.skeleton import Skeleton, Snapshot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shares of the scale.
SECTOR = 0.5
STOP = (0.03, 0.24)  # length and radius
MARK = 0.15

# A value this near to a limit [m or rad] is at it: solvers stop there to the last bit.
TOUCHING = 1e-9
# Many files write pi with four digits: that much more than a turn is a whole one [rad].
FULL_TURN = 2.0 * pi + 1e-3
# A point nearer to an axis than this [m] says nothing about where the joint points.
ON_AXIS = 1e-6


class JointLimits:
    """
    A sector for every limited turn, with its value as a hand; stops and a mark for every slider.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._axes: list[tuple[str, str, Joint, DOF, int]] = []  # name, value's name, .., place
        angles = np.array(_pointing(skeleton))
        for at, turn in enumerate(motions(np.ones(len(angles)), angles)):
            column, of = skeleton.tree.columns[at], skeleton.owner[at]
            place = skeleton.attach_before(at, turn if column.dof.is_rotation else None)
            self._axes.append((names.new(of), of, column.joint, column.dof, place))

    def limits(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return all of them; where nothing is limited, nothing."""
        shapes: list[Shape] = []
        free, through, sides = look.rgba['limits'], look.draw_through, look.segments
        radius = SECTOR * look.scale
        for (name, of, joint, dof, at), value in zip(self._axes, snapshot.values, strict=True):
            low, high = float(joint.min_dof_limit[dof]), float(joint.max_dof_limit[dof])
            if low == -inf and high == inf:
                continue
            if not dof.is_rotation:
                make = ShapeFactory('limits', name, of, look)
                shapes += _stops(make, snapshot.frames[at], (low, value, high), free)
                continue
            touching = low < high and not low + TOUCHING < value < high - TOUCHING
            rgba = AT_LIMIT if touching else free
            if not high - low <= FULL_TURN:
                # More than the disc can show: half a turn either way of the hand.
                low, high = max(low, value - pi), min(high, value + pi)
            high = min(high, low + 2.0 * pi)
            position, quat = snapshot.poses[at]
            shapes.append(
                Sector(
                    f'limits/{name}',
                    'limits',
                    of,
                    position,
                    quat,
                    rgba,
                    through,
                    radius,
                    0.0,
                    low,
                    high,
                    value,
                    sides,
                )
            )
        return shapes


def _stops(
    make: ShapeFactory, frame: Array, range_: tuple[float, float, float], free: Rgba
) -> list[Shape]:
    """Return the stops of a slider, and the mark that runs between them."""
    low, value, high = range_
    _, quat = plain_pose(frame)

    def colour(touched: bool) -> Rgba:
        return (*(AT_LIMIT if touched else free)[:3], 1.0)

    stops = {part: at for part, at in (('lower', low), ('upper', high)) if isfinite(at)}
    touched = {part: low < high and abs(value - at) <= TOUCHING for part, at in stops.items()}
    mark = colour(any(touched.values()))
    shapes: list[Shape] = [make.ball('value', along(frame, value), MARK, mark)]
    for part, at in stops.items():
        shapes.append(make.rod(part, (along(frame, at), quat), STOP, colour(touched[part])))
    return shapes


def _pointing(skeleton: Skeleton) -> list[float]:
    """
    Return, for every column, the angle from its x axis to what it carries, at zero [rad].

    So a hand lies along the link that it turns. 0 where all that the joint carries is on the axis.
    """
    columns = skeleton.tree.columns
    carried: list[list[Array]] = [[] for _ in columns]
    for owner, _, end in skeleton.spans():
        at, pose = skeleton.carrier(owner)
        if at >= 0:
            carried[at] += [pose[:3, 3], pose[:3, :3] @ end + pose[:3, 3]]
    # From the last motion of a joint to its first: each carries what the ones after it do.
    for at in reversed(range(len(columns))):
        column = columns[at]
        if column.parent >= 0 and columns[column.parent].joint is column.joint:
            turn, shift = column.offset[:3, :3], column.offset[:3, 3]
            carried[column.parent] += [turn @ point + shift for point in carried[at]]
    angles = []
    for points in carried:
        off = [point for point in points if point[0] ** 2 + point[1] ** 2 > ON_AXIS**2]
        angles.append(float(np.arctan2(off[0][1], off[0][0])) if off else 0.0)
    return angles


# Shares of the scale.
AXIS = (1.0, 0.045)
BALL = 0.2
LINE = 0.06
# Range of a slider beyond which its line is cut off around the present value.
LONGEST = 20.0


class JointAxes:
    """
    A cylinder for every axis that is turned about, a ball for three of them, a line to slide on.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._axes: list[_Axis] = []
        balls: set[int] = set()
        for at, column in enumerate(skeleton.tree.columns):
            joint, dof, of = column.joint, column.dof, skeleton.owner[at]
            is_ball = dof.is_rotation and joint.rotation_dof_count == 3
            if is_ball:
                if id(joint) in balls:
                    continue
                balls.add(id(joint))
                of = joint.name
            name = names.new(f'axes/{of}')
            self._axes.append(_Axis(name, of, joint, dof, at, skeleton.attach_before(at), is_ball))

    def axes(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return all of them, those that are locked in grey."""
        through, sides = look.draw_through, look.segments
        length, radius = (share * look.scale for share in AXIS)
        ball, width = BALL * look.scale, LINE * look.scale
        shapes: list[Shape] = []
        for axis in self._axes:
            name, of, joint, dof, column, at, is_ball = axis
            position, quat = snapshot.poses[at]
            locked = joint.locked[3:].all() if is_ball else joint.locked[dof]
            rgba = LOCKED if locked else look.rgba['axes']
            if is_ball:
                shape: Shape = Sphere(name, 'axes', of, position, quat, rgba, through, ball, sides)
            elif dof.is_rotation:
                shape = Cylinder(
                    name, 'axes', of, position, quat, rgba, through, radius, length, sides
                )
            else:
                low, high = _range(joint, dof, snapshot.values[column], look.scale)
                middle = along(snapshot.frames[at], 0.5 * (low + high))
                shape = Segment(name, 'axes', of, middle, quat, rgba, through, high - low, width)
            shapes.append(shape)
        return shapes


class _Axis(NamedTuple):
    """One axis, or all turns of a ball joint."""

    name: str
    of: str
    joint: Joint
    dof: DOF
    column: int
    place: int
    is_ball: bool


def _range(joint: Joint, dof: DOF, value: float, scale: float) -> tuple[float, float]:
    """Return from where to where the line of a slider goes [m]."""
    low, high = float(joint.min_dof_limit[dof]), float(joint.max_dof_limit[dof])
    # Without a limit it covers the way from zero to here, and some more.
    if not isfinite(low):
        low = min(value, 0.0) - 0.5 * scale
    if not isfinite(high):
        high = max(value, 0.0) + 0.5 * scale
    return max(low, value - LONGEST * scale), min(high, value + LONGEST * scale)
