"""Selection of the joint values that a request for inverse kinematics may change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.tree import Tree
from ik_node.robot import Robot

Axis = tuple[Joint, DOF]


def carries(base: Link, tip: Link) -> bool:
    """
    Return True if `base` moves, is above `tip`, and has a movable joint below it on that path.

    A pose of `tip` in the frame of such a link is relative to the moving link.
    """
    above = list(_path(tip))
    if base not in above:
        return False
    at = above.index(base)
    return any(map(_moves, above[:at])) and any(map(_moves, above[at:]))


def staying_values(
    robot: Robot, tree: Tree, missing: Iterable[str], actuated: Collection[str]
) -> tuple[str, ...]:
    """
    Return those values, not named by a request, that keep the node's values.

    The answer does not contain them, so a solution that moved them would be wrong. Passive joints
    of loops and coupled joints move nevertheless.

    Parameters
    ----------
    robot : Robot
        The robot, with or without loops.
    tree : Tree
        Tree of the robot.
    missing : iterable of str
        Values that the request does not name.
    actuated : collection of str
        Joints or values with a motor. If it is empty, all values of a robot with loops count as
        passive, and no value of a robot without loops.

    """
    loops = any(closure.enabled for closure in robot.closures.values())
    unnamed, motors = set(missing), set(actuated)
    return tuple(
        name
        for name, (joint, dof) in zip(tree.names, tree.owner, strict=True)
        if name in unnamed
        and dof not in joint.couplings
        and (not loops or {name, joint.name} & motors or joint.parent is None)
    )


def movable_values(
    tree: Tree, bases: Iterable[Link], staying: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """
    Return the names of the values that may change; None = all values.

    Locked values, values that move one of `bases`, and `staying` do not change. A coupled value
    moves with its master; if it must not move, its master must not move either.

    Parameters
    ----------
    tree : Tree
        Tree of the robot with its present locks.
    bases : iterable of Link
        Links that must not move.
    staying : iterable of str
        Further values that must not change.

    """
    carriers = {frame for base in bases for frame in _path(base)}
    held = {
        _master((joint, dof))
        for joint, dof in tree.owner
        if joint.locked[dof] or joint in carriers
    }
    further = set(staying)
    held.update(axis for name, axis in zip(tree.names, tree.owner, strict=True) if name in further)
    if not held:
        return None
    return tuple(
        name
        for name, axis in zip(tree.names, tree.owner, strict=True)
        if _master(axis) == axis and axis not in held
    )


def _master(axis: Axis) -> Axis:
    joint, dof = axis
    while (coupling := joint.couplings.get(dof)) is not None and not coupling.others:
        joint, dof = coupling.master, coupling.master_dof
    return joint, dof


def _path(frame: Frame | None) -> Iterator[Frame]:
    """Yield a frame and all of its ancestors."""
    while frame is not None:
        yield frame
        frame = frame.parent


def _moves(frame: Frame) -> bool:
    return isinstance(frame, Joint) and bool(frame.dof)
