"""Analysis of joint values that cannot move, and of loops with a wrong rotation axis."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.model.closure import Closure
from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.request import request_of
from ik_node.model.rotation import matrix_to_quat, quat_conjugate, quat_multiply
from ik_node.model.tree import Tree
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.analysis.assembly import Assembly
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Smaller components of a motion of length one count as zero.
NONE = 1e-6


def held_values(robot: Robot) -> dict[str, str]:
    """
    Return the joint values that cannot change at the present configuration, and why.

    Parameters
    ----------
    robot : Robot
        A robot with closed loops.

    Returns
    -------
    dict of str to str
        Reason by name of the value: 'limits' (lower = upper), 'locked', 'coupling' (its master
        cannot move, or does not affect it) or 'loops'. The analysis is of first order: in a
        singular pose a value may be free to first order although the loops prevent larger motions.

    """
    tree = Solver(robot, SolverOptions()).tree
    table = JointTable(tree)
    held: dict[str, str] = {}
    for at, (joint, dof) in enumerate(tree.owner):
        if joint.min_dof_limit[dof] == joint.max_dof_limit[dof]:
            held[tree.names[at]] = 'limits'
        elif joint.locked[dof]:
            held[tree.names[at]] = 'locked'
    fixed = [tree.names.index(name) for name in held]
    fixed += [table.masters[at] for at in fixed if at in table.masters]
    for at in _held_by_loops(robot, table, fixed):
        held.setdefault(tree.names[at], 'loops')
    for follower, master, polynomial in table.followers:
        slope = np.polynomial.Polynomial(polynomial).deriv()(robot.q[master])
        if tree.names[master] in held or abs(slope) < NONE:
            held.setdefault(tree.names[follower], 'coupling')
    return held


def _held_by_loops(robot: Robot, table: JointTable, fixed: list[int]) -> list[int]:
    """Return the indices in q that are zero in every motion in the null space of the loops."""
    solver = Solver(robot, SolverOptions())
    tree, options = solver.tree, solver.options
    requests = [request_of(joint) for joint in tree.closers if not isinstance(joint, Goal)]
    problem = Problem(tree, [request for request in requests if request.takes_part])
    problem.refresh(options)
    rows = table.rows.copy()
    rows[JOINT_LOWER], rows[JOINT_UPPER] = -np.inf, np.inf
    redundancies = {frozenset(each.closures): each for each in robot.redundancies}
    held: list[int] = []
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise_by_size(robot.q, rows, options.packed())
        places = chain.flat.var_q.tolist()
        free = [at for at, place in enumerate(places) if place not in fixed]
        if not free:
            continue
        known = redundancies.get(frozenset(chain.names.constraints))
        chosen = np.isin(np.arange(len(places)), free)
        _, values, directions = np.linalg.svd(without_rounding(jacobian, chosen, known))
        rank = int(np.sum(values > RANK_TOLERANCE * float(values.max(initial=1e-3))))
        motions = np.max(np.abs(directions[rank:]), axis=0, initial=0.0)
        held += [places[at] for at, most in zip(free, motions, strict=True) if most < NONE]
    # The columns of a ball joint are rotations about its axes, not derivatives of its angles.
    balls = [joint for joint, dof in tree.owner if dof.is_rotation and joint.dof_flags[3:].all()]
    loose = {id(ball) for ball in balls if not _all_turns(ball, tree, held)}
    return [
        at for at in held if not (tree.owner[at][1].is_rotation and id(tree.owner[at][0]) in loose)
    ]


def _all_turns(ball: Joint, tree: Tree, held: list[int]) -> bool:
    """Return True if all three angles of a ball joint are in `held`."""
    turns = [at for at, (j, dof) in enumerate(tree.owner) if j is ball and dof.is_rotation]
    return set(turns) <= set(held)


def still_links(robot: Robot, held: dict[str, str]) -> list[str]:
    """Return the links that do not move, because no joint above them can move."""
    found = []
    for name, link in robot.links.items():
        if not any(set(joint.value_names) - set(held) for joint in joints_above(link)):
            found.append(name)
    return found


def joints_above(link: Link) -> list[Joint]:
    """Return the movable joints between a link and its root."""
    found, frame = [], link.parent
    while frame is not None:
        if isinstance(frame, Joint) and frame.dof:
            found.append(frame)
        frame = frame.parent
    return found


# Directions whose cross product is shorter count as parallel.
SAME = 1e-3


def wrong_axes(robot: Robot, result: Assembly) -> list[dict[str, Any]]:
    """
    Find loops that cannot close, or cannot move, because their rotation axis is wrong.

    Parameters
    ----------
    robot : Robot
        A robot whose loops are closed as far as possible.
    result : Assembly
        The result of closing the loops.

    Returns
    -------
    list of dict
        For each such loop: its name, its present axis and the axis of a joint that would free it,
        both in the link of frame B; the joint; and the mobility of the robot with that axis.

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
    """Find a joint axis with which a loop closes and moves; return None if there is none."""
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
        copy = Robot(deepcopy(loose.description))
        _turn(copy.closures[name], axis, free)
        copy.closures[name].set_dof(*dofs)
        closes = copy.assemble().status is Status.CONVERGED
        moves = all(name not in chain for chain in copy.mobility.frozen)
        if closes and moves and (best is None or int(copy.mobility) > best['mobility']):
            parent = copy.closures[name].parent
            best = {
                'name': name,
                'link': parent.name if parent is not None else None,
                'axis': _short(present),
                'freeing_axis': _short(_axis(copy.closures[name], free)),
                'joint': joint,
                'mobility': int(copy.mobility),
            }
    return best


def _axis(closure: Closure, free: DOF) -> Array:
    """Return the free rotation axis of a closure, in the link of frame B."""
    return np.asarray(closure.matrix[:3, free - DOF.EX])


def _axes(closure: Closure) -> Iterator[tuple[str, Array]]:
    """Yield the revolute joints above both links of a closure, and their axes, root frame."""
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
    """Rotate both frames of a closure in place so that one axis has a given direction."""
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
