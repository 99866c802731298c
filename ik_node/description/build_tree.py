# flake8: noqa: E203
"""Spanning tree of the joints that a description declares, and the loops that remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, WORLD
from ik_node.description.joint_spec import JointSpec
from ik_node.description.tree import hang_tree
from ik_node.description.unknown_name import free_name
from ik_node.model.frame import Frame
from ik_node.model.link import Link


def hang_joints(
    description: Description, specs: Sequence[JointSpec], *, undirected: bool = False
) -> LoopSet:
    """
    Build the spanning tree of a description; the joints outside it become loops.

    If a link is the child of several joints, the joint declared first carries it. In a ring
    without a root, the link declared first becomes the root. A joint that closes a loop becomes a
    closure of its type. If its value is needed (it has limits, a motor or a mimic), it stays a
    joint: it gets an end link of its own, which a closure welds to the child link.

    Parameters
    ----------
    description : Description
        The links are declared. This function fills in the joints and roots.
    specs : sequence of JointSpec
        The joints between these links, in the description's order.
    undirected : bool
        True to reverse a joint (child above parent) where only that connects two links, so that
        every connected component is one tree. Its root is the link `world`, else the first link
        without a parent, else the first link.

    Returns
    -------
    LoopSet
        One loop for each joint outside the tree.

    """
    roots, chosen = _choose(description, specs, undirected)
    loops = LoopSet(description.source)
    ends: dict[str, tuple[str, str]] = {}
    for index, spec in enumerate(specs):
        if index not in chosen:
            loop, kept = _close(description, spec)
            loops.loops.append(loop)
            if kept is None:
                continue
            hung = kept
        else:
            hung = spec.turned_round() if chosen[index] else spec
        _hang(description, hung)
        ends[hung.name] = (hung.parent, hung.child)
    if loops.loops:
        loops.dialect = 'cycle of joints'
    hang_tree(description, ends)
    rank = {name: order for order, name in enumerate(roots)}
    description.roots.sort(key=lambda root: rank.get(root.name, len(rank)))
    return loops


def add_joint(description: Description, spec: JointSpec) -> Loop | None:
    """
    Add a joint between links that are already in a tree.

    If the child is the root of a different tree, the joint connects the two trees. Otherwise it
    closes a loop, as in `hang_joints`, and this function returns the loop.
    """
    parent, child = description.links[spec.parent], description.links[spec.child]
    top: Frame = parent
    while child.parent is None and top.parent is not None:
        top = top.parent
    loop = None
    if child.parent is None and top is not child:
        _carry(description, child, top)
        description.notes.append(f'joint {spec.name!r} carries the tree of link {spec.child!r}')
    else:
        loop, kept = _close(description, spec)
        if kept is None:
            return loop
        spec = kept
    name, spec.name = spec.name, free_name(spec.name, description.joints)
    if spec.name != name:
        description.notes.append(
            f'joint: the name {name!r} is taken, it is renamed to {spec.name!r}'
        )
    _hang(description, spec)
    description.joints[spec.name].add_child(description.links[spec.child])
    parent.add_child(description.joints[spec.name])
    return loop


def _carry(description: Description, child: Frame, top: Frame) -> None:
    """Remove a root from the list; the root of the tree that will carry it takes its position."""
    places = {id(root): place for place, root in enumerate(description.roots)}
    first = min(places[id(child)], places[id(top)])
    carrier = description.roots[places[id(top)]]
    rest = [root for root in description.roots if root is not child and root is not top]
    description.roots = [*rest[:first], carrier, *rest[first:]]


def _hang(description: Description, spec: JointSpec) -> None:
    """Add an unconnected joint and set the pose of its child link in it."""
    joint, position, quat_xyzw = spec.make()
    description.joints[spec.name] = joint
    link = description.links[spec.child]
    link.set_position(*position)
    link.set_quaternion(*quat_xyzw)


def _close(description: Description, spec: JointSpec) -> tuple[Loop, JointSpec | None]:
    """
    Convert a joint that would close a loop into a closure.

    If the value of the joint is needed, also return a joint to keep in the tree.
    """
    where = f'joint {spec.name!r} closes a loop: {spec.child!r} is already in the tree'
    if not spec.has_value:
        description.notes.append(f'{where}; it is a closure of type {spec.type_name}')
        return spec.loop(), None
    end_link = free_name(f'{spec.child}__{spec.name}', description.links)
    description.links[end_link] = Link(end_link)
    description.notes.append(
        f'{where}; as its value has limits or is needed, it stays a joint and its end '
        f'{end_link!r} is welded to the link'
    )
    loop = Loop(spec.name, LoopFrame(end_link), LoopFrame(spec.child), 'weld', line=spec.line)
    return loop, replace(spec, child=end_link)


def _choose(
    description: Description, specs: Sequence[JointSpec], undirected: bool
) -> tuple[list[str], dict[int, bool]]:
    """Return the roots, and the joints of the tree by index with True for a reversed joint."""
    above: dict[str, list[str]] = {name: [] for name in description.links}
    below: dict[str, list[tuple[bool, bool, int, str]]] = {name: [] for name in description.links}
    for index, spec in enumerate(specs):
        above[spec.child].append(spec.parent)
        below[spec.parent].append((spec.must_close, False, index, spec.child))
        if undirected:
            below[spec.child].append((spec.must_close, True, index, spec.parent))
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
    """Return the first declared link of the ring that is reached upwards from a link."""
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = above[link][0]
    return min(path[path.index(link) :], key=order.index)
