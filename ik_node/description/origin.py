"""Reader of poses in URDF's notation."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.xml_document import XmlDocument
from ik_node.model.rotation import quat_from_euler, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def read_origin(document: XmlDocument, element: Element | None) -> tuple[Array, Array]:
    """
    Return the pose in the attributes xyz, and quat_xyzw or rpy, of an element.

    Parameters
    ----------
    document : XmlDocument
        The document, for error messages.
    element : Element or None
        None, or an element without these attributes, stands for the identity.

    Returns
    -------
    position : ndarray, shape (3,)
        [m]
    quat_xyzw : ndarray, shape (4,)

    Raises
    ------
    DescriptionError
        If a number is not valid, or the quaternion is 0.

    """
    position = np.array(document.numbers(element, 'xyz', (0.0, 0.0, 0.0)))
    quat_xyzw = read_quaternion(document, element)
    if quat_xyzw is None:
        quat_xyzw = quat_from_euler(*document.numbers(element, 'rpy', (0.0, 0.0, 0.0)))
    return position, quat_xyzw


def read_quaternion(document: XmlDocument, element: Element | None) -> Array | None:
    """Return the rotation in the attribute quat_xyzw (URDF 1.1), None if it is missing."""
    if element is None or element.get('quat_xyzw') is None:
        return None
    quat = document.numbers(element, 'quat_xyzw', (0.0, 0.0, 0.0, 1.0))
    if max(map(abs, quat)) < 1e-9:
        raise document.error(element, 'quat_xyzw="0 0 0 0" is no rotation')
    return unit(quat)
