"""Frames and axes of loops, as URDF's dialects write them."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.loop import LoopFrame
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_between, quat_from_euler, quat_multiply, unit
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

Z = (0.0, 0.0, 1.0)


def read_frame(document: XmlDocument, link: str, pose: Element | None) -> LoopFrame:
    """Return a frame of a link, posed by the attributes xyz and rpy or quat_xyzw of an element."""
    position = np.array(document.numbers(pose, 'xyz', (0.0, 0.0, 0.0)))
    if pose is not None and pose.get('quat_xyzw') is not None:
        quat = np.array(document.numbers(pose, 'quat_xyzw', (0.0, 0.0, 0.0, 1.0)))
        if np.max(np.abs(quat)) < 1e-9:
            raise document.error(pose, 'quat_xyzw="0 0 0 0" is no rotation')
        return LoopFrame(link, position, unit(quat))
    rpy = document.numbers(pose, 'rpy', (0.0, 0.0, 0.0))
    return LoopFrame(link, position, quat_from_euler(*rpy))


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
