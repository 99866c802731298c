"""One joint of an MJCF."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.mjcf.document import FALSE_TRUE, MjcfDocument
from ik_node.description.mjcf.orientation import no_direction, SMALLEST
from ik_node.description.mjcf.parts import MjcfJoint
from ik_node.description.mjcf.settings import Settings
from ik_node.model.rotation import unit
import numpy as np

KINDS = ('hinge', 'slide', 'ball', 'free')


def read_joint(
    document: MjcfDocument, element: Element, settings: Settings, notes: list[str]
) -> MjcfJoint:
    """
    Read a <joint> whose attributes are filled up from its class.

    Raises
    ------
    DescriptionError
        If its axis has no direction, or its range cannot be one.

    """
    kind = document.word(element, 'type', 'hinge', KINDS)
    joint = MjcfJoint(element.get('name', ''), kind)
    lower, upper = document.numbers(element, 'range', (0.0, 0.0))
    limited = document.word(element, 'limited', 'auto', (*FALSE_TRUE, 'auto'))
    if kind == 'free':
        return joint
    joint.position = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
    if limited == 'auto' and not settings.autolimits and (lower or upper):
        raise document.error(
            element,
            f'range="{element.get("range")}", but neither limited="true" or "false" nor '
            '<compiler autolimits="true"/>',
        )
    is_limited = limited == 'true' or (limited == 'auto' and lower < upper)
    if kind == 'ball':
        if is_limited:
            notes.append(
                f'the ball joint on line {document.line(element)} may lean in a cone only; the '
                'cone is not read'
            )
        return joint
    axis = document.numbers(element, 'axis', (0.0, 0.0, 1.0))
    if max(map(abs, axis)) < SMALLEST:
        raise no_direction(document, element, 'axis')
    joint.axis = unit(axis)
    joint.ref = document.numbers(element, 'ref', (0.0,))[0]
    if kind == 'hinge':
        joint.ref = settings.angle(joint.ref)
    if is_limited:
        if not lower < upper:
            raise document.error(
                element, f'range="{lower:g} {upper:g}": the first must be below the second'
            )
        turns = kind == 'hinge'
        joint.lower = settings.angle(lower) if turns else lower
        joint.upper = settings.angle(upper) if turns else upper
    return joint


def read_free_joint(element: Element) -> MjcfJoint:
    """Read a <freejoint>, which takes nothing from a class."""
    return MjcfJoint(element.get('name', ''), 'free')
