"""Reader of the visuals of an SDFormat file."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from ik_node.description.mesh_path import Rgba, Visual
from ik_node.description.sdf.frame_graph import FrameGraph, read_pose
from ik_node.description.sdf.scope import choose_model, SdfFrame, SdfScope
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError
from ik_node.model.rotation import matrix_to_quat, pose_inverse, quat_multiply
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GREY: Rgba = (0.6, 0.6, 0.6, 1.0)
# The numbers of each shape, with their defaults.
SIZES: dict[str, tuple[tuple[str, tuple[float, ...]], ...]] = {
    'box': (('size', (1.0, 1.0, 1.0)),),
    'cylinder': (('radius', (1.0,)), ('length', (1.0,))),
    'sphere': (('radius', (1.0,)),),
    'capsule': (('radius', (0.5,)), ('length', (1.0,))),
    'ellipsoid': (('radii', (1.0, 1.0, 1.0)),),
    'plane': (('size', (1.0, 1.0)),),
    'mesh': (('scale', (1.0, 1.0, 1.0)),),
}


def read_sdf_visuals(document: XmlDocument) -> list[Visual]:
    """
    Return the visuals of an SDFormat file.

    Raises
    ------
    DescriptionError
        If no model is a robot.

    """
    around, model = choose_model(document, [])
    world = SdfScope(document, around, robot=model)
    version = re.findall('[0-9]{1,3}', document.root.get('version', '')) or ['1', '12']
    graph = FrameGraph(document, tuple(map(int, version)))
    found = []
    for link in world.every('link'):
        for element in link.element.findall('visual'):
            try:
                found += _visual(document, graph, link, element)
            except DescriptionError as error:
                found.append(Visual.unread(link.name, f'visual of {link.name}: {error}'))
    return found


def _visual(
    document: XmlDocument, graph: FrameGraph, link: SdfFrame, element: Element
) -> list[Visual]:
    geometry = element.find('geometry')
    form = None if geometry is None else next(iter(geometry), None)
    if form is None or form.tag == 'empty':
        return []
    kind = str(form.tag)
    if kind not in SIZES:
        return [Visual.unread(link.name, f'<{kind}> of {link.name}')]
    size: list[float] = []
    for name, default in SIZES[kind]:
        size += document.text_numbers(form.find(name), default)
    file = form.findtext('uri', '').strip()
    if (kind == 'mesh' and not file) or 0.0 in size:
        return [Visual.unread(link.name, f'<{kind}> of {link.name}, which has no size or file')]
    pose = _pose(document, graph, link, element.find('pose'))
    quat = matrix_to_quat(pose[:3, :3])
    if kind == 'plane':
        quat = quat_multiply(quat, _onto(document.text_numbers(form.find('normal'), (0, 0, 1))))
    place = tuple(pose[:3, 3].tolist())
    rgba = _colour(document, element)
    return [Visual(link.name, place, tuple(quat.tolist()), kind, tuple(size), file, rgba)]


def _pose(
    document: XmlDocument, graph: FrameGraph, link: SdfFrame, element: Element | None
) -> Array:
    """Return the pose of a visual in its link's frame."""
    pose = read_pose(document, element)
    name = '' if element is None else element.get('relative_to', '').strip()
    if not name:
        return pose
    base = link.scope.need(name, link.element, '<pose relative_to>')
    found: Array = pose_inverse(graph.pose(link)) @ graph.pose(base) @ pose
    return found


def _onto(normal: list[float]) -> Array:
    """Return the rotation that aligns z with a normal."""
    length = float(np.linalg.norm(normal))
    if length == 0.0 or normal[2] <= -length:
        return np.array((1.0, 0.0, 0.0, 0.0))
    x, y, z = (part / length for part in normal)
    quat = np.array((-y, x, 0.0, 1.0 + z))
    turned: Array = quat / np.linalg.norm(quat)
    return turned


def _colour(document: XmlDocument, element: Element) -> Rgba | None:
    material = element.find('material')
    diffuse = None if material is None else material.find('diffuse')
    seen = 1.0 - document.text_numbers(element.find('transparency'), (0.0,))[0]
    if diffuse is None:
        return None if seen >= 1.0 else (*GREY[:3], max(0.0, seen))
    # Opacity may be left out.
    three = len((diffuse.text or '').split()) == 3
    numbers = document.text_numbers(diffuse, GREY[:3] if three else GREY)
    r, g, b, *opacity = (min(1.0, max(0.0, number)) for number in numbers)
    return r, g, b, min(1.0, max(0.0, seen)) * (opacity[0] if opacity else 1.0)
