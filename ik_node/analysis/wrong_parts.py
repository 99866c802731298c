"""Values that cannot move, and the axes and joints that keep loops from closing or moving."""

from __future__ import annotations

from collections.abc import Container, Iterator
from copy import deepcopy
from math import ceil, dist, floor, log10
from typing import Any

from ik_node.analysis.analysed_robot import AnalysedRobot
from ik_node.analysis.assembly import Assembly
from ik_node.analysis.file_pose import loop_branches, loop_length
from ik_node.description.tree import joints_above
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.request import closure_requests
from ik_node.model.rotation import quat_between, quat_conjugate, quat_multiply, quat_to_matrix
from ik_node.model.tree import Tree
from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.problem.chain_problem import null_space
from ik_node.solver.problem.joint_table import FAR, JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Smaller components of a motion of length one count as zero.
NONE = 1e-6
# Limits that are nearer to each other leave no room for a motion [rad or m].
NO_ROOM = 1e-9
# Directions whose cross product is shorter count as parallel.
SAME = 1e-3
# Joints whose origins are nearer to each other are at the same point [m].
SAME_POINT = 1e-6
# Most changes that are tried, each with an assembly of the robot.
MOST_TRIALS = 24
# Largest tolerance that is tried to let loops move [rad, and share of the size of the loop].
MOST_TOLERANCE = 0.05


def fixed_values(robot: AnalysedRobot) -> dict[str, str]:
    """
    Return the joint values that cannot change at the present configuration, and why.

    Returns the reason by name of the value: 'limits' (lower = upper), 'locked', 'followers' (the
    limits of values that follow it leave it one value), 'coupling' (its master cannot move, or
    does not affect it), 'loops', or 'loops and limits' (the one motion that the loops allow leaves
    the limits in both directions). The analysis is of first order: in a singular pose a value may
    be free to first order although the loops prevent larger motions.
    """
    tree = Solver(robot, SolverOptions()).tree
    table = JointTable(tree)
    held: dict[str, str] = {}
    for index, (joint, dof) in enumerate(tree.owner):
        if joint.min_dof_limit[dof] == joint.max_dof_limit[dof]:
            held[tree.names[index]] = 'limits'
        elif joint.locked[dof]:
            held[tree.names[index]] = 'locked'
        elif table.upper[index] - table.lower[index] <= NO_ROOM:
            held[tree.names[index]] = 'followers'
    fixed = [tree.names.index(name) for name in held]
    fixed += [table.masters[index] for index in fixed if index in table.masters]
    for index, why in _held_by_loops(robot, table, fixed).items():
        held.setdefault(tree.names[index], why)
    for follower, master, polynomial in table.followers:
        slope = np.polynomial.Polynomial(polynomial).deriv()(robot.q[master])
        if tree.names[master] in held or abs(slope) < NONE:
            held.setdefault(tree.names[follower], 'coupling')
    return held


def _held_by_loops(robot: AnalysedRobot, table: JointTable, fixed: list[int]) -> dict[int, str]:
    """Return the indices in q that no motion in the null space of the loops moves, and why."""
    solver = Solver(robot, SolverOptions())
    tree, options = solver.tree, solver.options
    problem = Problem(tree, closure_requests(tree), redundancies=robot.redundancies)
    problem.refresh(options)
    rows = table.without_limits(table.rows)
    held: dict[int, str] = {}
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise_by_size(robot.q, rows, options.packed())
        places = chain.flat.var_q.tolist()
        free = [index for index, place in enumerate(places) if place not in fixed]
        if not free:
            continue
        motions = null_space(jacobian[:, free], chain.slack)
        parts = np.max(np.abs(motions), axis=1, initial=0.0)
        still = [
            places[index] for index, largest in zip(free, parts, strict=True) if largest < NONE
        ]
        held.update(dict.fromkeys(still, 'loops'))
        if motions.shape[1] == 1:
            moved = {places[index]: part for index, part in zip(free, motions[:, 0], strict=True)}
            if _leaves_limits(moved, table, robot.q) and _leaves_limits(
                {index: -part for index, part in moved.items()}, table, robot.q
            ):
                rest = [index for index in moved if index not in held]
                held.update(dict.fromkeys(rest, 'loops and limits'))
    # The columns of a ball joint are rotations about its axes, not derivatives of its angles.
    balls = [joint for joint, dof in tree.owner if dof.is_rotation and joint.dof_flags[3:].all()]
    loose = {id(ball) for ball in balls if not _all_turns(ball, tree, held)}
    return {
        index: why
        for index, why in held.items()
        if not (tree.owner[index][1].is_rotation and id(tree.owner[index][0]) in loose)
    }


def _leaves_limits(motion: dict[int, float], table: JointTable, q: Array) -> bool:
    """Return True if a motion moves a value that is at a limit farther out."""
    return any(
        (part > NONE and q[index] >= table.upper[index] - NO_ROOM)
        or (part < -NONE and q[index] <= table.lower[index] + NO_ROOM)
        for index, part in motion.items()
    )


def _all_turns(ball: Joint, tree: Tree, held: Container[int]) -> bool:
    """Return True if all three angles of a ball joint are in `held`."""
    angles = [index for index, (j, dof) in enumerate(tree.owner) if j is ball and dof.is_rotation]
    return all(angle in held for angle in angles)


def blocking_followers(robot: AnalysedRobot, held: dict[str, str]) -> list[dict[str, Any]]:
    """
    Return the followers whose limits leave a master one value.

    Returns the name of the follower and of its master, and True at `opposite_sign` if the master
    could move with the opposite sign of the linear coefficient.
    """
    tree = Solver(robot, SolverOptions()).tree
    table, result = JointTable(tree), []
    limits = [(joint.min_dof_limit[dof], joint.max_dof_limit[dof]) for joint, dof in tree.owner]
    for follower, master, polynomial in table.followers:
        if held.get(tree.names[master]) != 'followers':
            continue
        low, high = limits[follower]
        opposite = (polynomial[0], -polynomial[1], *polynomial[2:])
        ends = np.polynomial.Polynomial(opposite)(np.clip(limits[master], -FAR, FAR))
        room = min(ends.max(), high) - max(ends.min(), low)
        result.append(
            {
                'name': tree.names[follower],
                'master': tree.names[master],
                'opposite_sign': bool(room > NO_ROOM),
            }
        )
    return result


def still_links(robot: AnalysedRobot, held: dict[str, str]) -> list[str]:
    """Return the links that do not move, because no joint above them can move."""
    result = []
    for name, link in robot.links.items():
        if not any(set(joint.value_names) - set(held) for joint in joints_above(link)):
            result.append(name)
    return result


def wrong_axes(robot: AnalysedRobot, result: Assembly) -> list[dict[str, Any]]:
    """
    Find loops that cannot close, or cannot move, because their rotation axis is wrong.

    `robot`: a robot whose loops are closed as far as possible. Returns for each frame of such a
    loop whose axis is wrong: the name of the loop, the link of the frame, its present axis and the
    axis of a joint that would free the loop, both in that link; the joint; the mobility of the
    robot with these axes; and False at `frozen` if the present axis only costs freedom. A loop
    with the same numbers on both sides has one entry, for frame B.
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
    return not any(_parallel(axis, other) for other in axes)


def turns_about_one(robot: AnalysedRobot, name: str) -> bool:
    """Return True if a closure leaves one rotation axis free."""
    closure = robot.closures[name]
    turns = [dof for dof in closure.dof if dof.is_rotation]
    return closure.kind == 'frame' and len(turns) == 2


def _other_axes(robot: AnalysedRobot, names: list[str]) -> list[dict[str, Any]]:
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
    rotated: list[dict[str, Any]] = []
    for name, dofs in kept.items():
        free = next(dof for dof in (DOF.EX, DOF.EY, DOF.EZ) if dof not in dofs)
        best: tuple[int, AnalysedRobot, list[dict[str, Any]]] | None = None
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
        loose, rotated = best[1], rotated + best[2]
    return [{**entry, 'mobility': int(loose.mobility)} for entry in rotated]


def _turned(closure: Closure, axis: Array, free: DOF, joint: str) -> list[dict[str, Any]]:
    """
    Rotate both frames of a closure to an axis; return an entry for each frame that was off.

    `axis` (3,): new direction of the free axis, root frame; its sign does not matter. `free`: the
    rotational axis about which the closure is free.
    """
    frames = [(closure.parent, closure.quaternion), (closure.child, closure.offset_quaternion)]
    moving = [(link, quat) for link, quat in frames if link is not None]
    rotations = [link.matrix_world[:3, :3] for link, _ in moving]
    before = [quat_to_matrix(quat)[:, free - DOF.EX] for _, quat in moving]
    seen = [rotation @ local for rotation, local in zip(rotations, before, strict=True)]
    along = next((side for side in (float(axis @ each) for each in seen) if abs(side) > SAME), 1.0)
    axis = axis / np.linalg.norm(axis) * np.sign(along)
    rotated = []
    for (link, quat), rotation, local, each in zip(moving, rotations, before, seen, strict=True):
        new = rotation.T @ axis
        turned = quat_multiply(quat_between(local, new), quat)
        if link is closure.parent:
            closure.set_quaternion(*turned)
        else:
            closure.set_offset(closure.offset_position, turned)
        if np.max(np.abs(each - axis)) > SAME:
            entry = {'axis': _short(local), 'freeing_axis': _short(new)}
            rotated.append({'name': closure.name, 'link': link.name, **entry, 'joint': joint})
    same = all(
        entry[key] == rotated[0][key] for entry in rotated for key in ('axis', 'freeing_axis')
    )
    return rotated[:1] if same else rotated


def _axes(closure: Closure) -> Iterator[tuple[str, Array]]:
    """Yield the revolute joints above both links of a closure, and their axes, root frame."""
    seen: list[Array] = []
    for link in (closure.child, closure.parent):
        for joint in joints_above(link) if isinstance(link, Link) else ():
            for dof in joint.dof:
                axis = joint.matrix_world[:3, dof - DOF.EX] if dof.is_rotation else None
                if axis is None or any(_parallel(axis, other) for other in seen):
                    continue
                seen.append(axis)
                yield joint.name, axis


def wrong_parts(
    robot: AnalysedRobot, result: Assembly, held: dict[str, str]
) -> list[dict[str, Any]]:
    """
    Find changes of joints or couplings with which loops in trouble close and move.

    A loop is in trouble if it stays open, if none of its joints can move, or if the loops hold one
    of its joints whose axis is parallel to no other axis of the loop.

    `robot`: a robot whose loops are closed as far as possible; `held`: see `fixed_values`. Returns
    one for each change that helps: its `kind` (no_axis, joint_axis or coupling), the names of the
    joints, the loop, the present axis and the one that joints would have (root frame; for no_axis
    in their own frames), and the mobility of the robot then.
    """
    closed = result.status is Status.CONVERGED
    stuck = {name for chain in robot.mobility.frozen for name in chain} if closed else set()
    loops = {name: each for name, each in robot.closures.items() if name in result.closure_errors}
    # Sums of joints are in trouble with the loops of their joints.
    rows = stuck if closed else set(result.open_loops)
    trouble = rows & loops.keys() or (set(loops) if rows else set())
    trials = _Trials(robot, int(robot.mobility) if closed else -1)
    if not trouble and 'loops' not in held.values():
        return []
    bare = [name for name in robot.description.no_axis if robot.joints[name].dof]
    doubtful = trouble | {
        name
        for name, each in loops.items()
        if bare and turns_about_one(robot, name) and is_like_no_joint(each)
    }
    if doubtful and bare:
        guesses = _Trials(robot, 0)
        for axis in np.eye(3)[[2, 1]]:
            guesses.run('no_axis', bare, min(doubtful), doubtful, axis)
            if guesses.found:
                return guesses.found
    drawn = type(robot)(deepcopy(robot.description))
    drawn.q = robot.start
    for name in loops:
        for joint, own, usual in _odd_joints(drawn, name):
            if name in trouble or held.get(joint) == 'loops':
                trials.run('joint_axis', [joint], name, trouble & {name}, usual, own)
    if trials.found:
        return trials.found
    for name in sorted(trouble):
        joints = {each.name for branch in loop_branches(loops[name]) for each in branch}
        for follower in robot.joint_order:
            terms = [term for each in follower.couplings.values() for term in each.terms]
            if terms and joints & {follower.name, *(term.master.name for term in terms)}:
                trials.run('coupling', [follower.name], name, {name})
    return trials.found


def freeing_tolerances(robot: AnalysedRobot, held: dict[str, str]) -> dict[str, Any] | None:
    """
    Return the smallest tolerances of closures with which loops that hold joints let them move.

    Parts that were measured or rounded leave gaps which grow and shrink along the motion. Loops
    with such gaps hold their joints until their closures have a tolerance.

    Returns `loops`: the tolerances [m], [rad] by the name of the closure; `mobility` of the robot
    then. None if no tolerance below `MOST_TOLERANCE` lets a joint move.
    """
    names = {name for name, why in held.items() if why == 'loops'}
    if not names:
        return None
    mobility = robot.mobility
    stuck = {each for chain in mobility.chains if names & {*chain} for each in chain}
    copy = type(robot)(deepcopy(robot.description))
    copy.q = robot.q
    tried = {
        name: closure
        for name, closure in copy.closures.items()
        if closure.enabled
        and closure.tolerance is None
        and stuck & {each.name for branch in loop_branches(closure) for each in branch}
    }
    for closure in tried.values():
        closure.tolerance = MOST_TOLERANCE * loop_length(closure), MOST_TOLERANCE
    misfits = {
        name: [_rounded_up(each) for each in pair]
        for chain in copy.redundancies
        for name, pair in chain.misfit.items()
        if name in tried
    }
    for name, closure in tried.items():
        closure.tolerance = misfits.get(name)
    after = int(copy.mobility) if misfits else 0
    return {'loops': misfits, 'mobility': after} if after > int(mobility) else None


def _rounded_up(gap: float) -> float:
    """Return the next number above a gap with two digits; 0 for a gap of floating-point errors."""
    if gap < NO_ROOM:
        return 0.0
    unit = 10.0 ** (floor(log10(gap)) - 1)
    return float(f'{ceil(gap / unit + 0.01) * unit:.3g}')


class _Trials:
    """Changes of copies of a robot; those after which the loops close and move are kept."""

    def __init__(self, robot: AnalysedRobot, mobility: int) -> None:
        self.found: list[dict[str, Any]] = []
        self._robot = robot
        self._mobility = mobility
        self._left = MOST_TRIALS

    def run(
        self,
        kind: str,
        joints: list[str],
        loop: str,
        trouble: set[str],
        axis: Array | None = None,
        own: Array | None = None,
    ) -> None:
        """
        Change joints of a copy in the file's pose; keep an entry if that helps.

        `axis`: new direction of the joints, in their own frames or for 'joint_axis' in the root
        frame. `own`: their present one.
        """
        if self._left == 0 or any(
            each['joints'] == joints and each['kind'] == kind for each in self.found
        ):
            return
        self._left -= 1
        copy = type(self._robot)(deepcopy(self._robot.description))
        copy.q = self._robot.start
        for joint in (copy.joints[name] for name in joints):
            if axis is None:
                for dof in list(joint.couplings):
                    joint.uncouple(dof)
            else:
                root = kind == 'joint_axis'
                _turn(joint, joint.matrix_world[:3, :3].T @ axis if root else axis)
        if copy.assemble().status is not Status.CONVERGED:
            return
        mobility = copy.mobility
        frozen = {name for chain in mobility.frozen for name in chain}
        if not frozen & trouble and int(mobility) > self._mobility:
            self.found.append(
                {
                    'kind': kind,
                    'joints': joints,
                    'loop': loop,
                    'own_axis': _short(own),
                    'axis': _short(axis),
                    'mobility': int(mobility),
                }
            )


def _odd_joints(drawn: AnalysedRobot, name: str) -> list[tuple[str, Array, Array]]:
    """
    Return the hinge of a loop whose axis differs from all its other axes, which are parallel.

    Hinges at the same point as another one do not count: together they are a universal joint.

    Returns the name of the joint, its axis, and the axis that the others have, root frame; at most
    one.
    """
    loop = drawn.closures[name]
    axes = [
        (joint, joint.matrix_world[:3, joint.dof[0] % 3])
        for branch in loop_branches(loop)
        for joint in branch
        if len(joint.dof) == 1 and joint.dof[0].is_rotation
    ]
    others = [axis for _, axis in axes]
    if turns_about_one(drawn, name):
        free = next(dof for dof in (DOF.EX, DOF.EY, DOF.EZ) if dof not in loop.dof)
        others.append(loop.matrix_world[:3, free - DOF.EX])
    alike = [sum(_parallel(axis, other) for other in others) for axis in others]
    usual = others[int(np.argmax(alike))] if alike else np.zeros(3)
    if max(alike, default=0) < max(2, len(others) - 1):
        return []
    return [
        (joint.name, axis, usual)
        for (joint, axis), count in zip(axes, alike, strict=False)
        if count == 1
        and not any(
            other is not joint
            and dist(other.matrix_world[:3, 3], joint.matrix_world[:3, 3]) < SAME_POINT
            for other, _ in axes
        )
    ]


def _short(axis: Array | None) -> list[float] | None:
    return None if axis is None else [round(float(x), 5) + 0.0 for x in axis]


def _parallel(axis: Array, other: Array) -> bool:
    return bool(np.max(np.abs(np.cross(axis, other))) < SAME)


def _turn(joint: Joint, axis: Array) -> None:
    """Change the axis of a joint; its child link stays where it is at 0."""
    child = joint.child
    if child is None or len(joint.dof) != 1:
        return
    rotation = quat_between(np.eye(3)[joint.dof[0] % 3], axis)
    back = quat_conjugate(rotation)
    joint.set_quaternion(*quat_multiply(joint.quaternion, rotation))
    position, quat = quat_to_matrix(back) @ child.position, quat_multiply(back, child.quaternion)
    child.set_position(*position)
    child.set_quaternion(*quat)


def loose_joints(robot: AnalysedRobot) -> list[dict[str, str]]:
    """
    Return the joints of a robot with loops that no loop, motor or coupling holds.

    Joints that carry a loop, such as those of an arm with a gripper, do not count.

    Returns the names of the joint and of the link that hangs on it.
    """
    loops = [each for each in robot.closures.values() if each.enabled]
    used: set[str] = set()
    for closure in loops:
        for link in (closure.child, closure.parent):
            frame = link
            while frame is not None:
                used.add(frame.name)
                frame = frame.parent
    coupled = {
        name
        for joint in robot.joint_order
        for each in joint.couplings.values()
        for name in (joint.name, *(term.master.name for term in each.terms))
    }
    motors = {name.rpartition('.')[0] or name for name in robot.actuated} | set(robot.actuated)
    return [
        {'joint': joint.name, 'link': joint.child.name}
        for joint in robot.joint_order
        if loops
        and isinstance(joint.child, Link)
        and isinstance(joint.parent, Link)
        and joint.name not in used | coupled | motors
    ]
