"""Reader of the transmissions in a URDF that connect two motors with two joints."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule
from ik_node.description.joint_spec import JointSpec, LIMITED_TYPES
from ik_node.description.unknown_name import quoted
from ik_node.description.xml_document import XmlDocument

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

    Parameters
    ----------
    document : XmlDocument
        The URDF.
    specs : list of JointSpec
        The joints; motors are appended that are not among them.
    notes : list of str
        Transmissions that are read, or cannot be, are appended.

    Raises
    ------
    DescriptionError
        If a number is not valid.

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
    found = element.findall(tag)
    found.sort(key=lambda each: (each.get('role') or each.findtext('role') or '').strip())
    return {each.get('name', ''): each for each in found if each.get('name')}


def _numbers(document: XmlDocument, element: Element) -> tuple[float, float]:
    """Return the reduction and the offset of an actuator or joint."""
    given = next((each for each in map(element.find, REDUCTIONS) if each is not None), None)
    (reduction,) = document.text_numbers(given, (1.0,))
    (offset,) = document.text_numbers(element.find('offset'), (0.0,))
    return reduction, offset
