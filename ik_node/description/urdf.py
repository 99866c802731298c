"""Readers of URDF: its motors, transmissions, the elements that ik_node adds, and the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule, Description, free_name, LoopSet, quoted
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
from ik_node.description.loops.couplings import mimic_rule
from ik_node.description.tree import hang_joints, read_masses
from ik_node.description.xml_document import Array, read_origin, XmlDocument
from ik_node.errors import counted
from ik_node.model.link import Link

# Tags of the driven joints in a transmission: of ros_control and ros2_control, then of the PR2.
TRANSMITTED = ('joint', 'leftjoint', 'rightjoint', 'flexjoint', 'rolljoint', 'gap_joint')


def driven_joints(elements: Iterable[Element]) -> list[str]:
    """
    Return the unique names of joints that <ros2_control> or else <transmission> drives.

    A <ros2_control> that drives values of a joint with several DoF names them NAME.X, NAME.EZ.
    """
    commanded: list[Element] = []
    transmitted: list[Element] = []
    for element in elements:
        if element.tag == 'ros2_control':
            joints = element.findall('joint')
            commanded += [each for each in joints if each.find('command_interface') is not None]
        elif element.tag == 'transmission':
            transmitted += [each for each in element if str(each.tag).lower() in TRANSMITTED]
    names = (joint.get('name') for joint in commanded or transmitted)
    return list(dict.fromkeys(filter(None, names)))


def read_joint_elements(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read <joint_coupling> elements, and update joints with <joint_start>.

    Below the root element, `<joint_start joint="..." value="..."/>` is the initial value [rad or
    m] of a joint, and `<joint_coupling joint="..." of="..." coefficients="c0 c1 c2"/>` is a
    coupling q = sum over i of c_i q_of**i; one with several masters has an element
    `<term of="..." coefficients="..."/>` for each, whose sum is q.
    """
    for element in document.root.findall('joint_start'):
        _start(document, element, description)
    elements = document.root.findall('joint_coupling')
    rules = [_coupling(document, element) for element in elements]
    return LoopSet(document.source, 'joint_coupling', couplings=rules)


def _coupling(document: XmlDocument, element: Element) -> CouplingRule:
    joint = document.attribute(element, 'joint')
    terms = [_term(document, each) for each in element.findall('term') or [element]]
    (master, coefficients), *others = terms
    return CouplingRule(joint, master, coefficients, document.line(element), others)


def _term(document: XmlDocument, element: Element) -> tuple[str, list[float]]:
    """Return the master of a coupling, or of one of its terms, and the coefficients."""
    master = document.attribute(element, 'of')
    count = len(document.attribute(element, 'coefficients').split())
    return master, document.numbers(element, 'coefficients', (0.0,) * count)


def _start(document: XmlDocument, element: Element, description: Description) -> None:
    name = document.attribute(element, 'joint')
    document.attribute(element, 'value')
    value = document.numbers(element, 'value', (0.0,))[0]
    values = description.values
    document.known(element, 'joint value', name, values)
    joint, dof = values[name]
    joint.set_dof_value(dof, value)


DIFFERENTIAL, FOUR_BAR = 'DifferentialTransmission', 'FourBarLinkageTransmission'
# Spellings in ros_control and in ros2_control.
REDUCTIONS = ('mechanicalReduction', 'mechanical_reduction')


def read_transmissions(
    document: XmlDocument, specs: list[JointSpec], notes: list[str]
) -> list[CouplingRule]:
    """
    Return the couplings of differential and four-bar transmissions; their motors become joints.

    With the joint positions j less their offsets, the reductions r of the joints and a of the
    motors, the motor positions are those of ROS's `transmission_interface`: differential
    a_1 (r_1 j_1 + r_2 j_2) and a_2 (r_1 j_1 - r_2 j_2), four-bar a_1 r_1 j_1 and
    a_2 (j_1 + r_2 j_2). A motor turns on the parent link of the first joint.
    """
    rules: list[CouplingRule] = []
    # Our own writer has written these couplings as such.
    known = {element.get('joint') for element in document.root.findall('joint_coupling')}
    for element, kind in _transmissions(document.root):
        motors, joints = (_by_role(element, tag) for tag in ('actuator', 'joint'))
        specs_by_name = {spec.name: spec for spec in specs}
        single = {spec.name for spec in specs if spec.type_name in ('continuous', *LIMITED_TYPES)}
        unread = [name for name in joints if name not in single]
        title = repr(element.get('name'))
        if len(motors) != 2 or len(joints) != 2 or unread:
            notes.append(
                f'transmission {title} is not read: a {kind} has two actuators and two joints'
                + (f', and {quoted(unread)} is no joint with one value' if unread else '')
            )
            continue
        if not known.isdisjoint(motors):
            continue
        (a_1, _), (a_2, _) = (_numbers(document, each) for each in motors.values())
        (r_1, o_1), (r_2, o_2) = (_numbers(document, each) for each in joints.values())
        rows = [(a_1 * r_1, a_1 * r_2), (a_2 * r_1, -a_2 * r_2)]
        if kind == FOUR_BAR:
            rows = [(a_1 * r_1, 0.0), (a_2, a_2 * r_2)]
        first, second = joints
        for name, (c_1, c_2) in zip(motors, rows, strict=True):
            motor = f'{name}_motor' if name in joints else name
            rule = CouplingRule(motor, first, [-c_1 * o_1, c_1], document.line(element))
            if c_2 != 0.0:
                rule.others = [(second, [-c_2 * o_2, c_2])]
            rules.append(rule)
            if motor not in specs_by_name:
                carrier = specs_by_name[first].parent
                specs.append(JointSpec(motor, 'continuous', carrier, f'{motor}_rotor'))
        notes.append(
            f'transmission {title}: its motors {quoted(motors)} are joints that follow '
            f'{quoted(joints)}'
        )
    return rules


def _transmissions(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield the transmissions with two motors, and their kind."""
    for element in (*root.findall('transmission'), *root.findall('ros2_control/transmission')):
        text = element.findtext('type') or element.findtext('plugin')
        kind = (text or element.get('type') or '').strip().rpartition('/')[2]
        if kind in (DIFFERENTIAL, FOUR_BAR):
            yield element, kind


def _by_role(element: Element, tag: str) -> dict[str, Element]:
    """Return the actuators or joints by name, in the order of their roles."""
    result = element.findall(tag)
    result.sort(key=lambda each: (each.get('role') or each.findtext('role') or '').strip())
    return {each.get('name', ''): each for each in result if each.get('name')}


def _numbers(document: XmlDocument, element: Element) -> tuple[float, float]:
    """Return the reduction and the offset of an actuator or joint."""
    given = next((each for each in map(element.find, REDUCTIONS) if each is not None), None)
    (reduction,) = document.text_numbers(given, (1.0,))
    (offset,) = document.text_numbers(element.find('offset'), (0.0,))
    return reduction, offset


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


def read_joint(document: XmlDocument, element: Element, description: Description) -> JointSpec:
    """Read a joint; guesses are appended to the notes of the description."""
    name, type_name = element.attrib['name'], document.word(element, 'type', TYPES)
    notes = description.notes
    parent, child = (
        document.attribute(document.child(element, tag), 'link') for tag in ('parent', 'child')
    )
    spec = JointSpec(name, type_name, parent, child, line=document.line(element))
    spec.position, spec.quat_xyzw = read_origin(document, element.find('origin'))
    if type_name in AXIS_TYPES:
        spec.axis = _axis(document, element, description)
    elif type_name == 'fixed' and element.find('mimic') is not None:
        notes.append(f'joint {name!r}: it is fixed, its <mimic> is ignored')
    if type_name != 'fixed':
        _read_limit(document, element, spec, notes)
    return spec


def _axis(document: XmlDocument, element: Element, description: Description) -> Array:
    axis = element.find('axis')
    drake_plane = element.tag == 'drake:joint' and element.get('type') == 'planar'
    default = (0.0, 0.0, 1.0) if drake_plane else (1.0, 0.0, 0.0)
    xyz = document.numbers(axis, 'xyz', default)
    if axis is None and not drake_plane:
        description.no_axis.append(element.attrib['name'])
        description.notes.append(f'joint {element.get("name")!r}: no <axis>, taken as 1 0 0')
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
    motors = driven_joints(root)
    needed = set(motors)
    specs: list[JointSpec] = []
    seen: dict[str, Element | None] = {}
    mimics: list[CouplingRule] = []
    for element in joint_elements(document):
        joint = document.attribute(element, 'name')
        document.once(element, 'joint', joint, seen)
        spec = read_joint(document, element, description)
        _check_ends(spec, element, description, document)
        specs.append(spec)
        mimic = element.find('mimic')
        if mimic is not None and spec.type_name in AXIS_TYPES:
            leader = document.attribute(mimic, 'joint')
            mimics.append(mimic_rule(document, joint, leader, mimic))
    declared = len(specs)
    rules = read_transmissions(document, specs, description.notes)
    for spec in specs[declared:]:
        spec.child = free_name(spec.child, description.links)
        description.links[spec.child] = Link(spec.child)
    for rule in mimics + rules:
        needed |= {rule.joint, *(name for name, _ in rule.terms)}
    for spec in specs:
        spec.needed = spec.name in needed
    _note_soft_limits(document, description.notes)
    description.loops.append(hang_joints(description, specs))
    description.loops.append(LoopSet(document.source, couplings=mimics))
    description.loops.append(LoopSet(document.source, 'transmissions', couplings=rules))
    read_masses(document, description)
    movable = {*description.values, *(joint.name for joint in description.joint_order)}
    description.actuated = [name for name in motors if name in movable]
    note_efforts(specs, description.actuated or seen, description.notes)
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
