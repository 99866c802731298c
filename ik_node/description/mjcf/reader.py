"""Readers of MJCF: of its equalities and actuators, and of the whole file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import zip_longest
from xml.etree.ElementTree import Element

from ik_node.description.description import (
    CouplingRule,
    Description,
    Loop,
    LoopFrame,
    LoopSet,
    Names,
    quoted,
)
from ik_node.description.joint_spec import JointSpec, Limits
from ik_node.description.loops.couplings import rule_of_sum
from ik_node.description.mjcf.bodies import (
    BodyReader,
    compose,
    MjcfBody,
    MjcfJoint,
    MjcfSum,
    no_pose,
    Range,
    read_masses,
    UNLIMITED,
)
from ik_node.description.mjcf.document import (
    ACTUATOR,
    Defaults,
    MjcfDocument,
    Pose,
    read_settings,
    Settings,
    SMALLEST,
)
from ik_node.description.tree import hang_joints
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.link import Link
from ik_node.model.rotation import quat_conjugate, quat_identity, quat_to_matrix, unit
import numpy as np
from numpy.polynomial import Polynomial


class EqualityReader:
    """A reader of connect, weld, joint and tendon equalities, and of the tendons they use."""

    def __init__(
        self, document: MjcfDocument, reader: BodyReader, defaults: Defaults, notes: list[str]
    ) -> None:
        self._document = document
        self._notes = notes
        self._bodies = {body.name: body for body in reader.bodies}
        self._joints = {joint.name: joint for joint in reader.joints}
        self._sites = {
            name: (body, pose) for body in reader.bodies for name, pose in body.sites.items()
        }
        self._poses: dict[MjcfBody | None, Pose] = {None: no_pose()}
        for body in reader.bodies:
            self._poses[body] = compose(self._poses[body.parent], body.pose)
        self._tendons = {each.get('name', ''): each for each in document.root.findall('tendon/*')}
        self.loops: list[Loop] = []
        self.sums: list[MjcfSum] = []
        declared: dict[str, Element | None] = {}
        for element in document.root.findall('equality/*'):
            if element.get('name'):
                document.once(element, 'equality', element.get('name', ''), declared)
        self._names = Names(declared)
        self.used_tendons: set[str | None] = set()
        readers = {
            **dict.fromkeys(('connect', 'weld'), self._read_constraint),
            **dict.fromkeys(('joint', 'tendon'), self._read_sum),
        }
        for element in document.root.findall('equality/*'):
            if element.tag in readers:
                readers[element.tag](defaults.fill_up(element, None, 'equality'))
            elif element.tag.startswith('flex'):
                self._note(element, 'connects soft objects')
            else:
                message = 'this equality is not supported; allowed: connect weld joint tendon'
                raise document.error(element, message, UnsupportedElementError)

    def _read_sum(self, element: Element) -> None:
        """
        Read L1 - p(L2) = 0, whose L are joint values or lengths of tendons.

        A value or length counts from that at the joints' `ref`.
        """
        kind = element.tag
        names = [self._document.attribute(element, f'{kind}1'), element.get(f'{kind}2')]
        lengths = [self._length(name, element) for name in names if name]
        given = self._document.some_numbers(element, 'polycoef', 5)
        coefficients = given + [0.0, 1.0, 0.0, 0.0, 0.0][len(given) :]
        if not all(lengths):
            return
        first, second = [*lengths, {}][:2]
        if len(second) > 1 and any(coefficients[2:]):
            self._note(element, f'is a curve in the sum of {len(second)} joints')
            return
        terms = {name: [0.0, factor] for name, factor in first.items()}
        for name, factor in second.items():
            own = terms.get(name, [])
            powers = [-c * factor**power for power, c in enumerate(coefficients)]
            powers[0] = 0.0
            terms[name] = [sum(pair) for pair in zip_longest(own, powers, fillvalue=0.0)]
        terms[next(iter(terms))][0] -= coefficients[0]
        active = self._document.is_true(element, 'active', 'true')
        follower = names[0] if kind == 'joint' and names[1] else None
        self.sums.append(MjcfSum(terms, follower, active, self._document.line(element)))
        self.used_tendons.update(names)

    def _length(self, name: str, element: Element) -> dict[str, float]:
        """Return the factors of the joints in a joint value or the length of a fixed tendon."""
        document, result = self._document, dict[str, float]()
        if element.tag == 'joint':
            self._check(name, element)
            return {name: 1.0}
        document.known(element, 'tendon', name, self._tendons)
        if self._tendons[name].tag != 'fixed':
            self._note(element, f'connects the spatial tendon {name!r}')
            return {}
        for each in self._tendons[name].findall('joint'):
            joint = document.attribute(each, 'joint')
            self._check(joint, each)
            factor = document.numbers(each, 'coef', (1.0,))[0]
            result[joint] = result.get(joint, 0.0) + factor
        return result

    def _check(self, name: str, element: Element) -> None:
        """Raise DescriptionError if a name is not that of a hinge or slide."""
        self._document.known(element, 'joint', name, self._joints)
        if self._joints[name].kind not in ('hinge', 'slide'):
            message = f'the joint {name!r} is neither a hinge nor a slide'
            raise self._document.error(element, message)

    def _note(self, element: Element, reason: str) -> None:
        line = self._document.line(element)
        self._notes.append(f'<equality>: <{element.tag}> on line {line} {reason}; it is not read')

    def _read_constraint(self, element: Element) -> None:
        kind, document = element.tag, self._document
        by_sites, by_bodies = (
            any(element.get(what + end) is not None for end in '12') for what in ('site', 'body')
        )
        if by_sites == by_bodies:
            message = 'expected body1="..." and, as needed, body2, or else site1 and site2'
            raise document.error(element, message)
        first, second = ('site1', 'site2') if by_sites else ('body1', 'body2')
        names = [document.attribute(element, first)]
        names.append(document.attribute(element, second) if by_sites else '')
        names[1] = names[1] or element.get(second) or 'world'
        known = self._sites if by_sites else self._bodies
        for name in names:
            document.known(element, first[:4], name, known)
        if by_sites:
            (body_a, pose_a), (body_b, pose_b) = (self._sites[name] for name in names)
        else:
            body_a, body_b = (self._bodies[name] for name in names)
            pose_a, pose_b = self._frames(element, body_a, body_b)
        torque = document.numbers(element, 'torquescale', (1.0,))[0]
        loop = Loop(
            element.get('name') or self._names.unique(f'{names[0]}_{names[1]}_{kind}'),
            LoopFrame(body_a.name, *pose_a),
            LoopFrame(body_b.name, *pose_b),
            'weld' if kind == 'weld' and torque != 0.0 else 'point',
            enabled=document.is_true(element, 'active', 'true'),
            line=document.line(element),
        )
        mocap = next((body.name for body in (body_a, body_b) if body.mocap), None)
        if body_a is body_b:
            self._notes.append(f'equality {loop.name!r} connects body {body_a.name!r} to itself')
            return
        if mocap is not None and loop.enabled:
            loop.enabled = False
            self._notes.append(
                f'equality {loop.name!r} drags the robot with the mocap body {mocap!r}; it is a '
                'disabled closure'
            )
        self.loops.append(loop)

    def _frames(self, element: Element, first: MjcfBody, second: MjcfBody) -> tuple[Pose, Pose]:
        """Return the frames in two bodies that coincide in the model as written."""
        document, here, there = self._document, self._poses[first], self._poses[second]
        if element.tag == 'connect':
            document.attribute(element, 'anchor')
        anchor = np.array(document.numbers(element, 'anchor', (0.0, 0.0, 0.0)))
        if element.tag == 'connect':
            point = here[0] + quat_to_matrix(here[1]) @ anchor
            back = quat_to_matrix(there[1]).T @ (point - there[0])
            return (anchor, quat_identity()), (back, quat_identity())
        at_anchor = anchor, quat_identity()
        x, y, z, qw, qx, qy, qz = document.numbers(element, 'relpose', (0.0,) * 7)
        if max(map(abs, (qw, qx, qy, qz))) > SMALLEST:
            return (np.array((x, y, z)), unit((qx, qy, qz, qw))), at_anchor
        inverse = quat_conjugate(here[1])
        back = quat_to_matrix(inverse) @ (there[0] - here[0])
        placed = quat_to_matrix(there[1]) @ anchor, there[1]
        return compose((back, inverse), placed), at_anchor


# The attributes of <general> with which the force is gainprm[0] times the control input, and
# their defaults.
PROPORTIONAL = {'gaintype': 'fixed', 'biastype': 'none', 'dyntype': 'none'}
MOST_GAINS = 100


def read_actuators(
    document: MjcfDocument,
    joints: list[MjcfJoint],
    sums: list[MjcfSum],
    settings: Settings,
    defaults: Defaults,
    notes: list[str],
) -> list[str]:
    """
    Return the joints that actuators drive, and note actuators that drive no joint.

    An actuator of a fixed tendon drives the only joint of the tendon that follows no other joint;
    its force does not limit the effort of that joint. The efforts of the actuators of one joint
    add up, and are limited to the range in the joint itself.
    """
    known = {joint.name for joint in joints}
    follows = {each.follower for each in sums if each.enabled}
    tendons = {
        tendon.get('name', ''): [joint.get('joint', '') for joint in tendon.findall('joint')]
        for tendon in document.root.findall('tendon/fixed')
    }
    driven: dict[str, list[Range]] = {}
    others: Counter[str] = Counter()
    for element in document.root.findall('actuator/*'):
        name = element.get('joint') or element.get('jointinparent')
        tendon = element.get('tendon')
        free = [each for each in tendons.get(tendon or '', ()) if each not in follows]
        efforts = UNLIMITED
        if name in known:
            filled = defaults.fill_up(element, None, ACTUATOR)
            efforts = _efforts(document, filled, settings)
        elif name is None and len(free) == 1:
            name = free[0]
        if name in known:
            driven.setdefault(name, []).append(efforts)
        elif name is not None:
            notes.append(f'{_shown(element)}: there is no joint {name!r}')
        elif tendon is not None:
            pulls = ' '.join(tendons.get(tendon, ()))
            through = f'the tendon {tendon!r}' + (f' of {pulls}' if pulls else '')
            notes.append(f'{_shown(element)} pulls {through}; no joint counts as driven by it')
        else:
            others[element.tag] += 1
    for tag, count in others.items():
        notes.append(f'{count} <{tag}> actuators act on no joint; they are not read')
    for joint in joints:
        if joint.name in driven:
            lowest, highest = (sum(ends) for ends in zip(*driven[joint.name], strict=True))
            joint.efforts = _within((lowest, highest), joint.efforts)
    return list(driven)


def _efforts(document: MjcfDocument, element: Element, settings: Settings) -> Range:
    """Return the efforts on a hinge or slide of an actuator with its class filled in."""
    force = document.limits(element, 'forcerange', 'forcelimited', settings.autolimits)
    control = document.limits(element, 'ctrlrange', 'ctrllimited', settings.autolimits)
    proportional = all(element.get(name, value) == value for name, value in PROPORTIONAL.items())
    if element.tag == 'motor' or (element.tag == ACTUATOR and proportional):
        gain = 1.0
        if element.tag != 'motor':
            gain = [*document.some_numbers(element, 'gainprm', MOST_GAINS), 1.0][0]
        force = _within(_scaled(control, gain), force)
    gear = [*document.some_numbers(element, 'gear', 6), 1.0][0]
    return _scaled(force, gear)


def _scaled(limits: Range, factor: float) -> Range:
    if limits == UNLIMITED:
        return limits
    ends = limits[0] * factor, limits[1] * factor
    return min(ends), max(ends)


def _within(limits: Range, outer: Range) -> Range:
    """Return a range clipped to another one."""
    lower, upper = (min(max(each, outer[0]), outer[1]) for each in limits)
    return lower, upper


def _shown(element: Element) -> str:
    name = element.get('name')
    return f'actuator <{element.tag}>' if name is None else f'actuator {name!r}'


TYPES = {'ball': 'spherical', 'free': 'floating', 'slide': 'prismatic'}


def build(reader: BodyReader, description: Description) -> None:
    """
    Fill a description with links, joints and masses.

    Joint values are those of MuJoCo: at its `ref`, a joint has the pose in the file. For a free
    joint, X Y Z are the first three numbers of its qpos; EX EY EZ rotate the body from its pose in
    the file about the world's axes. For a ball joint, EX EY EZ are the Euler angles of its
    quaternion.
    """
    links = Names(body.name for body in reader.bodies)
    joints = Names(joint.name for joint in reader.joints)
    specs: list[JointSpec] = []
    for body in reader.bodies:
        if body.parent is not None:
            _add_body(body, body.parent.name, specs, links, joints, description)
        link = description.links[body.name] = Link(body.name)
        link.mass, link.centre_of_mass = body.mass, np.array(body.centre_of_mass)
        for site, pose in body.sites.items():
            name = links.unique(f'{site}_site' if site in links.taken else site)
            if name != site:
                description.notes.append(
                    f'the name of site {site!r} is taken; it is renamed to {name!r}'
                )
            description.links[name] = Link(name)
            specs.append(_fixed(f'{name}_fixed', body.name, name, pose, joints))
    hang_joints(description, specs)
    _start(reader.bodies, description)


def _fixed(name: str, parent: str, child: str, pose: Pose, joints: Names) -> JointSpec:
    spec = JointSpec(joints.unique(name), 'fixed', parent, child)
    spec.position, spec.quat_xyzw = pose
    return spec


def _add_body(
    body: MjcfBody,
    parent: str,
    specs: list[JointSpec],
    links: Names,
    joints: Names,
    description: Description,
) -> None:
    """Append a body's joints in series, with massless links between them."""
    pose = body.pose
    if not body.joints:
        specs.append(_fixed(f'{body.name}_fixed', parent, body.name, pose, joints))
        if body.mocap:
            description.notes.append(
                f'body {body.name!r} is a mocap body, which programs move; it is fixed here'
            )
    for joint in body.joints:
        is_last = joint is body.joints[-1]
        child = body.name if is_last else links.unique(f'{body.name}__{joint.name}')
        if not is_last:
            description.links[child] = Link(child)
        specs.append(_joint_spec(joint, parent, child, pose))
        parent, pose = child, no_pose()


def _joint_spec(joint: MjcfJoint, parent: str, child: str, pose: Pose) -> JointSpec:
    """Return a joint between two links; `pose` is that of the body before the motion."""
    hinge = 'revolute' if np.isfinite(joint.limits).any() else 'continuous'
    spec = JointSpec(joint.name, TYPES.get(joint.kind, hinge), parent, child)
    if joint.kind == 'free':
        spec.child_quat_xyzw = pose[1]
        return spec
    back = quat_identity()
    if joint.kind == 'hinge' and joint.ref:
        back = np.append(-np.sin(0.5 * joint.ref) * joint.axis, np.cos(0.5 * joint.ref))
    place = joint.position - joint.ref * joint.axis * (joint.kind == 'slide')
    spec.position, spec.quat_xyzw = compose(pose, (place, back))
    spec.child_position = -joint.position
    spec.axis = joint.axis
    spec.limits = Limits(*joint.limits, effort=max(map(abs, joint.efforts)))
    return spec


def _start(bodies: list[MjcfBody], description: Description) -> None:
    """Set the joint values of the model as written, and note the meaning of values of many DoF."""
    kinds: dict[str, list[str]] = {'free': [], 'ball': []}
    for body in bodies:
        for joint in body.joints:
            if joint.kind == 'free':
                description.joints[joint.name].set_dof_values(*body.pose[0], 0.0, 0.0, 0.0)
            elif joint.kind != 'ball' and joint.ref:
                description.joints[joint.name].set_dof_values(joint.ref)
            if joint.kind in kinds:
                kinds[joint.kind].append(joint.name)
    if kinds['free']:
        description.notes.append(
            f'free joint {quoted(kinds["free"])}: X Y Z are the first three numbers of qpos; EX '
            "EY EZ (Rz Ry Rx) rotate the body from its pose in the file, about the world's axes"
        )
    if kinds['ball']:
        description.notes.append(
            f'ball joint {quoted(kinds["ball"])}: EX EY EZ are the Euler angles (Rz Ry Rx) of qpos'
        )


def _couplings(
    sums: list[MjcfSum], joints: list[MjcfJoint], description: Description
) -> list[CouplingRule]:
    """Return coupling rules without cycles, at most one per joint."""
    references = {joint.name: joint.ref for joint in joints}
    rules: list[CouplingRule] = []
    for each in sums:
        if not each.enabled:
            joint = repr(next(iter(each.terms)))
            description.notes.append(f'the equality of joint {joint} is inactive; it is not read')
            continue
        terms = {name: _shifted(p, references[name]) for name, p in each.terms.items()}
        moving = [name for name, polynomial in terms.items() if any(polynomial[1:])]
        if len(moving) == 1 and len(terms[moving[0]]) == 2:
            (name,) = moving
            stays = -sum(polynomial[0] for polynomial in terms.values()) / terms[name][1]
            moved = description.joints[name]
            moved.set_limits(moved.dof[0], stays, stays)
            description.notes.append(f'joint {name!r} is held at {stays:g} by an equality')
            continue
        rule = rule_of_sum(terms, rules, () if each.follower else description.actuated, each.line)
        if rule is not None:
            rules.append(rule)
            continue
        description.notes.append(
            f'the equality of joints {quoted(terms)} is not used: other equalities already '
            f'determine {next(iter(terms))!r}'
        )
    return rules


def _shifted(numbers: list[float], ref: float) -> list[float]:
    """Return the c_i of sum c_i q**i = sum a_i (q - ref)**i."""
    shifted = Polynomial(numbers)(Polynomial((-ref, 1.0))).trim().coef.tolist()
    return [*shifted, 0.0] if len(shifted) < 2 else shifted


# Sections that need no note: they are read elsewhere, or do not affect the kinematics.
SILENT = (
    *('compiler', 'option', 'size', 'visual', 'statistic', 'default', 'asset', 'worldbody'),
    *('contact', 'equality', 'tendon', 'actuator', 'sensor', 'custom', 'extension', 'keyframe'),
)


def note_the_rest(
    document: MjcfDocument, used_tendons: Collection[str | None], notes: list[str]
) -> None:
    """Note the elements of other sections that are not read."""
    tendons = document.root.findall('tendon/*')
    unread = [each for each in tendons if each.get('name', '') not in used_tendons]
    if unread:
        notes.append(f'{len(unread)} tendons are not read, as no equality couples joints by them')
    keys = [key.get('name', '') for key in document.root.findall('keyframe/*')]
    if keys:
        notes.append(
            f'{len(keys)} keyframes are not read: {quoted(keys)}; the start is the pose in '
            'the file'
        )
    if document.root.find('deformable') is not None:
        notes.append('<deformable> is not read: soft objects have no joints')
    tags = {str(each.tag) for each in document.root} - {*SILENT, 'deformable'}
    for tag in sorted(tags):
        notes.append(f'<{tag}> is not read')


def read_mjcf(document: XmlDocument) -> Description:
    """Read the links, joints, loops and couplings of an MJCF."""
    whole = MjcfDocument(document)
    name = whole.root.get('model')
    description = Description(name or 'robot', document.source, dialect='MJCF')
    notes = description.notes
    if not name:
        notes.append('the model has no name')
    settings, defaults, reader = read_bodies(whole, notes)
    read_masses(whole, reader.bodies, settings, notes)
    equalities = EqualityReader(whole, reader, defaults, notes)
    motors = read_actuators(whole, reader.joints, equalities.sums, settings, defaults, notes)
    description.actuated = motors
    note_the_rest(whole, equalities.used_tendons, notes)
    build(reader, description)
    loops = LoopSet(document.source, 'equality', equalities.loops)
    loops.couplings = _couplings(equalities.sums, reader.joints, description)
    description.loops.append(loops)
    return description


def read_bodies(document: MjcfDocument, notes: list[str]) -> tuple[Settings, Defaults, BodyReader]:
    """Return the settings, the classes and the bodies of an MJCF."""
    settings = read_settings(document)
    defaults = Defaults(document)
    return settings, defaults, BodyReader(document, settings, defaults, notes)
