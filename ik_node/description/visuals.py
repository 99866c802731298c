"""Readers of the visuals of a URDF, SDFormat file or MJCF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import re
from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.mesh_path import Rgba, Visual
from ik_node.description.mjcf.visuals import read_mjcf_visuals
from ik_node.description.sdf.frames import choose_model, FrameGraph, read_pose, SdfFrame, SdfScope
from ik_node.description.xml_document import parse_xml, read_origin, XmlDocument
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
    """Return the visuals of an SDFormat file."""
    around, model = choose_model(document, [])
    world = SdfScope(document, around, robot=model)
    version = re.findall('[0-9]{1,3}', document.root.get('version', '')) or ['1', '12']
    graph = FrameGraph(document, tuple(map(int, version)))
    result = []
    for link in world.every('link'):
        for element in link.element.findall('visual'):
            try:
                result += _visual(document, graph, link, element)
            except DescriptionError as error:
                result.append(Visual.unread(link.name, f'visual of {link.name}: {error}'))
    return result


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
    result: Array = pose_inverse(graph.pose(link)) @ graph.pose(base) @ pose
    return result


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


def read_urdf_visuals(document: XmlDocument) -> list[Visual]:
    """Return the visuals of a URDF, without those that cannot be read."""
    named = {
        material.get('name'): _urdf_colour(document, material)
        for material in document.root.findall('material')
    }
    result = []
    for link in document.root.findall('link'):
        for element in link.findall('visual'):
            try:
                result += _urdf_visual(document, link.get('name', ''), element, named)
            except DescriptionError:
                # A faulty visual does not prevent the use of a robot.
                continue
    return result


def _urdf_visual(
    document: XmlDocument, link: str, element: Element, named: dict[str | None, Rgba | None]
) -> list[Visual]:
    geometry = element.find('geometry')
    form = None if geometry is None else next(iter(geometry), None)
    if form is None:
        return []
    kind, file, size = str(form.tag), '', []
    if kind == 'box':
        size = document.numbers(form, 'size', (0.0, 0.0, 0.0))
    elif kind == 'cylinder':
        size = [document.numbers(form, part, (0.0,))[0] for part in ('radius', 'length')]
    elif kind == 'sphere':
        size = document.numbers(form, 'radius', (0.0,))
    elif kind == 'mesh':
        file = document.attribute(form, 'filename')
        size = document.numbers(form, 'scale', (1.0, 1.0, 1.0))
    if not size or 0.0 in size:
        return []
    position, quat = (
        tuple(part.tolist()) for part in read_origin(document, element.find('origin'))
    )
    material = element.find('material')
    rgba = None
    if material is not None:
        rgba = _urdf_colour(document, material) or named.get(material.get('name'))
    return [Visual(link, position, quat, kind, tuple(size), file, rgba)]


def _urdf_colour(document: XmlDocument, material: Element) -> Rgba | None:
    element = material.find('color')
    if element is None:
        return None
    r, g, b, opacity = document.numbers(element, 'rgba', (0.6, 0.6, 0.6, 1.0))
    return r, g, b, opacity


READERS: dict[str, Callable[[XmlDocument], list[Visual]]] = {
    'robot': read_urdf_visuals,
    'mujoco': read_mjcf_visuals,
    'sdf': read_sdf_visuals,
}


def visuals_of(description: Description) -> list[Visual]:
    """Return the visuals of a description, as `read_visuals`, by the names of its links."""
    return [
        replace(visual, link=part.prefix + visual.link, source=part.name)
        for part in description.sources
        for visual in read_visuals(part.text, part.name)
    ]


def read_visuals(text: bytes | str, source: str = '<text>') -> list[Visual]:
    """
    Return the visuals of a URDF, SDFormat file or MJCF, in the description's order.

    The text has xacro expanded, and is empty for a robot without one, as of `from_dh`. A visual
    that cannot be read is left out or has the kind 'unread'.
    """
    if not text:
        return []
    document = parse_xml(text, source)
    reader = READERS.get(str(document.root.tag))
    if reader is None:
        return []
    try:
        return reader(document)
    except DescriptionError:
        # The reader of the robot has reported the fault already.
        return []
