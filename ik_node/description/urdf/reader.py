"""URDF to a model graph; plain URDF is parsed by urdf_parser_py."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.joint_part import JointPart
from ik_node.description.masses import read_masses
from ik_node.description.plant import plant
from ik_node.description.unknown_name import unknown
from ik_node.description.urdf.motors import driven_joints
from ik_node.description.urdf.normal import JointFacts, normalise
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError, IkError, shown
from ik_node.model.link import Link
from ik_node.model.rotation import quat_from_euler
import numpy as np


def read_urdf(document: XmlDocument) -> Description:
    """
    Build links and joints of a URDF; of its loops only those that its joints form.

    Every joint value means what URDF says: with all joints at q, the `matrix_world` of each link
    is the frame that URDF defines.

    Raises
    ------
    DescriptionError
        With file, line and element.

    """
    root = document.root
    description = Description(root.get('name') or 'robot', document.source, dialect='URDF')
    text, facts = normalise(document, description.notes)
    robot = _parse(text, document)
    for link in robot.links:
        description.links[link.name] = Link(link.name)
    motors = driven_joints([*root])
    needed = set(motors)
    for parsed in robot.joints:
        if parsed.mimic is not None:
            needed |= {parsed.name, parsed.mimic.joint}
    parts = []
    for parsed in robot.joints:
        part = _part(parsed, facts[parsed.name], document)
        part.needed = parsed.name in needed
        _check_ends(part, facts[parsed.name].element, description, document)
        parts.append(part)
    description.loops.append(plant(description, parts))
    read_masses(document, description)
    _couple(robot, facts, description, document)
    known = {name: description.joints.get(name) for name in motors}
    description.actuated = [name for name, joint in known.items() if joint and joint.dof]
    return description


def _check_ends(
    part: JointPart, element: Element, description: Description, document: XmlDocument
) -> None:
    for tag, name in (('parent', part.parent), ('child', part.child)):
        if name not in description.links:
            message = unknown('link', name, list(description.links))
            raise document.error(element, f'<{tag}>: {message}')
    if part.parent == part.child:
        message = f'its parent and its child are the same link {shown(part.child)}; it joins two'
        raise document.error(element, message)


def _parse(text: str, document: XmlDocument) -> Any:
    from urdf_parser_py.urdf import URDF  # slow to import

    try:
        return URDF.from_xml_string(text)
    except Exception as error:  # it raises bare Exception and AssertionError too
        raise DescriptionError(f'not a URDF: {error}', source=document.source) from error


def _part(parsed: Any, facts: JointFacts, document: XmlDocument) -> JointPart:
    part = JointPart(parsed.name, facts.type_name, parsed.parent, parsed.child)
    part.line = document.line(facts.element)
    part.position = np.array(parsed.origin.xyz)
    quat_xyzw = facts.quat_xyzw
    part.quat_xyzw = quat_from_euler(*parsed.origin.rpy) if quat_xyzw is None else quat_xyzw
    if parsed.axis is not None:
        part.axis = np.array(parsed.axis)
        part.velocity = parsed.limit.velocity
        part.lower, part.upper = parsed.limit.lower, parsed.limit.upper
    return part


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
                element, f'<mimic>: {shown(joint.name)} and {shown(name)} must have one DoF each'
            )
        coefficients = (parsed.mimic.offset, parsed.mimic.multiplier)
        try:
            joint.couple(joint.dof[0], master, master.dof[0], coefficients)
        except IkError as error:
            raise document.error(element, f'<mimic>: {error}') from None
