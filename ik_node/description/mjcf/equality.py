"""Readers of the equalities and the actuators of an MJCF."""

from __future__ import annotations

from itertools import zip_longest
from xml.etree.ElementTree import Element

from ik_node.description.description import unknown
from ik_node.description.mjcf.bodies import (
    BodyReader,
    compose,
    Mjcf,
    MjcfConstraint,
    MjcfCoupling,
    MjcfSum,
    Names,
    Pose,
    Range,
    UNLIMITED,
)
from ik_node.description.mjcf.document import ACTUATOR, Defaults, MjcfDocument, Settings, SMALLEST
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_conjugate, quat_identity, quat_to_matrix, unit
import numpy as np

SOFT = ('flex', 'flexvert', 'flexstrain')


class EqualityReader:
    """A reader of connect, weld, joint and tendon equalities; it removes unread ones."""

    def __init__(
        self, document: MjcfDocument, reader: BodyReader, defaults: Defaults, notes: list[str]
    ) -> None:
        self._document = document
        self._notes = notes
        self._soft = reader.soft
        self._bodies = {body.name: index for index, body in enumerate(reader.bodies)}
        self._joints = {joint.name: joint for body in reader.bodies for joint in body.joints}
        self._sites = {
            site.name: (index, (site.position, site.quat_xyzw))
            for index, body in enumerate(reader.bodies)
            for site in body.sites
        }
        self._poses: list[Pose] = []
        for index, body in enumerate(reader.bodies):
            pose = (body.position, body.quat_xyzw)
            self._poses.append(compose(self._poses[body.parent], pose) if index else pose)
        self._tendons = {
            each.get('name', ''): each
            for section in document.sections('tendon')
            for each in section
        }
        self.result: list[MjcfConstraint | MjcfCoupling | MjcfSum] = []
        sections = document.sections('equality')
        elements = [each for section in sections for each in section]
        self._names = Names()
        declared = [each.get('name', '') for each in elements]
        for name in filter(None, declared):
            if self._names.unique(name) != name:
                element = elements[len(declared) - 1 - declared[::-1].index(name)]
                raise document.error(element, 'an equality of that name is declared already')
        for section in sections:
            section[:] = [
                each for each in section if self._read(defaults.fill_up(each, None, 'equality'))
            ]

    def _read(self, element: Element) -> bool:
        """Read an equality; return True if it is used."""
        kind = element.tag
        if kind == 'joint':
            result: MjcfConstraint | MjcfCoupling | MjcfSum | None = self._read_coupling(element)
        elif kind == 'tendon':
            result = self._read_tendons(element)
        elif kind in ('connect', 'weld'):
            result = self._read_constraint(element)
        elif kind in SOFT:
            result = None
            self._notes.append(
                f'<equality>: <{kind}> on line {self._document.line(element)} connects soft '
                'objects, which are not read'
            )
        else:
            raise self._document.error(
                element,
                'this equality is not supported; allowed: connect weld joint tendon',
                UnsupportedElementError,
            )
        if result is not None:
            self.result.append(result)
        return result is not None

    def _read_coupling(self, element: Element) -> MjcfCoupling | None:
        names = [self._document.attribute(element, 'joint1')]
        if element.get('joint2'):
            names.append(element.attrib['joint2'])
        if not all(self._is_known(name, element) for name in names):
            return None
        coefficients = self._polynomial(element)
        master = names[1] if len(names) > 1 else None
        return MjcfCoupling(
            names[0], master, coefficients, self._is_active(element), self._document.line(element)
        )

    def _is_known(self, name: str, element: Element) -> bool:
        """Return True for a hinge or slide, False for a joint that may be one of a soft object."""
        if name not in self._joints:
            if self._is_soft(element):
                return False
            raise self._document.error(element, unknown('joint', name, list(self._joints)))
        if self._joints[name].kind not in ('hinge', 'slide'):
            raise self._document.error(
                element, f'the joint {name!r} is neither a hinge nor a slide'
            )
        return True

    def _polynomial(self, element: Element) -> list[float]:
        given = self._document.some_numbers(element, 'polycoef', 5)
        return given + [0.0, 1.0, 0.0, 0.0, 0.0][len(given) :]

    def _read_tendons(self, element: Element) -> MjcfSum | None:
        """Return L1 - p(L2) = 0, with the lengths of tendons less those at the joints' refs."""
        names = [self._document.attribute(element, 'tendon1'), element.get('tendon2')]
        lengths = [self._length(name, element) for name in names if name]
        first, *others = (length for length in lengths if length is not None)
        if len(others) + 1 < len(lengths) or not first:
            return None
        second = others[0] if others else {}
        coefficients = self._polynomial(element)
        if len(second) > 1 and any(coefficients[2:]):
            self._note(element, f'is a curve in the sum of {len(second)} joints')
            return None
        terms = {name: [0.0, factor] for name, factor in first.items()}
        for name, factor in second.items():
            own = terms.get(name, [])
            powers = [-c * factor**power for power, c in enumerate(coefficients)]
            powers[0] = 0.0
            terms[name] = [sum(pair) for pair in zip_longest(own, powers, fillvalue=0.0)]
        terms[next(iter(terms))][0] -= coefficients[0]
        return MjcfSum(terms, self._is_active(element), self._document.line(element))

    def _length(self, name: str, element: Element) -> dict[str, float] | None:
        """Return the factors of the joints in the length of a fixed tendon; None = not known."""
        if name not in self._tendons:
            raise self._document.error(element, unknown('tendon', name, list(self._tendons)))
        if self._tendons[name].tag != 'fixed':
            self._note(element, f'connects the spatial tendon {name!r}')
            return None
        result: dict[str, float] = {}
        for each in self._tendons[name].findall('joint'):
            joint = self._document.attribute(each, 'joint')
            if not self._is_known(joint, each):
                return None
            factor = self._document.numbers(each, 'coef', (1.0,))[0]
            result[joint] = result.get(joint, 0.0) + factor
        return result

    def _note(self, element: Element, reason: str) -> None:
        self._notes.append(
            f'<equality>: <{element.tag}> on line {self._document.line(element)} {reason}; it is '
            'not read'
        )

    def _read_constraint(self, element: Element) -> MjcfConstraint | None:
        kind, document = element.tag, self._document
        by_sites = element.get('site1') is not None or element.get('site2') is not None
        by_bodies = element.get('body1') is not None or element.get('body2') is not None
        if by_sites == by_bodies:
            message = 'expected body1="..." and, as needed, body2, or else site1 and site2'
            raise document.error(element, message)
        ends = ('site1', 'site2') if by_sites else ('body1', 'body2')
        names = [document.attribute(element, ends[0])]
        names.append(document.attribute(element, ends[1]) if by_sites else '')
        names[1] = names[1] or element.get(ends[1]) or 'world'
        known = list(self._sites if by_sites else self._bodies)
        for name in names:
            if name not in known:
                if self._is_soft(element):
                    return None
                raise document.error(element, unknown(ends[0][:4], name, known))
        torque = document.numbers(element, 'torquescale', (1.0,))[0]
        if by_sites:
            (first, pose1), (second, pose2) = (self._sites[name] for name in names)
        else:
            first, second = (self._bodies[name] for name in names)
            pose1, pose2 = self._frames(element, first, second)
        return MjcfConstraint(
            element.get('name') or self._names.unique(f'{names[0]}_{names[1]}_{kind}'),
            'weld' if kind == 'weld' and torque != 0.0 else 'point',
            (first, second),
            [pose1[0], pose2[0]],
            [pose1[1], pose2[1]],
            self._is_active(element),
            document.line(element),
        )

    def _frames(self, element: Element, first: int, second: int) -> tuple[Pose, Pose]:
        """Return the frames in two bodies that coincide in the model as written."""
        document, here, there = self._document, self._poses[first], self._poses[second]
        if element.tag == 'connect':
            document.attribute(element, 'anchor')
            anchor = np.array(document.numbers(element, 'anchor', (0.0, 0.0, 0.0)))
            point = here[0] + quat_to_matrix(here[1]) @ anchor
            back = quat_to_matrix(there[1]).T @ (point - there[0])
            return (anchor, quat_identity()), (back, quat_identity())
        anchor = np.array(document.numbers(element, 'anchor', (0.0, 0.0, 0.0)))
        x, y, z, qw, qx, qy, qz = document.numbers(element, 'relpose', (0.0,) * 7)
        if max(map(abs, (qw, qx, qy, qz))) > SMALLEST:
            return (np.array((x, y, z)), unit((qx, qy, qz, qw))), (anchor, quat_identity())
        inverse = quat_conjugate(here[1])
        back = quat_to_matrix(inverse) @ (there[0] - here[0])
        return compose((back, inverse), (quat_to_matrix(there[1]) @ anchor, there[1])), (
            anchor,
            quat_identity(),
        )

    def _is_active(self, element: Element) -> bool:
        return self._document.is_true(element, 'active', 'true')

    def _is_soft(self, element: Element) -> bool:
        """Return True if a name may be that of a soft object, and note that it is not read."""
        if self._soft:
            self._notes.append(
                f'<equality>: <{element.tag}> on line {self._document.line(element)} may refer to '
                'a soft object; it is not read'
            )
        return self._soft


# The attributes of <general> with which the force is gainprm[0] times the control input, and
# their defaults.
PROPORTIONAL = {'gaintype': 'fixed', 'biastype': 'none', 'dyntype': 'none'}
MOST_GAINS = 100


def read_actuators(
    document: MjcfDocument, model: Mjcf, settings: Settings, defaults: Defaults, notes: list[str]
) -> None:
    """
    Find the joints that actuators drive, and note actuators that drive no joint.

    An actuator of a fixed tendon drives the only joint of the tendon that follows no other joint;
    its force does not limit the effort of that joint. The efforts of the actuators of one joint
    add up, and are limited to the range in the joint itself.
    """
    known = {joint.name for joint in model.joints}
    follows = {
        each.joint
        for each in model.equalities
        if isinstance(each, MjcfCoupling) and each.enabled and each.master
    }
    tendons = {
        tendon.get('name', ''): [joint.get('joint', '') for joint in tendon.findall('joint')]
        for section in document.sections('tendon')
        for tendon in section.findall('fixed')
    }
    driven: dict[str, list[Range]] = {}
    others: dict[str, int] = {}
    for element in (each for section in document.sections('actuator') for each in section):
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
            others[element.tag] = others.get(element.tag, 0) + 1
    for tag, count in others.items():
        notes.append(f'{count} <{tag}> actuators act on no joint; they are not read')
    for name in model.actuated:  # by actuators of attached models, whose efforts the joint has
        driven.setdefault(name, []).append(UNLIMITED)
    model.actuated = list(driven)
    for joint in model.joints:
        if joint.name in driven:
            joint.efforts = _sum_within(driven[joint.name], joint.efforts)


def _efforts(document: MjcfDocument, element: Element, settings: Settings) -> Range:
    """Return the efforts on a hinge or slide of an actuator with its class filled in."""
    force = document.limits(element, 'forcerange', 'forcelimited', settings.autolimits)
    control = document.limits(element, 'ctrlrange', 'ctrllimited', settings.autolimits)
    if _is_proportional(element):
        gain = 1.0
        if element.tag != 'motor':
            gain = [*document.some_numbers(element, 'gainprm', MOST_GAINS), 1.0][0]
        force = _within(_scaled(control, gain), force)
    gear = [*document.some_numbers(element, 'gear', 6), 1.0][0]
    return _scaled(force, gear)


def _is_proportional(element: Element) -> bool:
    """Return True if the force is a constant times the control input."""
    return element.tag == 'motor' or (
        element.tag == ACTUATOR
        and all(element.get(name, value) == value for name, value in PROPORTIONAL.items())
    )


def _scaled(limits: Range, factor: float) -> Range:
    if limits == UNLIMITED:
        return limits
    ends = limits[0] * factor, limits[1] * factor
    return min(ends), max(ends)


def _within(limits: Range, outer: Range) -> Range:
    """Return a range clipped to another one."""
    lower, upper = (min(max(each, outer[0]), outer[1]) for each in limits)
    return lower, upper


def _sum_within(ranges: list[Range], outer: Range) -> Range:
    """Return the sum of ranges, clipped to another one."""
    total = sum(each[0] for each in ranges), sum(each[1] for each in ranges)
    return _within(total, outer)


def _shown(element: Element) -> str:
    name = element.get('name')
    return f'actuator <{element.tag}>' if name is None else f'actuator {name!r}'
