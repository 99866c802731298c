"""The description of a mechanism that was built from objects."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.description.description import Description
from ik_node.description.unknown_name import free_name
from ik_node.errors import TopologyError
from ik_node.model.closure import Closure
from ik_node.model.frame import find_roots, Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.tree import build_tree


def from_objects(frames: Frame | Iterable[Frame], name: str) -> tuple[Description, list[Goal]]:
    """
    Return the description of a graph of frames, whose objects it refers to, and its goals.

    A joint that closes on a link becomes one that carries a link of its own, which a closure with
    the joint's name welds to that link. If it has no axes, the closure replaces it.

    Raises
    ------
    TopologyError
        If the graph cannot be read, or a root is no link or joint.

    """
    roots = find_roots(frames)
    tree = build_tree(roots)  # which gives names to frames without one
    found = Description(name, dialect='objects')
    goals = []
    for frame in tree.carrier:
        if isinstance(frame, Link):
            found.links[frame.name] = frame
        elif isinstance(frame, Goal):
            goals.append(frame)
        elif isinstance(frame, Closure):
            found.closures[frame.name] = frame
        elif isinstance(frame, Joint):
            found.joints[frame.name] = frame
    for joint in [each for each in found.joints.values() if each.is_closure]:
        _weld(joint, found)
    for root in roots:
        if isinstance(root, (Link, Joint)):
            found.roots.append(root)
        elif not isinstance(root, Goal):
            raise TopologyError(f'{root.name!r} is at the root: only links and joints can be')
    if not found.roots:
        raise TopologyError('there is no link or joint')
    return found, goals


def _weld(joint: Joint, found: Description) -> None:
    """Replace the closure of a joint on a link by a closure of its own."""
    link, parent = joint.child, joint.parent
    if link is None:
        return
    joint.remove_child(link)
    closure = Closure(joint.name)
    if not joint.dof and isinstance(parent, Link):
        closure.set_pose(joint.matrix)
        parent.remove_child(joint)
        parent.add_child(closure)
        del found.joints[joint.name]
        closure.make_closure(link)
    else:
        end = Link(free_name(f'{link.name}__{joint.name}', found.links))
        joint.add_child(end)
        found.links[end.name] = end
        link.add_child(closure)
        closure.make_closure(end)
    found.closures[closure.name] = closure
