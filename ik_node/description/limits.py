"""Reader of the limits of a joint, with the rules that all formats share."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from xml.etree.ElementTree import Element

from ik_node.description.xml_document import MAX_NUMBER, XmlDocument

NAMES = ('lower', 'upper', 'velocity', 'effort')


@dataclass
class Limits:
    """
    The limits of a joint value.

    Attributes
    ----------
    lower, upper : float
        [rad or m]
    velocity : float
        [rad/s or m/s]
    effort : float
        [N m or N]; what 0 and negative numbers mean depends on the format.

    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    effort: float = inf


def read_limits(
    document: XmlDocument,
    element: Element,
    limit: Element | None,
    what: str,
    notes: list[str],
    *,
    turns_freely: bool = False,
) -> Limits:
    """
    Read the limits of a joint.

    Numbers of 1e12 or more, which programs write for "no limit", are no limits.

    Parameters
    ----------
    document : XmlDocument
        The document, for error messages.
    element : Element
        The joint.
    limit : Element or None
        Its <limit>, with the numbers in attributes (URDF) or child elements (SDFormat).
    what : str
        The joint in notes, as in "joint 'elbow'".
    notes : list of str
        What is assumed is appended.
    turns_freely : bool
        True for a continuous joint, whose `lower` and `upper` are not used.

    Raises
    ------
    DescriptionError
        If a text is not a number, or the lower limit is above the upper one.

    """
    found, beyond = Limits(), []
    for name in NAMES:
        text = limit_text(limit, name)
        if limit is None or text is None:
            continue
        value = document.number(limit, name, text, infinite=True)
        if not isinf(value):
            setattr(found, name, value)
        elif name != 'effort' and is_beyond(text):  # joints without a motor have efforts, too
            beyond.append(f'{name} {text.strip()}')
    if beyond:
        notes.append(f'{what}: {", ".join(beyond)}: taken as no limit, as it is beyond 1e12')
    if turns_freely:
        both = {name: getattr(found, name) for name in NAMES[:2]}
        given = [f'{name} {value:g}' for name, value in both.items() if not isinf(value)]
        if given:
            notes.append(
                f'{what}: it is continuous, so {" and ".join(given)} do not count and it turns '
                'without limits; type="revolute" would use them'
            )
        found.lower, found.upper = -inf, inf
    if found.lower > found.upper:
        raise document.error(element, reversed_limits(found.lower, found.upper))
    if found.lower == found.upper:
        why = ', as exporters write it for limits that were left empty' * (found.lower == 0.0)
        notes.append(f'{what}: lower and upper are both {found.lower:g}, it cannot move{why}')
    if found.velocity <= 0.0:
        notes.append(f'{what}: velocity {found.velocity:g}, taken as unlimited')
        found.velocity = inf
    return found


def limit_text(limit: Element | None, name: str) -> str | None:
    """Return the text of a number in a <limit>; None if it is not given."""
    if limit is None:
        return None
    return limit.get(name, limit.findtext(name, '').strip() or None)


def reversed_limits(lower: float, upper: float) -> str:
    """Return the message about a lower limit above the upper one."""
    return f'its limits are reversed: lower {lower:g} is above upper {upper:g}; exchange them'


def is_beyond(text: str) -> bool:
    """Return True if a text is a number, not written as "inf", of 1e12 or more."""
    return abs(float(text)) >= MAX_NUMBER and 'inf' not in text.lower()
