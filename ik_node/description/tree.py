"""Operations on the trees of links and joints of a description."""

from __future__ import annotations

from collections.abc import Iterator

from ik_node.description.description import Description, WORLD
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import TopologyError
from ik_node.model.by_name import ByName
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Connector, Link
from ik_node.model.rotation import matrix_to_euler, pose_matrix
import numpy as np
from numpy.typing import NDArray


def read_masses(document: XmlDocument, description: Description) -> None:
    """
    Set the mass [kg] and centre of mass [m] of the links of a URDF.

    A link without <inertial> has no mass. The inertia tensor and the rotation in <origin> are not
    read.

    Raises
    ------
    DescriptionError
        With line, if a mass is negative, or a number is not valid or not finite.

    """
    for element in document.root.findall('link'):
        inertial = element.find('inertial')
        if inertial is None:
            continue
        link = description.links[element.attrib['name']]
        mass = inertial.find('mass')
        if mass is None or mass.get('value') is None:
            description.notes.append(f'link {link.name!r}: <inertial> without a mass, taken as 0')
            continue
        link.mass = document.numbers(mass, 'value', (0.0,))[0]
        if link.mass < 0.0:
            raise document.error(
                mass, f'value="{link.mass:g}": the mass of link {link.name!r} is below 0 kg'
            )
        xyz = document.numbers(inertial.find('origin'), 'xyz', (0.0, 0.0, 0.0))
        link.centre_of_mass = np.array(xyz)


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
    """
    Connect joints and links to trees and set the roots.

    Parameters
    ----------
    description : Description
        The links and joints, not yet connected; this function sets `roots`.
    ends : dict of str to (str, str)
        Names of the parent and child link by joint name. No link is the child of two joints, and
        the joints form no ring.

    """
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
