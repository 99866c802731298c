# flake8: noqa: E203
"""Joints between links to a tree, and what closes loops in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, WORLD
from ik_node.description.joint_spec import JointPart
from ik_node.description.tree import hang_tree
from ik_node.description.unknown_name import free_name
from ik_node.errors import shown
from ik_node.model.frame import Frame
from ik_node.model.link import Link


def plant(
    description: Description, parts: Sequence[JointPart], *, undirected: bool = False
) -> LoopSet:
    """
    Hang joints and links under one another; joints that are too many become loops.

    The joint declared first keeps a link that is the child of several. Of a ring without a root
    the link declared first becomes the root. A joint that closes a loop becomes a closure of its
    type, unless its value is asked for (limits, a motor, a mimic): then it stays a joint, with an
    end of its own that is welded to the link.

    Parameters
    ----------
    description : Description
        Has the links; joints and roots are filled.
    parts : sequence of JointPart
        Their links exist. In the description's order.
    undirected : bool
        Whether a joint may hang the other way round, child above parent, where only that
        connects: what is connected is then one tree. It begins at the link `world`, else at the
        first without a parent, else at the first.

    Returns
    -------
    LoopSet
        One loop a joint that is too many.

    """
    roots, chosen = _choose(description, parts, undirected)
    loops = LoopSet(description.source)
    ends: dict[str, tuple[str, str]] = {}
    for index, part in enumerate(parts):
        if index not in chosen:
            loop, kept = _close(description, part)
            loops.loops.append(loop)
            if kept is None:
                continue
            hung = kept
        else:
            hung = part.turned_round() if chosen[index] else part
        _hang(description, hung)
        ends[hung.name] = (hung.parent, hung.child)
    if loops.loops:
        loops.dialect = 'cycle of joints'
    hang_tree(description, ends)
    rank = {name: order for order, name in enumerate(roots)}
    description.roots.sort(key=lambda root: rank.get(root.name, len(rank)))
    return loops


def add_joint(description: Description, part: JointPart) -> Loop | None:
    """
    Add a joint to links that hang in their trees already.

    It becomes part of the tree if its child is the root of another tree than its parent's;
    else it closes a loop, which is returned, as `plant` says.
    """
    parent, child = description.links[part.parent], description.links[part.child]
    top: Frame = parent
    while child.parent is None and top.parent is not None:
        top = top.parent
    loop = None
    if child.parent is None and top is not child:
        _carry(description, child, top)
        description.notes.append(
            f'joint {shown(part.name)} carries the tree of link {shown(part.child)}'
        )
    else:
        loop, kept = _close(description, part)
        if kept is None:
            return loop
        part = kept
    name, part.name = part.name, free_name(part.name, description.joints)
    if part.name != name:
        description.notes.append(
            f'joint: the name {shown(name)} is taken, it is {shown(part.name)}'
        )
    _hang(description, part)
    description.joints[part.name].add_child(description.links[part.child])
    parent.add_child(description.joints[part.name])
    return loop


def _carry(description: Description, child: Frame, top: Frame) -> None:
    """Take a root off the list; its place goes to the root of the tree that will carry it."""
    places = {id(root): place for place, root in enumerate(description.roots)}
    first = min(places[id(child)], places[id(top)])
    carrier = description.roots[places[id(top)]]
    rest = [root for root in description.roots if root is not child and root is not top]
    description.roots = [*rest[:first], carrier, *rest[first:]]


def _hang(description: Description, part: JointPart) -> None:
    """Add a joint, not yet connected, and place its child link in it."""
    joint, position, quat_xyzw = part.make()
    description.joints[part.name] = joint
    link = description.links[part.child]
    link.set_position(*position)
    link.set_quaternion(*quat_xyzw)


def _close(description: Description, part: JointPart) -> tuple[Loop, JointPart | None]:
    """Return the loop that a joint closes and, where its value is asked for, the joint to keep."""
    where = (
        f'joint {shown(part.name)} closes a loop: {shown(part.child)} hangs in the tree already'
    )
    if not part.has_value:
        description.notes.append(f'{where}; it is a closure of type {part.type_name}')
        return part.loop(), None
    twin = free_name(f'{part.child}__{part.name}', description.links)
    description.links[twin] = Link(twin)
    description.notes.append(
        f'{where}; as its value has limits or is asked for, it stays a joint and its end '
        f'{shown(twin)} is welded to the link'
    )
    loop = Loop(part.name, LoopFrame(twin), LoopFrame(part.child), 'weld', line=part.line)
    return loop, replace(part, child=twin)


def _choose(
    description: Description, parts: Sequence[JointPart], undirected: bool
) -> tuple[list[str], dict[int, bool]]:
    """Return the roots, and per joint of the tree whether it hangs the other way round."""
    above: dict[str, list[str]] = {name: [] for name in description.links}
    below: dict[str, list[tuple[bool, bool, int, str]]] = {name: [] for name in description.links}
    for index, part in enumerate(parts):
        above[part.child].append(part.parent)
        below[part.parent].append((part.must_close, False, index, part.child))
        if undirected:
            below[part.child].append((part.must_close, True, index, part.parent))
    roots: list[str] = []
    chosen: dict[int, bool] = {}
    reached: set[str] = set()
    order = list(description.links)
    starts = [name for name in order if not above[name]]
    if undirected:
        starts = []
        order.sort(key=lambda name: (name != WORLD, bool(above[name])))
    for first in order:
        if first not in reached and not starts:
            starts = [first if undirected else _ring_start(first, above, order)]
        roots += starts
        reached.update(starts)
        heap = sorted(edge for start in starts for edge in below[start])
        starts = []
        while heap:
            _, turned, index, link = heappop(heap)
            if link in reached:
                continue
            reached.add(link)
            chosen[index] = turned
            for edge in below[link]:
                heappush(heap, edge)
    return roots, chosen


def _ring_start(link: str, above: dict[str, list[str]], order: list[str]) -> str:
    """Return the link declared first of the ring that is found upwards of a link."""
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = above[link][0]
    return min(path[path.index(link) :], key=order.index)
