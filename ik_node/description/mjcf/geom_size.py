"""How large the geoms of an MJCF are, and where."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.mjcf.bodies import Pose
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.orientation import quat_of_z, read_quat
from ik_node.description.mjcf.settings import Settings
from ik_node.model.rotation import unit
import numpy as np

# How many sizes a shape has.
SIZES = {'sphere': 1, 'capsule': 2, 'cylinder': 2, 'ellipsoid': 3, 'box': 3}


def geom_pose(
    document: MjcfDocument, element: Element, settings: Settings
) -> tuple[Pose, float | None]:
    """
    Return where a geom is in its body or <frame>, and half its length if two points say it [m].

    Raises
    ------
    DescriptionError
        If its numbers cannot be read.

    """
    if element.get('fromto') is None:
        place = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
        return (place, read_quat(document, element, settings)), None
    ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
    along = ends[0] - ends[1]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise document.error(element, 'fromto: its two points are one')
    return (ends.mean(axis=0), quat_of_z(unit(along))), 0.5 * length


def geom_size(document: MjcfDocument, element: Element, half: float | None) -> list[float]:
    """
    Return the sizes of a geom [m], as MJCF counts them; empty where they are not all there.

    Parameters
    ----------
    document : MjcfDocument
        For messages.
    element : Element
        Filled up with its class.
    half : float or None
        Half its length where two points say that.

    """
    count = SIZES[element.get('type', 'sphere')]
    sizes = document.some_numbers(element, 'size', 3)
    if half is not None and sizes:
        radius = sizes[:1]
        sizes = radius + radius + [half] if count == 3 else [*radius, half]
    if len(sizes) < count or min(sizes[:count]) <= 0.0:
        return []
    return sizes[:count]
