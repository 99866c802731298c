"""Readers of motors in a URDF, and of the elements that ik_node's writer adds to one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule, Description, LoopSet, MOST_COEFFICIENTS
from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint

# Tags of the driven joints in a transmission: of ros_control and ros2_control, then of the PR2.
TRANSMITTED = ('joint', 'leftjoint', 'rightjoint', 'flexjoint', 'rolljoint', 'gap_joint')


def driven_joints(elements: Sequence[Element]) -> list[str]:
    """
    Return the unique names of joints that <ros2_control> or else <transmission> drives.

    Parameters
    ----------
    elements : sequence of Element
        Children of the root element of a URDF.

    """
    return commanded_joints(elements) or _names(
        child
        for element in elements
        if element.tag == 'transmission'
        for child in element
        if str(child.tag).lower() in TRANSMITTED
    )


def commanded_joints(elements: Iterable[Element]) -> list[str]:
    """Return the names of joints, or values such as NAME.EZ, that <ros2_control> drives."""
    return _names(
        joint
        for element in elements
        if element.tag == 'ros2_control'
        for joint in element.findall('joint')
        if joint.find('command_interface') is not None
    )


def _names(joints: Iterable[Element]) -> list[str]:
    return list(dict.fromkeys(filter(None, (joint.get('name') for joint in joints))))


LIMITS = ('lower', 'upper', 'velocity', 'effort')


def read_joint_elements(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read <joint_coupling> elements, and update joints with <joint_start> and `unlimited`.

    Below the root element, `<joint_start joint="..." value="..."/>` is the initial value [rad or
    m] of a joint, and `<joint_coupling joint="..." of="..." coefficients="c0 c1 c2"/>` is a
    coupling q = sum over i of c_i q_of**i; one with several masters has an element
    `<term of="..." coefficients="..."/>` for each, whose sum is q. `unlimited="lower velocity"`
    in a <limit> lists the limits that do not exist; their numbers are there for other programs
    only. A <ros2_control> that drives values of a joint with several DoF names them NAME.X,
    NAME.EZ.

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    for element in document.root.findall('joint'):
        limit = element.find('limit')
        if limit is not None and limit.get('unlimited') is not None:
            _unlimit(document, limit, description.joints.get(element.get('name', '')))
    for element in document.root.findall('joint_start'):
        _start(document, element, description)
    elements = document.root.findall('joint_coupling')
    rules = [_coupling(document, element) for element in elements]
    loop_set = LoopSet(document.source, 'joint_coupling' if rules else '', couplings=rules)
    motors = _value_motors(document, description)
    if motors != description.actuated:
        loop_set.actuated = motors
    return loop_set


def _unlimit(document: XmlDocument, limit: Element, joint: Joint | None) -> None:
    names = limit.get('unlimited', '').split()
    if not set(names) <= set(LIMITS):
        raise document.error(
            limit, f'unlimited="{" ".join(names)[:60]}": expected some of {" ".join(LIMITS)}'
        )
    if joint is None or len(joint.dof) != 1:
        return
    dof = joint.dof[0]
    if 'velocity' in names:
        joint.max_velocity[dof] = inf
    if 'effort' in names:
        joint.max_effort[dof] = inf
    lower, upper = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
    joint.set_limits(dof, -inf if 'lower' in names else lower, inf if 'upper' in names else upper)


def _coupling(document: XmlDocument, element: Element) -> CouplingRule:
    joint = document.attribute(element, 'joint')
    terms = [_term(document, each) for each in element.findall('term') or [element]]
    (master, coefficients), *others = terms
    return CouplingRule(joint, master, coefficients, document.line(element), others)


def _term(document: XmlDocument, element: Element) -> tuple[str, list[float]]:
    """Return the master of a coupling, or of one of its terms, and the coefficients."""
    master = document.attribute(element, 'of')
    count = len(document.attribute(element, 'coefficients').split())
    if count > MOST_COEFFICIENTS:
        raise document.error(
            element, f'{count} coefficients; expected 1 to {MOST_COEFFICIENTS} numbers'
        )
    return master, document.numbers(element, 'coefficients', (0.0,) * count)


def _start(document: XmlDocument, element: Element, description: Description) -> None:
    name = document.attribute(element, 'joint')
    document.attribute(element, 'value')
    value = document.numbers(element, 'value', (0.0,))[0]
    found = _value(name, description)
    if found is None:
        names = [each for joint in description.joint_order for each in joint.value_names]
        raise document.error(element, unknown('joint value', name, names))
    joint, dof = found
    joint.set_dof_value(dof, value)


def _value_motors(document: XmlDocument, description: Description) -> list[str]:
    """Return the joints and single joint values that <ros2_control> drives."""
    known = [
        name
        for name in commanded_joints(document.root)
        if name in description.actuated or _value(name, description) is not None
    ]
    return known if len(known) > len(description.actuated) else description.actuated


def _value(name: str, description: Description) -> tuple[Joint, DOF] | None:
    """Return the joint and axis of a value NAME, or NAME.EZ for a joint with several."""
    joint = description.joints.get(name)
    if joint is not None:
        return (joint, joint.dof[0]) if len(joint.dof) == 1 else None
    base, _, axis = name.rpartition('.')
    joint = description.joints.get(base)
    for dof in [] if joint is None else joint.dof:
        if joint is not None and dof.name == axis:
            return joint, dof
    return None
