"""Descriptions of several robots, and of a mechanism that was built from objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ik_node.description.description import Description, free_name
from ik_node.errors import TopologyError
from ik_node.model.constraint import Closure, Goal
from ik_node.model.frame import find_roots, Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.tree import build_tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def combine(descriptions: Sequence[Description], base: str, poses: Sequence[Array]) -> Description:
    """
    Join descriptions, whose objects become those of the result; see `ik_node.combine`.

    `poses` are 4x4, of each robot's root frame in the link `base`, which is added as a root if
    none of the robots has it. A robot that has it stays where it is in the root frame.
    """
    result = Description('_'.join(each.name for each in descriptions))
    dialects: dict[str, None] = {}
    for kind in ('links', 'joints', 'closures'):
        owners: dict[str, Description] = {}
        for each in descriptions:
            for name, frame in getattr(each, kind).items():
                first = owners.setdefault(name, each)
                refuse_equal(kind[:-1], name, first.name, each.name, first is not each)
                getattr(result, kind)[name] = frame
    for each in descriptions:
        dialects[each.dialect] = None
        result.parts += each.sources
        result.actuated += each.actuated
        result.notes += each.notes
    result.dialect, result.source = ', '.join(dialects), ', '.join(s.name for s in result.parts)
    if base not in result.links:
        result.links[base] = Link(base)
        result.roots.append(result.links[base])
    for each, pose in zip(descriptions, poses, strict=True):
        for root in each.roots:
            placed = pose @ root.matrix
            if base in each.links:
                root.set_pose(placed)
                result.roots.append(root)
            else:
                _carry(result, base, root, placed)
    return result


def refuse_equal(kind: str, name: str, first: str, second: str, equal: bool = True) -> None:
    """Raise TopologyError if two robots have a thing of the same name."""
    if equal:
        raise TopologyError(
            f'the robots {first!r} and {second!r} both have a {kind} {name!r}; '
            "load one of them with load_robot(..., prefix='left_')"
        )


def _carry(result: Description, base: str, root: Link | Joint, placed: Array) -> None:
    """Hang a root on the base at a pose in it."""
    if isinstance(root, Joint):
        root.set_pose(placed)
        result.links[base].add_child(root)
        return
    joint = Joint(free_name(f'{base}_to_{root.name}', result.joints))
    joint.set_pose(placed)
    root.set_pose(np.eye(4))
    joint.add_child(root)
    result.links[base].add_child(joint)
    result.joints[joint.name] = joint


def poses_of(
    descriptions: Sequence[Description], poses: Mapping[str, Array] | Sequence[Array | None] | None
) -> list[Array | None]:
    """Return the given poses in the order of the descriptions; None = not given."""
    if poses is None:
        return [None] * len(descriptions)
    if not isinstance(poses, Mapping):
        if len(poses) != len(descriptions):
            raise TopologyError(
                f'poses: {len(descriptions)} are needed, one or None for each robot, not '
                f'{len(poses)}'
            )
        return list(poses)
    names = [{each.name, *(root.name for root in each.roots)} for each in descriptions]
    for name in poses:
        if sum(name in own for own in names) != 1:
            known = ', '.join(repr(each) for own in names for each in sorted(own))
            raise TopologyError(f'poses: {name!r} is not one robot or root; known: {known}')
    return [next((poses[name] for name in own if name in poses), None) for own in names]


def from_objects(frames: Frame | Iterable[Frame], name: str) -> tuple[Description, list[Goal]]:
    """
    Return the description of a graph of frames, whose objects it refers to, and its goals.

    A joint that closes on a link becomes one that carries a link of its own, which a closure with
    the joint's name welds to that link. If it has no axes, the closure replaces it.

    """
    roots = find_roots(frames)
    tree = build_tree(roots)  # which gives names to frames without one
    result = Description(name, dialect='objects')
    goals = []
    for frame in tree.carrier:
        if isinstance(frame, Link):
            result.links[frame.name] = frame
        elif isinstance(frame, Goal):
            goals.append(frame)
        elif isinstance(frame, Closure):
            result.closures[frame.name] = frame
        elif isinstance(frame, Joint):
            result.joints[frame.name] = frame
    for joint in [each for each in result.joints.values() if each.is_closure]:
        _weld(joint, result)
    for root in roots:
        if isinstance(root, (Link, Joint)):
            result.roots.append(root)
        elif not isinstance(root, Goal):
            raise TopologyError(f'{root.name!r} is at the root: only links and joints can be')
    if not result.roots:
        raise TopologyError('there is no link or joint')
    return result, goals


def _weld(joint: Joint, result: Description) -> None:
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
        del result.joints[joint.name]
        closure.make_closure(link)
    else:
        end = Link(free_name(f'{link.name}__{joint.name}', result.links))
        joint.add_child(end)
        result.links[end.name] = end
        link.add_child(closure)
        closure.make_closure(end)
    result.closures[closure.name] = closure
