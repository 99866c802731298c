"""Reader of URDF."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, free_name, LoopSet
from ik_node.description.joint_spec import (
    AXIS_TYPES,
    BALL_TYPES,
    JointSpec,
    limit_text,
    LIMITED_TYPES,
    NAMES,
    note_efforts,
    read_limits,
)
from ik_node.description.tree import hang_joints, read_masses
from ik_node.description.urdf.motors import driven_joints, read_transmissions
from ik_node.description.xml_document import read_origin, XmlDocument
from ik_node.errors import counted, IkError
from ik_node.model.link import Link
import numpy as np
from numpy.typing import NDArray

TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', *BALL_TYPES)


def link_names(document: XmlDocument, notes: list[str]) -> list[str]:
    """Return the names of the links; an undeclared link "world" comes first if a joint uses it."""
    seen: dict[str, Element | None] = {}
    for element in document.root.findall('link'):
        document.once(element, 'link', document.attribute(element, 'name'), seen)
    names = list(seen)
    parents = (joint.find('parent') for joint in joint_elements(document))
    if 'world' not in seen and any(p is not None and p.get('link') == 'world' for p in parents):
        names.insert(0, 'world')
        notes.append('the link "world" is used but not declared; it is taken as the root')
    if not names:
        raise document.error(
            document.root, 'no <link> in it; a robot needs at least one link, not only macros'
        )
    return names


def joint_elements(document: XmlDocument) -> Iterator[Element]:
    """Yield the joints, including <drake:joint> for types that URDF does not have."""
    return (element for element in document.root if element.tag in ('joint', 'drake:joint'))


def read_joint(document: XmlDocument, element: Element, notes: list[str]) -> JointSpec:
    """Read a joint; guesses are appended to the notes."""
    name, type_name = element.attrib['name'], document.word(element, 'type', TYPES)
    parent, child = (
        document.attribute(document.child(element, tag), 'link') for tag in ('parent', 'child')
    )
    spec = JointSpec(name, type_name, parent, child, line=document.line(element))
    spec.position, spec.quat_xyzw = read_origin(document, element.find('origin'))
    if type_name in AXIS_TYPES:
        spec.axis = _axis(document, element, notes)
    elif type_name == 'fixed' and element.find('mimic') is not None:
        notes.append(f'joint {name!r}: it is fixed, its <mimic> is ignored')
    if type_name != 'fixed':
        _read_limit(document, element, spec, notes)
    return spec


def _axis(document: XmlDocument, element: Element, notes: list[str]) -> NDArray[np.float64]:
    axis = element.find('axis')
    drake_plane = element.tag == 'drake:joint' and element.get('type') == 'planar'
    default = (0.0, 0.0, 1.0) if drake_plane else (1.0, 0.0, 0.0)
    xyz = document.numbers(axis, 'xyz', default)
    if axis is None and not drake_plane:
        notes.append(f'joint {element.get("name")!r}: no <axis>, taken as 1 0 0')
    return document.direction(element, xyz)


def _read_limit(
    document: XmlDocument, element: Element, spec: JointSpec, notes: list[str]
) -> None:
    limit, what = element.find('limit'), f'joint {spec.name!r}'
    only_upper = limit_text(limit, 'lower') is None and limit_text(limit, 'upper') is not None
    if spec.type_name in BALL_TYPES and only_upper:
        upper = read_limits(document, element, limit, what, notes).upper
        if upper >= 0.0:
            spec.limits.upper = upper
            return
    if spec.type_name not in (*LIMITED_TYPES, 'continuous'):
        if limit is not None:
            notes.append(
                f'{what}: it is {spec.type_name}, so its <limit> is not used and its values have '
                'no limits'
            )
        return
    missing = [name for name in NAMES[:2] if limit_text(limit, name) is None]
    if missing and spec.type_name in LIMITED_TYPES:
        lacks = 'no <limit>' if limit is None else f'its <limit> has no {" and no ".join(missing)}'
        where = '' if len(missing) == 2 else ' on that side'
        notes.append(f'{what}: {lacks}, taken as unlimited{where}')
    freely = spec.type_name == 'continuous'
    spec.limits = read_limits(document, element, limit, what, notes, turns_freely=freely)


def read_urdf(document: XmlDocument) -> Description:
    """
    Read the links and joints of a URDF, and the loops that its joints form.

    Joint values have URDF's meaning: at q, the `matrix_world` of each link is the frame that URDF
    defines.
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
    seen: dict[str, Element | None] = {}
    mimics: dict[str, Element] = {}
    for element in joint_elements(document):
        joint = document.attribute(element, 'name')
        document.once(element, 'joint', joint, seen)
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
        document.known(element, 'link', name, description.links, f'<{tag}>')
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
    known = [joint.name for joint in description.joint_order]
    if name not in description.joints:
        document.known(element, 'joint', name, known, '<mimic>')
    joint, master = description.joints[follower], description.joints[name]
    if len(joint.dof) != 1 or len(master.dof) != 1:
        message = f'<mimic>: {joint.name!r} and {name!r} must have one DoF each'
        raise document.error(element, message)
    description.coupled_at[follower] = document.source, document.line(mimic)
    try:
        joint.couple(joint.dof[0], master, master.dof[0], (offset, multiplier))
    except IkError as error:
        raise document.error(element, f'<mimic>: {error}') from None
