"""Names and limits that SDF writes as the text of elements, inside a URDF."""

from __future__ import annotations

from math import inf
from xml.etree.ElementTree import Element

from ik_node.description.xml_document import XmlDocument

ENDLESS = 1e15  # Gazebo writes 1e16 where nothing limits


def text_of(document: XmlDocument, element: Element) -> str:
    """Return the text of an element, which must not be empty."""
    text = (element.text or '').strip()
    if not text:
        raise document.error(element, 'its text is missing')
    return text


def text_limit(document: XmlDocument, element: Element | None, default: float) -> float:
    """Return the one number that an element has as its text; beyond 1e15 it is infinite."""
    try:
        value = float((element.text or '').strip()) if element is not None else 0.0
    except ValueError:
        value = 0.0
    if abs(value) >= ENDLESS:
        return inf if value > 0.0 else -inf
    return document.text_numbers(element, (default,))[0]
