"""Reader of couplings in an SDFormat file: mimic, screw and gearbox."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import tau
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule
from ik_node.description.joint_spec import JointSpec
from ik_node.description.sdf.frame_graph import FrameGraph
from ik_node.description.sdf.joint import SdfJoint
from ik_node.description.sums import rule_of_sum
from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import MAX_NUMBER, XmlDocument
import numpy as np
from numpy.typing import NDArray

PARALLEL = 1e-6


def read_couplings(
    document: XmlDocument, graph: FrameGraph, joints: dict[str, SdfJoint], notes: list[str]
) -> list[CouplingRule]:
    """
    Return the couplings of joint values, and mark the coupled joints as needed.

    Raises
    ------
    DescriptionError
        If a joint follows an unknown joint, or one without a single value.

    """
    rules, hinges = [], _hinges(joints.values())
    for joint in joints.values():
        rules += _mimics(document, joint, joints)
        if joint.type_name == 'screw':
            ratio = _pitch(document, joint.frame.element, notes) / tau
            rules.append(_rule(joint.specs[1], joint.specs[0], [0.0, ratio]))
        elif joint.type_name == 'gearbox':
            rules += _gears(document, graph, joint, hinges, rules, notes)
    return rules


def _rule(follower: JointSpec, leader: JointSpec, coefficients: list[float]) -> CouplingRule:
    follower.needed = leader.needed = True
    return CouplingRule(follower.name, leader.name, coefficients, follower.line)


# -- mimic


def _mimics(
    document: XmlDocument, joint: SdfJoint, joints: dict[str, SdfJoint]
) -> list[CouplingRule]:
    elements = {tag: axis.element for tag, axis in joint.axes.items()}
    found = [(tag, each.find('mimic')) for tag, each in elements.items() if each is not None]
    found.append(('axis', joint.frame.element.find('drake:mimic')))
    rules = []
    for tag, mimic in found:
        if mimic is None:
            continue
        name = document.attribute(mimic, 'joint').strip()
        prefix = joint.name.removesuffix(joint.frame.element.attrib['name'])
        leader = joints.get(prefix + name)
        if leader is None:
            message = unknown('joint', prefix + name, list(joints))
            raise document.error(joint.frame.element, f'<{mimic.tag}>: {message}')
        specs = [joint.spec_of(tag), leader.spec_of(mimic.get('axis', 'axis').strip() or 'axis')]
        follower, ahead = specs
        if follower is None or ahead is None:
            message = f'{joint.name!r} and {leader.name!r} must have one value each'
            raise document.error(joint.frame.element, f'<{mimic.tag}>: {message}')
        factor, offset, reference = (
            _mimic_number(document, mimic, what, default)
            for what, default in (('multiplier', 1.0), ('offset', 0.0), ('reference', 0.0))
        )
        rules.append(_rule(follower, ahead, [offset - factor * reference, factor]))
    return rules


def _mimic_number(document: XmlDocument, mimic: Element, name: str, default: float) -> float:
    """Return a number that is an attribute (Drake) or a child element (SDFormat)."""
    if mimic.get(name) is not None:
        return document.numbers(mimic, name, (default,))[0]
    return document.text_numbers(mimic.find(name), (default,))[0]


# -- screw


def _pitch(document: XmlDocument, element: Element, notes: list[str]) -> float:
    """Return the travel [m] of a screw along its axis per turn."""
    pitch = element.find('screw_thread_pitch')
    if pitch is not None:
        return document.text_numbers(pitch, (1.0,))[0]
    old = element.find('thread_pitch')
    if old is None:
        notes.append(
            f'joint {element.get("name")!r}: no <screw_thread_pitch>, taken as 1 m per turn'
        )
        return 1.0
    turn = document.text_numbers(old, (1.0,))[0]  # [rad/m], above 0 for a left-handed thread
    if abs(turn) * MAX_NUMBER < tau:
        raise document.error(old, f'{turn:g}: expected a value in [rad/m] other than 0')
    return -tau / turn


# -- gearbox


def _gears(
    document: XmlDocument,
    graph: FrameGraph,
    joint: SdfJoint,
    hinges: Mapping[str, Sequence[SdfJoint]],
    rules: Sequence[CouplingRule],
    notes: list[str],
) -> list[CouplingRule]:
    """
    Return the coupling of a gearbox: angle of the child = -ratio * angle of the parent.

    The child turns about <axis2> and the parent about <axis>, both relative to the reference body.
    Each angle is the sum of those of the hinges between: a reference body may be a moving carrier.
    """
    element = joint.frame.element
    ratio = document.text_numbers(element.find('gearbox_ratio'), (1.0,))[0]
    name = element.findtext('gearbox_reference_body', '').strip()
    if not name:
        notes.append(f'joint {joint.name!r}: no <gearbox_reference_body>, its gears are not read')
        return []
    base = graph.link(joint.frame.scope.need(name, element, '<gearbox_reference_body>'))
    terms: dict[str, list[float]] = {}
    specs: dict[str, JointSpec] = {}
    for which, tag, factor in (('child', 'axis2', 1.0), ('parent', 'axis', ratio)):
        link = graph.link(graph.end(joint.frame, which))
        axis = graph.pose(joint.frame)[:3, :3] @ joint.axes[tag].direction
        found = _angle_between(graph, (base.link_name, link.link_name), axis, hinges)
        if found is None:
            notes.append(
                f'joint {joint.name!r}: its gears are not read, as no revolute joint '
                f'connects {link.link_name!r} with {base.link_name!r} about the '
                f"gearbox's <{tag}>"
            )
            return []
        for spec, sign in found:
            specs[spec.name] = spec
            _, before = terms.get(spec.name, (0.0, 0.0))
            terms[spec.name] = [0.0, before + factor * sign]
    rule = rule_of_sum(terms, rules)
    if rule is None:
        notes.append(f'joint {joint.name!r}: its gears are not used, as its joints follow others')
        return []
    for each in terms:
        specs[each].needed = True
    rule.line = specs[rule.joint].line
    return [rule]


def _angle_between(
    graph: FrameGraph,
    ends: tuple[str, str],
    axis: NDArray[np.float64],
    hinges: Mapping[str, Sequence[SdfJoint]],
) -> list[tuple[JointSpec, float]] | None:
    """
    Return the revolute joints between two links about an axis, and the signs of their angles.

    The last joint comes first. None = the links are not connected by such joints alone.
    """
    start, end = ends
    ways: dict[str, list[tuple[JointSpec, float]]] = {start: []}
    waiting = deque([start])
    while waiting:
        link = waiting.popleft()
        for joint in hinges.get(link, ()):
            (spec,) = joint.specs
            other = spec.child if spec.parent == link else spec.parent
            cosine = float(axis @ graph.pose(joint.frame)[:3, :3] @ spec.axis)
            if other not in ways and abs(cosine) > 1.0 - PARALLEL:
                sign = np.sign(cosine) * (1.0 if spec.parent == link else -1.0)
                ways[other] = [(spec, float(sign)), *ways[link]]
                waiting.append(other)
    return ways.get(end) or None


def _hinges(joints: Iterable[SdfJoint]) -> dict[str, list[SdfJoint]]:
    """Return the revolute joints by each of the links that they connect."""
    found: dict[str, list[SdfJoint]] = {}
    for joint in joints:
        if joint.type_name in ('revolute', 'continuous'):
            (spec,) = joint.specs
            for link in (spec.parent, spec.child):
                found.setdefault(link, []).append(joint)
    return found
