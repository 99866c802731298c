"""Axes of joints: what each turns about, and what it slides along."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.scene.look import LOCKED, Look
from ik_node.scene.name_book import NameBook
from ik_node.scene.plain_pose import along
from ik_node.scene.shapes import Cylinder, Segment, Shape, Sphere
from ik_node.scene.skeleton import Moment, Skeleton

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
        names = NameBook()
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
            self._axes.append(_Axis(name, of, joint, dof, at, skeleton.place_before(at), is_ball))

    def axes(self, moment: Moment, look: Look) -> list[Shape]:
        """Return all of them, those that are locked in grey."""
        through, sides = look.draw_through, look.segments
        length, radius = (share * look.scale for share in AXIS)
        ball, width = BALL * look.scale, LINE * look.scale
        shapes: list[Shape] = []
        for axis in self._axes:
            name, of, joint, dof, column, at, is_ball = axis
            position, quat = moment.poses[at]
            locked = joint.locked[3:].all() if is_ball else joint.locked[dof]
            rgba = LOCKED if locked else look.rgba['axes']
            if is_ball:
                shape: Shape = Sphere(name, 'axes', of, position, quat, rgba, through, ball, sides)
            elif dof.is_rotation:
                shape = Cylinder(
                    name, 'axes', of, position, quat, rgba, through, radius, length, sides
                )
            else:
                low, high = _range(joint, dof, moment.values[column], look.scale)
                middle = along(moment.frames[at], 0.5 * (low + high))
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
