"""Reader of the actuators of an MJCF: the joints with a motor, and their effort limits."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.mjcf.defaults import ACTUATOR, Defaults, Settings
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.model import Mjcf, MjcfCoupling, Range, UNLIMITED

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

    Raises
    ------
    DescriptionError
        If there is no such class, or a number or range is not valid.

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
