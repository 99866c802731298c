"""A <limit> of SDFormat, in a file of that format or in the <gazebo> of a URDF."""

from __future__ import annotations

from math import inf, isnan
from xml.etree.ElementTree import Element

from ik_node.description.xml_document import MAX_NUMBER, XmlDocument

# "None" is written as inf, 1e16 or the largest double, by the format's age. What lies between
# the largest number that is read and these ends no joint's way either.
NO_LIMIT = MAX_NUMBER


def read_bound(
    document: XmlDocument, limit: Element | None, tag: str, default: float = inf
) -> float:
    """
    Return one number of a <limit>.

    Parameters
    ----------
    document : XmlDocument
        For errors.
    limit : Element or None
        None gives the default, as a missing number does.
    tag : str
        'lower', 'upper', 'velocity' or 'effort'.
    default : float
        For a missing one.

    Returns
    -------
    float
        [rad], [m] or what the tag is in; infinite = none.

    Raises
    ------
    DescriptionError
        If it is no number.

    """
    element = None if limit is None else limit.find(tag)
    text = '' if element is None else (element.text or '').strip()
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if isnan(value) or abs(value) < NO_LIMIT:  # or not a number: that is said there
        return document.text_numbers(element, (default,))[0]
    return inf if value > 0.0 else -inf
