"""Analysis of joint values that cannot move, and of loops with a wrong rotation axis."""

from __future__ import annotations

from collections.abc import Container, Iterator
from copy import deepcopy
from typing import Any, TYPE_CHECKING

from ik_node.analysis.assembly import Assembly
from ik_node.analysis.file_pose import loop_branches
from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.model.closure import Closure
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.request import closure_requests
from ik_node.model.rotation import matrix_to_quat, pose_matrix, quat_conjugate, quat_multiply
from ik_node.model.tree import Tree
from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
from ik_node.solver.problem.joint_table import FAR, JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.robot import Robot

Array = NDArray[np.float64]

# Smaller components of a motion of length one count as zero.
NONE = 1e-6
# Limits that are nearer to each other leave no room for a motion [rad or m].
NO_ROOM = 1e-9


def fixed_values(robot: Robot) -> dict[str, str]:
    """
    Return the joint values that cannot change at the present configuration, and why.

    Parameters
    ----------
    robot : Robot
        A robot with closed loops.

    Returns
    -------
    dict of str to str
        Reason by name of the value: 'limits' (lower = upper), 'locked', 'followers' (the limits of
        values that follow it leave it one value), 'coupling' (its master cannot move, or does not
        affect it), 'loops', or 'loops and limits' (the one motion that the loops allow leaves the
        limits in both directions). The analysis is of first order: in a singular pose a value may
        be free to first order although the loops prevent larger motions.

    """
    tree = Solver(robot, SolverOptions()).tree
    table = JointTable(tree)
    held: dict[str, str] = {}
    for at, (joint, dof) in enumerate(tree.owner):
        if joint.min_dof_limit[dof] == joint.max_dof_limit[dof]:
            held[tree.names[at]] = 'limits'
        elif joint.locked[dof]:
            held[tree.names[at]] = 'locked'
        elif table.rows[JOINT_UPPER, at] - table.rows[JOINT_LOWER, at] <= NO_ROOM:
            held[tree.names[at]] = 'followers'
    fixed = [tree.names.index(name) for name in held]
    fixed += [table.masters[at] for at in fixed if at in table.masters]
    for at, why in _held_by_loops(robot, table, fixed).items():
        held.setdefault(tree.names[at], why)
    for follower, master, polynomial in table.followers:
        slope = np.polynomial.Polynomial(polynomial).deriv()(robot.q[master])
        if tree.names[master] in held or abs(slope) < NONE:
            held.setdefault(tree.names[follower], 'coupling')
    return held


def _held_by_loops(robot: Robot, table: JointTable, fixed: list[int]) -> dict[int, str]:
    """Return the indices in q that no motion in the null space of the loops moves, and why."""
    solver = Solver(robot, SolverOptions())
    tree, options = solver.tree, solver.options
    problem = Problem(tree, closure_requests(tree))
    problem.refresh(options)
    rows = table.rows.copy()
    rows[JOINT_LOWER], rows[JOINT_UPPER] = -np.inf, np.inf
    redundancies = {frozenset(each.closures): each for each in robot.redundancies}
    held: dict[int, str] = {}
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
        still = [places[at] for at, most in zip(free, motions, strict=True) if most < NONE]
        held.update(dict.fromkeys(still, 'loops'))
        if len(directions) - rank == 1:
            moved = {places[at]: part for at, part in zip(free, directions[-1], strict=True)}
            if _leaves_limits(moved, table, robot.q) and _leaves_limits(
                {at: -part for at, part in moved.items()}, table, robot.q
            ):
                rest = [at for at in moved if at not in held]
                held.update(dict.fromkeys(rest, 'loops and limits'))
    # The columns of a ball joint are rotations about its axes, not derivatives of its angles.
    balls = [joint for joint, dof in tree.owner if dof.is_rotation and joint.dof_flags[3:].all()]
    loose = {id(ball) for ball in balls if not _all_turns(ball, tree, held)}
    return {
        at: why
        for at, why in held.items()
        if not (tree.owner[at][1].is_rotation and id(tree.owner[at][0]) in loose)
    }


def _leaves_limits(motion: dict[int, float], table: JointTable, q: Array) -> bool:
    """Return True if a motion moves a value that is at a limit farther out."""
    return any(
        (part > NONE and q[at] >= table.rows[JOINT_UPPER, at] - NO_ROOM)
        or (part < -NONE and q[at] <= table.rows[JOINT_LOWER, at] + NO_ROOM)
        for at, part in motion.items()
    )


def _all_turns(ball: Joint, tree: Tree, held: Container[int]) -> bool:
    """Return True if all three angles of a ball joint are in `held`."""
    turns = [at for at, (j, dof) in enumerate(tree.owner) if j is ball and dof.is_rotation]
    return all(turn in held for turn in turns)


def blocking_followers(robot: Robot, held: dict[str, str]) -> list[dict[str, Any]]:
    """
    Return the followers whose limits leave a master one value.

    Returns
    -------
    list of dict
        Name of the follower and of its master, and True at `opposite_sign` if the master could
        move with the opposite sign of the linear coefficient.

    """
    tree = Solver(robot, SolverOptions()).tree
    table, found = JointTable(tree), []
    limits = [(joint.min_dof_limit[dof], joint.max_dof_limit[dof]) for joint, dof in tree.owner]
    for follower, master, polynomial in table.followers:
        if held.get(tree.names[master]) != 'followers':
            continue
        low, high = limits[follower]
        opposite = (polynomial[0], -polynomial[1], *polynomial[2:])
        ends = np.polynomial.Polynomial(opposite)(np.clip(limits[master], -FAR, FAR))
        room = min(ends.max(), high) - max(ends.min(), low)
        found.append(
            {
                'name': tree.names[follower],
                'master': tree.names[master],
                'opposite_sign': bool(room > NO_ROOM),
            }
        )
    return found


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
        For each frame of such a loop whose axis is wrong: the name of the loop, the link of the
        frame, its present axis and the axis of a joint that would free the loop, both in that
        link; the joint; the mobility of the robot with these axes; and False at `frozen` if the
        present axis only costs freedom. A loop with the same numbers on both sides has one entry,
        for frame B.

    """
    if result.status is not Status.CONVERGED:
        # Sums of joints may stay off as well, but have no axis.
        loops = [name for name in robot.closures if name in result.open_loops]
        names = [name for name in loops if turns_about_one(robot, name)]
        return [{**entry, 'frozen': True} for entry in _other_axes(robot, names)]
    mobility = robot.mobility
    frozen = [name for chain in mobility.frozen for name in chain]
    names = [name for name in robot.closures if name in result.closure_errors]
    return [
        {**entry, 'frozen': name in frozen}
        for name in names
        if turns_about_one(robot, name)
        and (name in frozen or is_like_no_joint(robot.closures[name]))
        for entry in _other_axes(robot, [name])
        if name in frozen or entry['mobility'] > mobility
    ]


def is_like_no_joint(closure: Closure) -> bool:
    """Return True if the free axis of a closure is parallel to no joint of its loop."""
    free = next(dof for dof in (DOF.EX, DOF.EY, DOF.EZ) if dof not in closure.dof)
    axis = closure.matrix_world[:3, free - DOF.EX]
    joints = [joint for branch in loop_branches(closure) for joint in branch]
    axes = [j.matrix_world[:3, dof % 3] for j in joints for dof in j.dof if dof.is_rotation]
    return all(np.max(np.abs(np.cross(axis, other))) >= SAME for other in axes)


def turns_about_one(robot: Robot, name: str) -> bool:
    """Return True if a closure leaves one rotation axis free."""
    closure = robot.closures[name]
    turns = [dof for dof in closure.dof if dof.is_rotation]
    return closure.kind == 'frame' and len(turns) == 2


def _other_axes(robot: Robot, names: list[str]) -> list[dict[str, Any]]:
    """
    Find joint axes with which all named loops close and move; return [] if there are none.

    All of them are released to points first. Then one after the other gets its rotational axes
    back, about the axis that leaves the robot the largest mobility; its present axis is preferred.
    """
    loose = type(robot)(deepcopy(robot.description))
    kept = {name: tuple(loose.closures[name].dof) for name in names}
    for name, dofs in kept.items():
        loose.closures[name].set_dof(*(dof for dof in dofs if not dof.is_rotation))
    if not names or loose.assemble().status is not Status.CONVERGED:
        return []
    found: list[dict[str, Any]] = []
    for name, dofs in kept.items():
        free = next(dof for dof in (DOF.EX, DOF.EY, DOF.EZ) if dof not in dofs)
        best: tuple[int, Robot, list[dict[str, Any]]] | None = None
        # The present axis of a single loop is known to be wrong.
        present: list[tuple[str, Array | None]] = [('', None)] if len(names) > 1 else []
        for joint, axis in [*present, *_axes(loose.closures[name])]:
            copy = type(robot)(deepcopy(loose.description))
            entries = [] if axis is None else _turned(copy.closures[name], axis, free, joint)
            copy.closures[name].set_dof(*dofs)
            closes = copy.assemble().status is Status.CONVERGED
            moves = closes and all(name not in chain for chain in copy.mobility.frozen)
            if moves and (best is None or int(copy.mobility) > best[0]):
                best = int(copy.mobility), copy, entries
        if best is None:
            return []
        loose, found = best[1], found + best[2]
    return [{**entry, 'mobility': int(loose.mobility)} for entry in found]


def _turned(closure: Closure, axis: Array, free: DOF, joint: str) -> list[dict[str, Any]]:
    """
    Rotate both frames of a closure to an axis; return an entry for each frame that was off.

    Parameters
    ----------
    closure : Closure
        A closure whose frames coincide in position.
    axis : ndarray, shape (3,)
        New direction of the free axis, root frame; its sign does not matter.
    free : DOF
        The rotational axis about which the closure is free.
    joint : str
        The joint whose axis this is.

    """
    links = [frame for frame in (closure.parent, closure.child) if frame is not None]
    turns = [link.matrix_world[:3, :3] for link in links]
    before = [_free_axis(closure, link, free) for link in links]
    seen = [turn @ local for turn, local in zip(turns, before, strict=True)]
    along = next((side for side in (float(axis @ each) for each in seen) if abs(side) > SAME), 1.0)
    axis = axis / np.linalg.norm(axis) * np.sign(along)
    _turn(closure, axis, free)
    found = [
        {
            'name': closure.name,
            'link': link.name,
            'axis': _short(local),
            'freeing_axis': _short(turn.T @ axis),
            'joint': joint,
        }
        for link, turn, local, each in zip(links, turns, before, seen, strict=True)
        if np.max(np.abs(each - axis)) > SAME
    ]
    same = all(entry[key] == found[0][key] for entry in found for key in ('axis', 'freeing_axis'))
    return found[:1] if same else found


def _free_axis(closure: Closure, link: object, free: DOF) -> Array:
    """Return the free rotation axis of a closure's frame in a link, in the frame of the link."""
    if link is closure.parent:
        return np.asarray(closure.matrix[:3, free - DOF.EX])
    return np.asarray(pose_matrix(np.zeros(3), closure.offset_quaternion)[:3, free - DOF.EX])


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
    return [round(float(part), 5) + 0.0 for part in axis]
