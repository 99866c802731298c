"""Trees of links and joints: spanning tree, poses, masses, floating base, unused branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, free_name, Loop, LoopFrame, LoopSet, WORLD
from ik_node.description.joint_spec import JointSpec
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import TopologyError
from ik_node.model.attributes import ByName
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Connector, Link
from ik_node.model.rotation import matrix_to_euler, pose_matrix
import numpy as np
from numpy.typing import ArrayLike, NDArray


def set_mass(
    document: XmlDocument, element: Element, link: Link, mass: float, centre: ArrayLike
) -> None:
    """Set the mass [kg] and centre of mass [m] of a link; the inertia tensor is not read."""
    if mass < 0.0:
        raise document.error(element, f'{mass:g}: the mass of link {link.name!r} is below 0 kg')
    link.mass, link.centre_of_mass = mass, np.array(centre)


def read_masses(document: XmlDocument, description: Description) -> None:
    """Read the masses of a URDF: a link without <inertial> has none."""
    for element in document.root.findall('link'):
        inertial = element.find('inertial')
        if inertial is None:
            continue
        link = description.links[element.attrib['name']]
        mass = inertial.find('mass')
        if mass is None or mass.get('value') is None:
            description.notes.append(f'link {link.name!r}: <inertial> without a mass, taken as 0')
            continue
        centre = document.numbers(inertial.find('origin'), 'xyz', (0.0, 0.0, 0.0))
        (value,) = document.numbers(mass, 'value', (0.0,))
        set_mass(document, mass, link, value, centre)


def merge_mass(link: Link, into: Link) -> None:
    """Add the mass of a link to the link that carries it through a fixed joint."""
    if link.parent is None or link.mass == 0.0:
        return
    here = pose_matrix(link.parent.position, link.parent.quaternion)
    there = here @ pose_matrix(link.position, link.quaternion) @ [*link.centre_of_mass, 1.0]
    total = into.mass + link.mass
    into.centre_of_mass = (into.mass * into.centre_of_mass + link.mass * there[:3]) / total
    into.mass = total


WORLD_JOINT = '__world_joint__'


def hang_tree(description: Description, ends: dict[str, tuple[str, str]]) -> None:
    """Connect joints and links to trees and set the roots."""
    children = {child for _, child in ends.values()}
    below: dict[str, list[str]] = {name: [] for name in description.links}
    for joint, (parent, _) in ends.items():
        below[parent].append(joint)
    roots = [name for name in description.links if name not in children]
    order = list(roots)
    for name in order:  # grows during the iteration
        order.extend(ends[joint][1] for joint in below[name])
    for name in reversed(order):  # leaves first: each frame is still a root when it gets children
        for joint in below[name]:
            description.joints[joint].add_child(description.links[ends[joint][1]])
            description.links[name].add_child(description.joints[joint])
    description.roots = [description.links[name] for name in roots]
    if len(roots) > 1:
        listed = ', '.join(map(repr, roots))
        description.notes.append(f'links without a parent: {listed}; each is fixed in the world')


def poses_at_zero(description: Description) -> dict[str, NDArray[np.float64]]:
    """Return the 4x4 pose of every link with all joints at 0, ignoring limits and couplings."""
    poses: dict[Frame | None, NDArray[np.float64]] = {None: np.eye(4)}

    def place(frame: Frame) -> None:
        poses[frame] = poses[frame.parent] @ pose_matrix(frame.position, frame.quaternion)

    for root in description.roots:
        root.traverse(place)
    return {name: poses[link] for name, link in description.links.items()}


def joints_above(frame: Frame) -> Iterator[Joint]:
    """Yield the joints that carry a frame, including fixed ones, nearest first."""
    above = frame.parent
    while above is not None:
        if isinstance(above, Joint):
            yield above
        above = above.parent


def float_roots(description: Description) -> None:
    """
    Add a joint with six DoF above every root, except above a link `world` beside other roots.

    The first joint is named `__world_joint__`, others `__world_joint__:LINK`. The pose of a root
    becomes the joint's value.
    """
    floating: dict[str, Joint] = {}
    moving = [root for root in description.roots if root.name != WORLD]
    still = [root for root in description.roots if root.name == WORLD] if moving else []
    for root in moving or description.roots:
        name = f'{WORLD_JOINT}:{root.name}' if floating else WORLD_JOINT
        joint = Joint(name)
        joint.set_dof(*DOF)
        joint.set_dof_values(*root.position, *matrix_to_euler(root.matrix))
        root.set_position(0.0, 0.0, 0.0)
        root.set_quaternion(0.0, 0.0, 0.0, 1.0)
        joint.add_child(root)
        floating[name] = joint
    for name in floating:
        if name in description.joints:
            raise TopologyError(f'{description.source}: the joint name {name!r} is taken')
    description.joints = ByName('joint', {**floating, **description.joints})
    description.roots = [*floating.values(), *still]


def trim_unused(description: Description) -> None:
    """
    Remove every branch that neither moves nor closes a loop.

    Its mass is added to the link that carried it, so that the robot's centre of mass stays.
    """
    used = {id(link) for link in description.links.values() if _is_used(link)}
    order: list[Link] = []
    for root in description.roots:
        root.traverse(lambda frame: order.append(frame) if isinstance(frame, Link) else None)
    for link in reversed(order):
        joint = link.parent
        parent = None if joint is None else joint.parent
        if not isinstance(joint, Joint) or not isinstance(parent, Link) or joint.dof:
            continue
        if link.children or id(link) in used:
            continue
        merge_mass(link, parent)
        joint.remove_child(link)
        parent.remove_child(joint)
        del description.links[link.name], description.joints[joint.name]


def _is_used(link: Link) -> bool:
    return bool(link.closure_joints) or any(
        isinstance(child, Connector) and child.is_closure for child in link.children
    )


def hang_joints(
    description: Description, specs: Sequence[JointSpec], *, undirected: bool = False
) -> LoopSet:
    """
    Build the spanning tree of a description; return one loop for each joint outside it.

    If a link is the child of several joints, the joint declared first carries it. In a ring
    without a root, the link declared first becomes the root. A joint that closes a loop becomes a
    closure of its type. If its value is needed (it has limits, a motor or a mimic), it stays a
    joint: it gets an end link of its own, which a closure welds to the child link.

    If `undirected`, a joint is reversed (child above parent) where only that connects two links,
    so that every connected component is one tree. Its root is the link `world`, else the first
    link without a parent, else the first link.
    """
    roots, chosen = _choose(description, specs, undirected)
    loops = LoopSet(description.source, 'cycle of joints')
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
        description.roots = [root for root in description.roots if root is not child]
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
