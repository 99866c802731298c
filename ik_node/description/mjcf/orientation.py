"""Reader of the five notations of a rotation in MJCF."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from xml.etree.ElementTree import Element

from ik_node.description.mjcf.defaults import Settings
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.errors import DescriptionError
from ik_node.model.rotation import cross, matrix_to_quat, quat_identity, quat_multiply, unit
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

ALTERNATIVES = {'axisangle': 4, 'xyaxes': 6, 'zaxis': 3, 'euler': 3}
SMALLEST = 1e-14


def read_quat(document: MjcfDocument, element: Element, settings: Settings) -> Array:
    """
    Return the rotation (xyzw) of an element.

    Raises
    ------
    DescriptionError
        If there is more than one rotation, or it has no direction.

    """
    given = [name for name in (*ALTERNATIVES, 'quat') if element.get(name) is not None]
    if len(given) > 1:
        raise document.error(element, f'{" and ".join(given)} are given; only one is allowed')
    name = given[0] if given else 'quat'
    if name != 'quat':
        numbers = document.numbers(element, name, (0.0,) * ALTERNATIVES[name])
        return rotation(document, element, name, numbers, settings)
    w, x, y, z = document.numbers(element, 'quat', (1.0, 0.0, 0.0, 0.0))
    return _direction(document, element, 'quat', (x, y, z, w))


def rotation(
    document: MjcfDocument, element: Element, name: str, numbers: list[float], settings: Settings
) -> Array:
    """Return the quaternion (xyzw) of one of the alternative notations."""
    if name == 'euler':
        quat = quat_identity()
        for letter, angle in zip(settings.eulerseq, numbers, strict=True):
            half = 0.5 * settings.angle(angle)
            turn = np.zeros(4)
            turn['xyz'.index(letter.lower())] = sin(half)
            turn[3] = cos(half)
            quat = quat_multiply(quat, turn) if letter.islower() else quat_multiply(turn, quat)
        return unit(quat)
    axis = _direction(document, element, name, numbers[:3])
    if name == 'axisangle':
        half = 0.5 * settings.angle(numbers[3])
        return np.append(sin(half) * axis, cos(half))
    if name == 'zaxis':
        return quat_of_z(axis)
    y = np.array(numbers[3:])
    y = _direction(document, element, name, y - (axis @ y) * axis)
    return matrix_to_quat(np.column_stack((axis, y, cross(axis, y))))


def quat_of_z(axis: Array) -> Array:
    """Return the smallest rotation (xyzw) that aligns z with a unit vector."""
    side = hypot(axis[0], axis[1])
    if side < SMALLEST:  # no rotation, or half a turn about x, as in MuJoCo
        return quat_identity() if axis[2] > 0.0 else np.array((1.0, 0.0, 0.0, 0.0))
    half = 0.5 * atan2(side, axis[2])
    return np.array((-axis[1] / side * sin(half), axis[0] / side * sin(half), 0.0, cos(half)))


def _direction(document: MjcfDocument, element: Element, name: str, numbers: ArrayLike) -> Array:
    if np.max(np.abs(numbers)) < SMALLEST:
        raise no_direction(document, element, name)
    return unit(numbers)


def no_direction(document: MjcfDocument, element: Element, name: str) -> DescriptionError:
    """Return the exception for a vector of zero length."""
    return document.error(element, f'{name}="{element.get(name)}" has no direction')
