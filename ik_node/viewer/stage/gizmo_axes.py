"""Choice of gizmos for the axes along which a goal can be dragged."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.model.goal import Goal
from ik_node.viewer.panels.handle_panel import HandleStyle
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Axes = tuple[bool, bool, bool]

_ALL: Axes = (True, True, True)
_NONE: Axes = (False, False, False)


class Gizmo(NamedTuple):
    """
    A viser gizmo; a goal may need several of them.

    A gizmo has an arrow along each of its axes, a square between any two of them, and a ring about
    each axis whose two other axes it has. Each of the three kinds can be omitted.

    Attributes
    ----------
    axes : tuple of bool
        Which of the axes x, y, z it has.
    moves, turns : bool
        Whether it has arrows and squares, and whether it has rings.

    """

    axes: Axes
    moves: bool
    turns: bool


def gizmos_for(move: Axes, turn: Axes) -> list[Gizmo]:
    """Return gizmos for translation along some axes and rotation about some axes."""
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
    """Return which translations and which rotations of a goal are constrained."""
    if goal.kind in ('look_at', 'distance'):
        return _ALL, _NONE
    flags = [bool(flag) for flag in goal.dof_flags]
    return _axes(flags[:3]), _axes(flags[3:]) if goal.kind == 'frame' else _NONE


def handle_axes(goal: Goal, style: HandleStyle) -> Array:
    """Return the axes (3, 3) along which a goal is dragged, root frame."""
    move, turn = constrained_axes(goal)
    if any(move) == all(move) and any(turn) == all(turn):
        return goal.matrix_world[:3, :3].copy() if style.local else np.eye(3)
    # If some axes are free, the handle must use the axes in which the goal is constrained.
    if goal.axes == 'goal':
        return goal.matrix_world[:3, :3].copy()
    if goal.axes == 'link' and goal.child is not None:
        offset = goal.offset_matrix
        held: Array = (goal.child.matrix_world @ offset)[:3, :3]
        return held
    return np.eye(3)


def _rings(axes: Axes) -> Axes:
    x, y, z = axes
    return (y and z, x and z, x and y)


def _axes(flags: list[bool]) -> Axes:
    x, y, z = flags
    return (x, y, z)
