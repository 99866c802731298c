"""Joints and couplings that keep loops from closing or moving, and joints that no loop holds."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from math import dist
from typing import Any, TYPE_CHECKING

from ik_node.analysis.assembly import Assembly
from ik_node.analysis.file_pose import loop_branches
from ik_node.analysis.loop_axes import is_like_no_joint, SAME, turns_about_one
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_between, quat_conjugate, quat_multiply, quat_to_matrix
from ik_node.solver import Status
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.robot import Robot

Array = NDArray[np.float64]

# Joints whose origins are nearer to each other are at the same point [m].
SAME_POINT = 1e-6
# Most changes that are tried, each with an assembly of the robot.
MOST_TRIALS = 24


def wrong_parts(robot: Robot, result: Assembly, held: dict[str, str]) -> list[dict[str, Any]]:
    """
    Find changes of joints or couplings with which loops in trouble close and move.

    A loop is in trouble if it stays open, if none of its joints can move, or if the loops hold one
    of its joints whose axis is parallel to no other axis of the loop.

    Parameters
    ----------
    robot : Robot
        A robot whose loops are closed as far as possible.
    result : Assembly
        The result of closing the loops.
    held : dict of str to str
        See `fixed_values`.

    Returns
    -------
    list of dict
        One for each change that helps: its `kind` (no_axis, joint_axis or coupling), the names of
        the joints, the loop, the present axis and the one that joints would have (root frame; for
        no_axis in their own frames), and the mobility of the robot then.

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
        for way in np.eye(3)[[2, 1]]:
            guesses.run('no_axis', bare, min(doubtful), doubtful, way, _own_axis(way))
            if guesses.found:
                return guesses.found
    drawn = type(robot)(deepcopy(robot.description))
    drawn.q = robot.start
    for name in loops:
        for joint, own, usual in _odd_joints(drawn, name):
            if name in trouble or held.get(joint) == 'loops':
                change = _world_axis(usual)
                trials.run('joint_axis', [joint], name, trouble & {name}, usual, change, own)
    if trials.found:
        return trials.found
    for name in sorted(trouble):
        joints = {each.name for branch in loop_branches(loops[name]) for each in branch}
        for follower in robot.joint_order:
            terms = [term for each in follower.couplings.values() for term in each.terms]
            if terms and joints & {follower.name, *(term.master.name for term in terms)}:
                trials.run('coupling', [follower.name], name, {name}, None, _uncouple)
    return trials.found


class _Trials:
    """Changes of copies of a robot; those after which the loops close and move are kept."""

    def __init__(self, robot: Robot, mobility: int) -> None:
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
        axis: Array | None,
        change: Callable[[Joint], None],
        own: Array | None = None,
    ) -> None:
        """Change joints of a copy in the file's pose; keep an entry if that helps."""
        if self._left == 0 or any(
            each['joints'] == joints and each['kind'] == kind for each in self.found
        ):
            return
        self._left -= 1
        copy = type(self._robot)(deepcopy(self._robot.description))
        copy.q = self._robot.start
        for name in joints:
            change(copy.joints[name])
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


def _odd_joints(drawn: Robot, name: str) -> list[tuple[str, Array, Array]]:
    """
    Return the hinge of a loop whose axis differs from all its other axes, which are parallel.

    Hinges at the same point as another one do not count: together they are a universal joint.

    Parameters
    ----------
    drawn : Robot
        The robot in the file's pose.
    name : str
        The loop.

    Returns
    -------
    list of (str, ndarray, ndarray)
        Name of the joint, its axis, and the axis that the others have, root frame; at most one.

    """
    loop = drawn.closures[name]
    axes = [
        (joint, _axis_of(joint))
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
            other is not joint and dist(_origin(other), _origin(joint)) < SAME_POINT
            for other, _ in axes
        )
    ]


def _short(axis: Array | None) -> list[float] | None:
    return None if axis is None else [round(float(x), 5) + 0.0 for x in axis]


def _parallel(axis: Array, other: Array) -> bool:
    return bool(np.max(np.abs(np.cross(axis, other))) < SAME)


def _origin(joint: Joint) -> Array:
    return np.asarray(joint.matrix_world[:3, 3])


def _axis_of(joint: Joint) -> Array:
    return np.asarray(joint.matrix_world[:3, joint.dof[0] % 3])


def _own_axis(axis: Array) -> Callable[[Joint], None]:
    """Return a change that gives a joint an axis in its own frame."""
    return lambda joint: _turn(joint, axis)


def _world_axis(axis: Array) -> Callable[[Joint], None]:
    """Return a change that gives a joint an axis, root frame."""
    return lambda joint: _turn(joint, joint.matrix_world[:3, :3].T @ axis)


def _turn(joint: Joint, axis: Array) -> None:
    """Change the axis of a joint; its child link stays where it is at 0."""
    child = joint.child
    if child is None or len(joint.dof) != 1:
        return
    turn = quat_between(np.eye(3)[joint.dof[0] % 3], axis)
    back = quat_conjugate(turn)
    joint.set_quaternion(*quat_multiply(joint.quaternion, turn))
    position, quat = quat_to_matrix(back) @ child.position, quat_multiply(back, child.quaternion)
    child.set_position(*position)
    child.set_quaternion(*quat)


def _uncouple(joint: Joint) -> None:
    for dof in list(joint.couplings):
        joint.uncouple(dof)


def loose_joints(robot: Robot) -> list[dict[str, str]]:
    """
    Return the joints of a robot with loops that no loop, motor or coupling holds.

    Joints that carry a loop, such as those of an arm with a gripper, do not count.

    Returns
    -------
    list of dict
        Names of the joint and of the link that hangs on it.

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
