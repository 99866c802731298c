"""A <pose> of SDFormat."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.sdf.flag import is_true
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import pose_matrix, quat_from_euler, unit
import numpy as np
from numpy.typing import NDArray

FORMATS = ('euler_rpy', 'quat_xyzw')


def read_pose(document: XmlDocument, element: Element | None) -> NDArray[np.float64]:
    """
    Return the 4x4 matrix that a <pose> states; the identity without one or with an empty one.

    Raises
    ------
    DescriptionError
        If its numbers or its rotation_format cannot be read.

    """
    if element is None:
        return np.eye(4)
    form = element.get('rotation_format', FORMATS[0])
    if form not in FORMATS:
        message = f'rotation_format="{form}" is not known; allowed: {" ".join(FORMATS)}'
        raise document.error(element, message, UnsupportedElementError)
    if form == 'quat_xyzw':
        numbers = document.text_numbers(element, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        if max(map(abs, numbers[3:])) < 1e-9:
            raise document.error(element, 'its quaternion is no rotation')
        return pose_matrix(numbers[:3], unit(numbers[3:]))
    numbers = document.text_numbers(element, (0.0,) * 6)
    if is_true(element.get('degrees')):
        numbers[3:] = np.radians(numbers[3:]).tolist()
    return pose_matrix(numbers[:3], quat_from_euler(*numbers[3:]))
