"""Axes of loops about which the joints beside them do not turn."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ik_node.cli.report.freedom import joints_above
from ik_node.model.closure import Closure
from ik_node.model.dof import DOF
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_quat, quat_conjugate, quat_multiply
from ik_node.robot import Robot
from ik_node.solver import Status
from ik_node.solver.analysis.assembly import Assembly
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Directions are one where their cross product is shorter.
SAME = 1e-3


def wrong_axes(robot: Robot, result: Assembly) -> list[dict[str, Any]]:
    """
    Find loops that do not close, or hold all their joints, because of the axis they turn about.

    Parameters
    ----------
    robot : Robot
        Its loops closed as well as they can be.
    result : Assembly
        How they closed.

    Returns
    -------
    list of dict
        For each such loop its name, the axis as it is and the axis of a joint that would let it
        move, in the link of frame B; the joint; and the mobility of the robot with that axis.

    """
    if result.status is Status.CONVERGED:
        suspects = [name for chain in robot.mobility.frozen for name in chain]
    else:
        suspects = list(result.open_loops)
    found = []
    for name in suspects:
        entry = _other_axis(robot, name) if _turns_about_one(robot.closures[name]) else None
        if entry is not None:
            found.append(entry)
    return found


def _turns_about_one(closure: Closure) -> bool:
    turns = [dof for dof in closure.dof if dof.is_rotation]
    return closure.kind == 'frame' and len(turns) == 2


def _other_axis(robot: Robot, name: str) -> dict[str, Any] | None:
    """Return the axis of a joint with which a loop closes and moves; None if there is none."""
    loose = Robot(deepcopy(robot.description))
    closure = loose.closures[name]
    dofs = tuple(closure.dof)
    free = next(dof for dof in (DOF.EX, DOF.EY, DOF.EZ) if dof not in dofs)
    present = _axis(closure, free)
    closure.set_dof(*(dof for dof in dofs if not dof.is_rotation))
    if loose.assemble().status is not Status.CONVERGED:
        return None
    best: dict[str, Any] | None = None
    for joint, axis in _axes(closure):
        twin = Robot(deepcopy(loose.description))
        _turn(twin.closures[name], axis, free)
        twin.closures[name].set_dof(*dofs)
        closes = twin.assemble().status is Status.CONVERGED
        moves = all(name not in chain for chain in twin.mobility.frozen)
        if closes and moves and (best is None or int(twin.mobility) > best['mobility']):
            parent = twin.closures[name].parent
            best = {
                'name': name,
                'link': parent.name if parent is not None else None,
                'axis': _short(present),
                'freeing_axis': _short(_axis(twin.closures[name], free)),
                'joint': joint,
                'mobility': int(twin.mobility),
            }
    return best


def _axis(closure: Closure, free: DOF) -> Array:
    """Return the axis that a closure turns about, in the link of frame B."""
    return np.asarray(closure.matrix[:3, free - DOF.EX])


def _axes(closure: Closure) -> Iterator[tuple[str, Array]]:
    """Yield the joints that turn either end of a closure, and their axes in the root frame."""
    seen: list[Array] = []
    for link in (closure.child, closure.parent):
        for joint in joints_above(link) if isinstance(link, Link) else ():
            for dof in joint.dof:
                axis = joint.matrix_world[:3, dof - DOF.EX] if dof.is_rotation else None
                if axis is None or any(np.max(np.abs(np.cross(axis, s))) < SAME for s in seen):
                    continue
                seen.append(axis)
                yield joint.name, axis


def _turn(closure: Closure, axis: Array, free: DOF) -> None:
    """Turn both frames of a closure, as they stand, so that one axis of theirs is a given one."""
    side = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, side)
    first /= np.linalg.norm(first)
    columns = [axis / np.linalg.norm(axis), first, np.cross(axis, first)]
    at = free - DOF.EX
    turn = np.column_stack(columns[-at:] + columns[:-at] if at else columns)
    quat = matrix_to_quat(turn)
    for link, place in ((closure.parent, closure.set_quaternion), (closure.child, None)):
        if link is None:
            continue
        local = quat_multiply(quat_conjugate(matrix_to_quat(link.matrix_world[:3, :3])), quat)
        if place is None:
            closure.set_offset(closure.offset_position, local)
        else:
            place(*local)


def _short(axis: Array) -> list[float]:
    return [round(float(part), 6) + 0.0 for part in axis]
