"""Gizmos that offer some axes and no others."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.model.goal import Goal
from ik_node.model.rotation import pose_matrix
from ik_node.viewer.panels.handle_panel import HandleStyle
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Axes = tuple[bool, bool, bool]

_ALL: Axes = (True, True, True)
_NONE: Axes = (False, False, False)


class Gizmo(NamedTuple):
    """
    One of viser's gizmos, of which a goal may need several.

    Such a gizmo has an arrow along each of its axes, a square between any two, and a ring about
    each axis whose two others are among its own: any of the three kinds can be left out.

    Attributes
    ----------
    axes : tuple of bool
        Its axes x, y, z.
    moves, turns : bool
        Whether it has arrows and squares, and rings.

    """

    axes: Axes
    moves: bool
    turns: bool


def gizmos_for(move: Axes, turn: Axes) -> list[Gizmo]:
    """Return the gizmos that together move along some axes and turn about some, and no others."""
    if not any(turn):
        return [Gizmo(move, True, False)] if any(move) else []
    if turn == _rings(move):
        return [Gizmo(move, True, True)]
    parts = [Gizmo(move, True, False)] if any(move) else []
    if all(turn):
        return [*parts, Gizmo(_ALL, False, True)]
    for axis in range(3):
        if turn[axis]:
            parts.append(Gizmo(_axes([at != axis for at in range(3)]), False, True))
    return parts


def constrained_axes(goal: Goal) -> tuple[Axes, Axes]:
    """Return along which axes it counts where a goal is, and about which how it is turned."""
    if goal.kind in ('look_at', 'distance'):
        return _ALL, _NONE
    flags = [bool(flag) for flag in goal.dof_flags]
    return _axes(flags[:3]), _axes(flags[3:]) if goal.kind == 'frame' else _NONE


def handle_axes(goal: Goal, style: HandleStyle) -> Array:
    """Return the axes along which a goal is dragged, (3, 3), root frame."""
    move, turn = constrained_axes(goal)
    if any(move) == all(move) and any(turn) == all(turn):
        return goal.matrix_world[:3, :3].copy() if style.local else np.eye(3)
    # Some axes are free: those in which they are counted are no matter of taste.
    if goal.axes == 'goal':
        return goal.matrix_world[:3, :3].copy()
    if goal.axes == 'link' and goal.child is not None:
        offset = pose_matrix(goal.offset_position, goal.offset_quaternion)
        held: Array = (goal.child.matrix_world @ offset)[:3, :3]
        return held
    return np.eye(3)


def _rings(axes: Axes) -> Axes:
    x, y, z = axes
    return (y and z, x and z, x and y)


def _axes(flags: list[bool]) -> Axes:
    x, y, z = flags
    return (x, y, z)
