"""URDF to a model graph; plain URDF is parsed by urdf_parser_py."""

from __future__ import annotations

from typing import Any

from ik_node.description.description import Description
from ik_node.description.loop import unknown
from ik_node.description.masses import read_masses
from ik_node.description.tree import hang_tree
from ik_node.description.urdf_normal import BALL_TYPES, JointFacts, normalise
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError, IkError, UnsupportedElementError
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_between, quat_conjugate, quat_from_euler, quat_multiply
import numpy as np

# loops and rules of other dialects; said in the notes, so that nothing is dropped in silence
UNREAD = ('loop', 'coupling', 'constraint', 'drake:ball_constraint', 'drake:distance_constraint')


def read_urdf(document: XmlDocument) -> Description:
    """
    Build links and joints of a URDF, without its loops.

    Every joint value means what URDF says: with all joints at q, the `matrix_world` of each link
    is the frame that URDF defines.

    Raises
    ------
    DescriptionError
        With file, line and element.
    TopologyError
        If a link has two parents or the joints form a ring.

    """
    root = document.root
    if any(str(element.tag).startswith('xacro:') for element in root):
        raise document.error(
            root, 'this is xacro, not yet a URDF; expand it first', UnsupportedElementError
        )
    description = Description(root.get('name') or 'robot', document.source, dialect='URDF')
    text, facts = normalise(document, description.notes)
    robot = _parse(text, document)
    for link in robot.links:
        description.links[link.name] = Link(link.name)
    ends: dict[str, tuple[str, str]] = {}
    for parsed in robot.joints:
        joint, child = _joint(parsed, facts[parsed.name])
        for tag, name in (('parent', parsed.parent), ('child', parsed.child)):
            if name not in description.links:
                raise document.error(
                    facts[parsed.name].element,
                    f'<{tag}>: {unknown("link", name, list(description.links))}',
                )
        ends[parsed.name] = (parsed.parent, parsed.child)
        description.joints[parsed.name] = joint
        description.links[parsed.child].set_quaternion(*child)
    hang_tree(description, ends)
    read_masses(document, description)
    _couple(robot, facts, description, document)
    description.actuated = _motors(document, description)
    for tag in UNREAD:
        if root.find(tag) is not None:
            description.notes.append(f'<{tag}> is not read; it is left out')
    if root.find('gazebo/joint') is not None:
        description.notes.append('<gazebo><joint> is not read; it is left out')
    return description


def _parse(text: str, document: XmlDocument) -> Any:
    from urdf_parser_py.urdf import URDF  # slow to import

    try:
        return URDF.from_xml_string(text)
    except Exception as error:  # it raises bare Exception and AssertionError too
        raise DescriptionError(f'not a URDF: {error}', source=document.source) from error


def _joint(parsed: Any, facts: JointFacts) -> tuple[Joint, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return a joint and the orientation of its child link in the moved joint frame."""
    joint = Joint(parsed.name)
    origin = quat_from_euler(*parsed.origin.rpy) if facts.quat_xyzw is None else facts.quat_xyzw
    turn = np.array((0.0, 0.0, 0.0, 1.0))
    if parsed.axis is not None:
        index, turn = _axis_turn(np.array(parsed.axis))
        joint.set_dof(*_axis_dofs(facts.type_name, index))
        velocity = parsed.limit.velocity
        for dof in joint.dof:
            joint.max_velocity[dof] = velocity if len(joint.dof) == 1 else np.inf
        if facts.type_name in ('revolute', 'prismatic'):
            joint.set_limits(joint.dof[0], parsed.limit.lower, parsed.limit.upper)
    elif facts.type_name in BALL_TYPES:
        joint.set_dof(DOF.EX, DOF.EY, DOF.EZ)
    elif facts.type_name == 'floating':
        joint.set_dof(*DOF)
    joint.set_position(*parsed.origin.xyz)
    joint.set_quaternion(*quat_multiply(origin, turn))
    return joint, quat_conjugate(turn)


def _axis_turn(
    axis: np.ndarray[Any, np.dtype[np.float64]],
) -> tuple[int, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return which of X Y Z moves the joint, and the rotation that lays it on the URDF axis."""
    for index in range(3):
        if axis[index] == 1.0:
            return index, np.array((0.0, 0.0, 0.0, 1.0))
    return 2, quat_between((0.0, 0.0, 1.0), axis)


def _axis_dofs(type_name: str, index: int) -> list[DOF]:
    if type_name == 'prismatic':
        return [DOF(index)]
    if type_name == 'planar':  # moves in the plane normal to the axis and turns about it
        return sorted([DOF((index + 1) % 3), DOF((index + 2) % 3), DOF(index + 3)])
    return [DOF(index + 3)]


def _couple(
    robot: Any, facts: dict[str, JointFacts], description: Description, document: XmlDocument
) -> None:
    for parsed in robot.joints:
        if parsed.mimic is None:
            continue
        element, name = facts[parsed.name].element, parsed.mimic.joint
        joint, master = description.joints[parsed.name], description.joints.get(name)
        if master is None:
            message = unknown('joint', name, [joint.name for joint in description.joint_order])
            raise document.error(element, f'<mimic>: {message}')
        if len(joint.dof) != 1 or len(master.dof) != 1:
            raise document.error(
                element, f'<mimic>: {joint.name!r} and {name!r} must have one DoF each'
            )
        coefficients = (parsed.mimic.offset, parsed.mimic.multiplier)
        try:
            joint.couple(joint.dof[0], master, master.dof[0], coefficients)
        except IkError as error:
            raise document.error(element, f'<mimic>: {error}') from None


def _motors(document: XmlDocument, description: Description) -> list[str]:
    """Return the joints that <ros2_control> or else <transmission> drives."""
    driven = [
        joint.get('name')
        for control in document.root.findall('ros2_control')
        for joint in control.findall('joint')
        if joint.find('command_interface') is not None
    ]
    if not driven:
        driven = [joint.get('name') for joint in document.root.findall('transmission/joint')]
    names = {name: description.joints.get(name) for name in driven if name}
    return [name for name, joint in names.items() if joint is not None and joint.dof]
