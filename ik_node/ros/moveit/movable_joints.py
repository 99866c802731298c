"""Which joint values a request for inverse kinematics may change."""

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
    Tell whether `base` moves and `tip` moves on it: is above it, with a movable joint between.

    A pose of `tip` in the frame of such a link is one relative to it, whatever moves them both.
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
    Return those of the values that a request does not name which stay where the node has them.

    An answer cannot speak of them, so that what rests on their motion would be wrong. Passive
    joints of loops go where the loops take them all the same. What follows another value goes
    where that takes it.

    Parameters
    ----------
    robot : Robot
        With loops, or without.
    tree : Tree
        Its own.
    missing : iterable of str
        Values that the request does not name.
    actuated : collection of str
        Joints or values with a motor; empty = not known: of a robot with loops all count as
        passive then, of one without none.

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
    Return the names of the values that may change; None = all.

    Locked values may not, nor may what moves one of `bases`, nor `staying`. What follows another
    value moves along with that, and holds it when it is held itself.

    Parameters
    ----------
    tree : Tree
        Of the robot, with its locks as of now.
    bases : iterable of Link
        Links that stay where they are.
    staying : iterable of str
        Further values that stay.

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
    while dof in joint.couplings:
        coupling = joint.couplings[dof]
        joint, dof = coupling.master, coupling.master_dof
    return joint, dof


def _path(frame: Frame | None) -> Iterator[Frame]:
    """Yield a frame and all above it."""
    while frame is not None:
        yield frame
        frame = frame.parent


def _moves(frame: Frame) -> bool:
    return isinstance(frame, Joint) and bool(frame.dof)
