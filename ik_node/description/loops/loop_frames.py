"""Frames and axes of loops, as URDF's dialects write them."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.loop import LoopFrame
from ik_node.description.origin import read_origin
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_between, quat_multiply, unit
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def read_frame(document: XmlDocument, link: str, pose: Element | None) -> LoopFrame:
    """Return a frame of a link, posed by the attributes xyz and rpy or quat_xyzw of an element."""
    return LoopFrame(link, *read_origin(document, pose))


def read_end(document: XmlDocument, element: Element, tag: str) -> LoopFrame:
    """Return a frame of the link that <TAG link="..."> names, posed by <TAG_origin>."""
    link = document.attribute(document.child(element, tag), 'link')
    return read_frame(document, link, element.find(f'{tag}_origin'))


def read_axis(
    document: XmlDocument, element: Element | None, owner: Element, default: Sequence[float]
) -> Array:
    """Return the unit vector of an axis element's xyz; `owner` is named if it has no direction."""
    xyz = document.numbers(element, 'xyz', default)
    if max(map(abs, xyz)) < 1e-12:
        numbers = ' '.join(f'{value:g}' for value in xyz)
        raise document.error(owner, f'the axis {numbers} has no direction')
    return unit(xyz)


def turn_frame(frame: LoopFrame, axis: ArrayLike, onto: Sequence[float] = Z) -> None:
    """Turn a frame, about itself, until its z (or another of its axes) lies on a direction."""
    frame.quat_xyzw = quat_multiply(frame.quat_xyzw, quat_between(onto, axis))


def read_type(document: XmlDocument, element: Element, types: Sequence[str]) -> str:
    """
    Return the attribute `type` in lower case.

    Raises
    ------
    UnsupportedElementError
        If it is not one of `types`.

    """
    written = document.attribute(element, 'type')
    if written.strip().lower() not in types:
        message = f'type="{written[:60]}" is not known; allowed: {" ".join(types)}'
        raise document.error(element, message, UnsupportedElementError)
    return written.strip().lower()
