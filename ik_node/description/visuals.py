"""Reader of the visuals of a description in any supported format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.mesh_path import Rgba, Visual
from ik_node.description.mjcf.visuals import read_mjcf_visuals
from ik_node.description.origin import read_origin
from ik_node.description.sdf.visuals import read_sdf_visuals
from ik_node.description.xml_document import parse_xml, XmlDocument
from ik_node.errors import DescriptionError


def read_urdf_visuals(document: XmlDocument) -> list[Visual]:
    """Return the visuals of a URDF, without those that cannot be read."""
    named = {
        material.get('name'): _colour(document, material)
        for material in document.root.findall('material')
    }
    found = []
    for link in document.root.findall('link'):
        for element in link.findall('visual'):
            try:
                found += _visual(document, link.get('name', ''), element, named)
            except DescriptionError:
                # A faulty visual does not prevent the use of a robot.
                continue
    return found


def _visual(
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
        rgba = _colour(document, material) or named.get(material.get('name'))
    return [Visual(link, position, quat, kind, tuple(size), file, rgba)]


def _colour(document: XmlDocument, material: Element) -> Rgba | None:
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
    Return the visuals of a URDF, SDFormat file or MJCF.

    Parameters
    ----------
    text : bytes or str
        The description, with xacro expanded; empty for a robot without one, as of `from_dh`.
    source : str
        Its file; included files are searched beside it.

    Returns
    -------
    list of Visual
        In the description's order. A visual that cannot be read is left out or has the kind
        'unread'.

    Raises
    ------
    DescriptionError
        If it is not XML.

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
