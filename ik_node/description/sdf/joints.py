"""Readers of the joints of SDFormat, and of their couplings: mimic, screw and gearbox."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, tau
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule
from ik_node.description.joint_spec import JointSpec, Limits, read_limits
from ik_node.description.loops.couplings import mimic_rule, rule_of_sum
from ik_node.description.sdf.frames import FrameGraph, SdfFrame
from ik_node.description.xml_document import Array, is_true, MAX_NUMBER, XmlDocument
from ik_node.model.rotation import pose_inverse, unit
import numpy as np


@dataclass
class SdfAxis:
    """An axis of a joint."""

    element: Element | None  # <axis> or <axis2>
    direction: Array  # Unit vector (3,) in the joint frame
    limits: Limits  # Infinite = none; for the effort, negative also means no limit, and 0 no motor


def _read_axis(
    document: XmlDocument, graph: FrameGraph, joint: SdfFrame, tag: str, notes: list[str]
) -> SdfAxis:
    element, what = joint.element.find(tag), f'joint {joint.name!r}'
    xyz = limit = None
    if element is None:
        notes.append(f'{what}: no <{tag}>, taken as 0 0 1')
    else:
        xyz, limit = element.find('xyz'), element.find('limit')
    direction = document.text_numbers(xyz, (0.0, 0.0, 1.0))
    axis = document.direction(joint.element, direction)
    turned = None if element is None else _expressed_in(element, graph.version, joint, notes)
    if turned is not None:
        there, here = graph.pose(turned)[:3, :3], graph.pose(joint)[:3, :3]
        axis = unit(here.T @ there @ axis)
    freely = joint.element.get('type', '').strip().lower() == 'continuous'
    limits = read_limits(document, joint.element, limit, what, notes, turns_freely=freely)
    return SdfAxis(element, axis, limits)


def _expressed_in(
    element: Element, version: tuple[int, ...], joint: SdfFrame, notes: list[str]
) -> SdfFrame | None:
    """Return the frame in which an axis is given; None for the joint's frame."""
    xyz = element.find('xyz')
    name = '' if xyz is None else xyz.get('expressed_in', '').strip()
    if name:
        return joint.scope.need(name, joint.element, f'<{element.tag}><xyz expressed_in>')
    in_model = is_true(element.findtext('use_parent_model_frame'))
    if version < (1, 7):
        return joint.scope.frame if version < (1, 5) or in_model else None
    if in_model:
        notes.append(
            f'joint {joint.name!r}: <use_parent_model_frame> ended with SDFormat 1.6 '
            'and is ignored; use expressed_in="__model__"'
        )
    return None


ONE_AXIS = ('revolute', 'continuous', 'prismatic', 'screw')
TWO_AXES = ('universal', 'revolute2')
TYPES = (*ONE_AXIS, *TWO_AXES, 'ball', 'fixed', 'gearbox')
MUST_CLOSE = 'physics/simbody/must_be_loop_joint'
APART = 1e-6  # [m]
DRAKE_TYPES = ('planar', 'drake:planar')


@dataclass
class SdfJoint:
    """A joint of the file, and the joints made from it."""

    frame: SdfFrame
    type_name: str
    # One joint, or two in series: for a universal or revolute2 joint, NAME about <axis> and
    # NAME_axis2 about <axis2>; for a screw, NAME, which turns, and NAME_slide, which follows it.
    # A gearbox has none, because it only couples two others.
    specs: list[JointSpec] = field(default_factory=list)
    axes: dict[str, SdfAxis] = field(default_factory=dict)  # The axes by tag, 'axis' and 'axis2'

    @property
    def name(self) -> str:
        """Return the scoped name."""
        return self.frame.name

    def spec_of(self, tag: str) -> JointSpec | None:
        """Return the joint that moves about <axis> or <axis2>, if it is a single value."""
        if tag not in self.axes or not self.specs:
            return None
        return self.specs[list(self.axes).index(tag)]


def read_joint(
    document: XmlDocument, graph: FrameGraph, frame: SdfFrame, notes: list[str]
) -> SdfJoint:
    """Read a joint, whose frames are those of the links' poses in the file."""
    element, drake = frame.element, frame.kind == 'drake:joint'
    type_name = document.word(element, 'type', DRAKE_TYPES if drake else TYPES)
    type_name = type_name.removeprefix('drake:')
    joint = SdfJoint(frame, type_name)
    tags = ('axis', 'axis2') if type_name in (*TWO_AXES, 'gearbox') else ('axis',)
    if type_name in (*ONE_AXIS, *TWO_AXES, 'gearbox'):
        for tag in tags:
            joint.axes[tag] = _read_axis(document, graph, frame, tag, notes)
    elif element.find('axis/limit') is not None and type_name != 'fixed':
        notes.append(
            f'joint {frame.name!r}: it is of type {type_name}, so its <limit> is not used'
        )
    if type_name != 'gearbox':
        _divide(document, graph, joint, notes)
    return joint


def _divide(document: XmlDocument, graph: FrameGraph, joint: SdfJoint, notes: list[str]) -> None:
    """Make the joint specifications of a joint."""
    held = graph.end(joint.frame, 'parent')
    parent, child = (graph.link(each) for each in (held, graph.end(joint.frame, 'child')))
    if parent is child:
        message = f'its parent and its child are the same link {child.link_name!r}'
        raise document.error(joint.frame.element, message)
    here = graph.pose(joint.frame)
    away = float(np.max(np.abs(graph.pose(held)[:3, 3] - here[:3, 3])))
    if held.kind == 'frame' and away > APART:
        notes.append(
            f'joint {joint.name!r}: its parent frame {held.name!r} is {away:.3g} m away '
            'from it at the poses in the file; as SDFormat requires, the links keep these poses'
        )
    first = JointSpec(joint.name, joint.type_name, parent.link_name, child.link_name)
    first.line = document.line(joint.frame.element)
    first.place(pose_inverse(graph.pose(parent)) @ here)
    last = first
    if joint.type_name in ('screw', *TWO_AXES):
        kind, name = 'revolute', f'{joint.name}_axis2'
        if joint.type_name == 'screw':
            kind, name = 'prismatic', f'{joint.name}_slide'
        between = f'{joint.name}__between'
        last = JointSpec(name, kind, between, first.child, line=first.line)
        first.child, first.type_name = between, 'revolute'
    last.place(child=pose_inverse(here) @ graph.pose(child))
    joint.specs = [first] if last is first else [first, last]
    last.must_close = is_true(joint.frame.element.findtext(MUST_CLOSE))
    if joint.type_name == 'planar':
        first.axis = np.array((0.0, 0.0, 1.0))
    for spec, axis in zip(joint.specs, joint.axes.values(), strict=False):
        spec.axis, effort = axis.direction, axis.limits.effort
        # The format defines negative numbers as no limit, so they need no note.
        spec.limits = replace(axis.limits, effort=effort if effort >= 0.0 else inf)
    if joint.type_name == 'screw':
        last.axis = first.axis


PARALLEL = 1e-6


def read_couplings(
    document: XmlDocument, graph: FrameGraph, joints: dict[str, SdfJoint], notes: list[str]
) -> list[CouplingRule]:
    """Return the couplings of joint values, and mark the coupled joints as needed."""
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
    result = [(tag, each.find('mimic')) for tag, each in elements.items() if each is not None]
    result.append(('axis', joint.frame.element.find('drake:mimic')))
    rules = []
    for tag, mimic in result:
        if mimic is None:
            continue
        name = document.attribute(mimic, 'joint').strip()
        prefix = joint.name.removesuffix(joint.frame.element.attrib['name'])
        document.known(joint.frame.element, 'joint', prefix + name, joints, f'<{mimic.tag}>')
        leader = joints[prefix + name]
        follower = joint.spec_of(tag)
        ahead = leader.spec_of(mimic.get('axis', 'axis').strip() or 'axis')
        if follower is None or ahead is None:
            message = f'{joint.name!r} and {leader.name!r} must have one value each'
            raise document.error(joint.frame.element, f'<{mimic.tag}>: {message}')
        rule = mimic_rule(document, follower.name, ahead.name, mimic)
        rules.append(_rule(follower, ahead, rule.coefficients))
    return rules


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
    slope = document.text_numbers(old, (1.0,))[0]  # [rad/m], above 0 for a left-handed thread
    if abs(slope) * MAX_NUMBER < tau:
        raise document.error(old, f'{slope:g}: expected a value in [rad/m] other than 0')
    return -tau / slope


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
        result = _angle_between(graph, (base.link_name, link.link_name), axis, hinges)
        if result is None:
            notes.append(
                f'joint {joint.name!r}: its gears are not read, as no revolute joint '
                f'connects {link.link_name!r} with {base.link_name!r} about the '
                f"gearbox's <{tag}>"
            )
            return []
        for spec, sign in result:
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
    graph: FrameGraph, ends: tuple[str, str], axis: Array, hinges: Mapping[str, Sequence[SdfJoint]]
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
    result: dict[str, list[SdfJoint]] = {}
    for joint in joints:
        if joint.type_name in ('revolute', 'continuous'):
            (spec,) = joint.specs
            for link in (spec.parent, spec.child):
                result.setdefault(link, []).append(joint)
    return result
