"""Reader of URDF."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.build_tree import hang_joints
from ik_node.description.description import Description, LoopSet
from ik_node.description.joint_spec import AXIS_TYPES, JointSpec, note_efforts
from ik_node.description.tree import read_masses
from ik_node.description.unknown_name import free_name, unknown
from ik_node.description.urdf.joint_elements import driven_joints
from ik_node.description.urdf.joints import joint_elements, link_names, read_joint
from ik_node.description.urdf.transmissions import read_transmissions
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import counted, IkError
from ik_node.model.link import Link


def read_urdf(document: XmlDocument) -> Description:
    """
    Read the links and joints of a URDF, and the loops that its joints form.

    Joint values have URDF's meaning: at q, the `matrix_world` of each link is the frame that URDF
    defines.

    Raises
    ------
    DescriptionError
        With file, line and element.

    """
    root = document.root
    name = root.get('name')
    description = Description(name or 'robot', document.source, dialect='URDF')
    if not name:
        description.notes.append('the robot has no name')
    for link in link_names(document, description.notes):
        description.links[link] = Link(link)
    motors = driven_joints([*root])
    needed = set(motors)
    specs: list[JointSpec] = []
    elements: dict[str, Element] = {}
    mimics: dict[str, Element] = {}
    for element in joint_elements(document):
        joint = document.attribute(element, 'name')
        if joint in elements:
            first = document.line(elements[joint])
            raise document.error(element, f'a joint of that name is declared on line {first}')
        elements[joint] = element
        spec = read_joint(document, element, description.notes)
        _check_ends(spec, element, description, document)
        specs.append(spec)
        mimic = element.find('mimic')
        if mimic is not None and spec.type_name in AXIS_TYPES:
            mimics[joint] = mimic
            needed |= {joint, document.attribute(mimic, 'joint')}
    declared = len(specs)
    rules = read_transmissions(document, specs, description.notes)
    for spec in specs[declared:]:
        spec.child = free_name(spec.child, description.links)
        description.links[spec.child] = Link(spec.child)
    needed |= {name for rule in rules for name in (rule.joint, *(each for each, _ in rule.terms))}
    for spec in specs:
        spec.needed = spec.name in needed
        own = elements.get(spec.name)
        if own is not None and spec.type_name in AXIS_TYPES and own.find('axis') is None:
            description.no_axis.append(spec.name)
    _note_soft_limits(document, description.notes)
    description.loops.append(hang_joints(description, specs))
    described = 'transmissions' if rules else ''
    description.loops.append(LoopSet(document.source, described, couplings=rules))
    read_masses(document, description)
    for joint, mimic in mimics.items():
        _couple(joint, elements[joint], mimic, description, document)
    known = {name: description.joints.get(name) for name in motors}
    description.actuated = [name for name, joint in known.items() if joint and joint.dof]
    note_efforts(specs, description.actuated or elements, description.notes)
    return description


def _check_ends(
    spec: JointSpec, element: Element, description: Description, document: XmlDocument
) -> None:
    for tag, name in (('parent', spec.parent), ('child', spec.child)):
        if name not in description.links:
            message = unknown('link', name, list(description.links))
            raise document.error(element, f'<{tag}>: {message}')
    if spec.parent == spec.child:
        message = f'its parent and its child are the same link {spec.child!r}'
        raise document.error(element, message)


def _note_soft_limits(document: XmlDocument, notes: list[str]) -> None:
    soft = [
        element
        for element in document.root.findall('joint/safety_controller')
        if element.get('soft_lower_limit') or element.get('soft_upper_limit')
    ]
    if soft:
        notes.append(
            f'soft limits (<safety_controller>, {counted(len(soft), "joint")}) are not used'
        )


def _couple(
    follower: str,
    element: Element,
    mimic: Element,
    description: Description,
    document: XmlDocument,
) -> None:
    offset = document.numbers(mimic, 'offset', (0.0,))[0]
    multiplier = document.numbers(mimic, 'multiplier', (1.0,))[0]
    name = mimic.attrib['joint']
    joint, master = description.joints[follower], description.joints.get(name)
    if master is None:
        message = unknown('joint', name, [joint.name for joint in description.joint_order])
        raise document.error(element, f'<mimic>: {message}')
    if len(joint.dof) != 1 or len(master.dof) != 1:
        raise document.error(
            element, f'<mimic>: {joint.name!r} and {name!r} must have one DoF each'
        )
    description.coupled_at[follower] = document.source, document.line(mimic)
    try:
        joint.couple(joint.dof[0], master, master.dof[0], (offset, multiplier))
    except IkError as error:
        raise document.error(element, f'<mimic>: {error}') from None
