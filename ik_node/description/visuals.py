"""Readers of the visuals and the collision geometry of a URDF, SDFormat file or MJCF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import re
from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.mesh_path import mesh_path, Rgba, Visual
from ik_node.description.mjcf.visuals import read_mjcf_visuals
from ik_node.description.sdf.frames import (
    choose_model,
    FrameGraph,
    read_pose,
    read_version,
    SdfFrame,
    SdfScope,
)
from ik_node.description.xml_document import Array, parse_xml, read_origin, XmlDocument
from ik_node.errors import DescriptionError, OptionError
from ik_node.model.bodies import HalfSpace, make_shape, Mesh, Shape
from ik_node.model.collisions import Body, Geometry, Rules
from ik_node.model.rotation import (
    matrix_to_quat,
    pose_inverse,
    pose_matrix,
    quat_between,
    quat_identity,
    quat_multiply,
    unit,
)

GREY: Rgba = (0.6, 0.6, 0.6, 1.0)
# The numbers of each shape, with their defaults in SDFormat; a URDF has no defaults but that of
# `scale`.
SIZES: dict[str, tuple[tuple[str, tuple[float, ...]], ...]] = {
    'box': (('size', (1.0, 1.0, 1.0)),),
    'cylinder': (('radius', (1.0,)), ('length', (1.0,))),
    'sphere': (('radius', (1.0,)),),
    'capsule': (('radius', (0.5,)), ('length', (1.0,))),
    'mesh': (('scale', (1.0, 1.0, 1.0)),),
    'ellipsoid': (('radii', (1.0, 1.0, 1.0)),),
    'plane': (('size', (1.0, 1.0)),),
}
URDF_SHAPES = tuple(SIZES)[:5]


def read_sdf_visuals(document: XmlDocument, tag: str = 'visual') -> list[Visual]:
    """Return the visuals of an SDFormat file, or its collision geometry."""
    around, model = choose_model(document, [])
    world = SdfScope(document, around, robot=model)
    graph = FrameGraph(document, read_version(document, []))
    result = []
    for link in world.every('link'):
        for element in link.element.findall(tag):
            try:
                pose = _pose_in_link(document, graph, link, element.find('pose'))
                rgba = _colour(document, element)
                read = _visual(document, link.name, element, pose, rgba)
            except DescriptionError as error:
                read = [Visual.unread(link.name, f'{tag} of {link.name}: {error}')]
            if tag == 'collision':
                read = [_with_filter(each, model, link, element) for each in read]
            result += read
    return result


def _with_filter(read: Visual, model: Element | None, link: SdfFrame, element: Element) -> Visual:
    """Return collision geometry with what the file says about pairs."""
    collide = category = 0xFFFF
    for name in ('collide_bitmask', 'category_bitmask'):
        mask = element.findtext(f'surface/contact/{name}', '').strip()
        if re.fullmatch('0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}', mask):
            category = int(mask, 16 if 'x' in mask.lower() else 10)
            collide = category if name == 'collide_bitmask' else collide
    # Gazebo's default is false, but only a file that says so is taken at its word.
    above = None if model is None else model.findtext('self_collide')
    said = link.element.findtext('self_collide') or above or 'true'
    return replace(read, bits=(category, collide), with_own=said.strip().lower() in ('true', '1'))


def _pose_in_link(
    document: XmlDocument, graph: FrameGraph, link: SdfFrame, placed: Element | None
) -> tuple[Array, Array]:
    """Return the position [m] and quaternion of a visual in its link."""
    pose = read_pose(document, placed)
    name = '' if placed is None else placed.get('relative_to', '').strip()
    if name:
        base = link.scope.need(name, link.element, '<pose relative_to>')
        pose = pose_inverse(graph.pose(link)) @ graph.pose(base) @ pose
    return pose[:3, 3], matrix_to_quat(pose[:3, :3])


def _visual(
    document: XmlDocument,
    link: str,
    element: Element,
    pose: tuple[Array, Array],
    rgba: Rgba | None,
) -> list[Visual]:
    """Return a visual of a URDF or SDFormat file; an empty list if it has no geometry."""
    geometry = element.find('geometry')
    form = None if geometry is None else next(iter(geometry), None)
    if form is None or form.tag == 'empty':
        return []
    kind, position, quat = str(form.tag), *pose
    of_urdf = document.root.tag == 'robot'
    if kind not in (URDF_SHAPES if of_urdf else SIZES):
        return [Visual.unread(link, f'<{kind}> of {link}')]
    file = (form.get('filename') or form.findtext('uri') or '').strip()
    size: list[float] = []
    for name, default in SIZES[kind]:
        if of_urdf:
            size += document.numbers(form, name, default if file else (0.0,) * len(default))
        else:
            size += document.text_numbers(form.find(name), default)
    if (kind == 'mesh' and not file) or 0.0 in size:
        return [Visual.unread(link, f'<{kind}> of {link}, which has no size or file')]
    if kind == 'plane':
        quat = quat_multiply(quat, _onto(document.text_numbers(form.find('normal'), (0, 0, 1))))
    at, turn = tuple(position.tolist()), tuple(quat.tolist())
    return [Visual(link, at, turn, kind, tuple(size), file, rgba)]


def _onto(normal: list[float]) -> Array:
    """Return the rotation that aligns z with a normal; no rotation for a normal of length 0."""
    return quat_between((0.0, 0.0, 1.0), unit(normal)) if any(normal) else quat_identity()


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


def read_urdf_visuals(document: XmlDocument, tag: str = 'visual') -> list[Visual]:
    """Return the visuals of a URDF, or its collision geometry."""
    named = {
        material.get('name'): _urdf_colour(document, material)
        for material in document.root.findall('material')
    }
    result = []
    for link in document.root.findall('link'):
        name = link.get('name', '')
        for element in link.findall(tag):
            try:
                pose = read_origin(document, element.find('origin'))
                material, rgba = element.find('material'), None
                if material is not None:
                    rgba = _urdf_colour(document, material) or named.get(material.get('name'))
                result += _visual(document, name, element, pose, rgba)
            except DescriptionError as error:
                result.append(Visual.unread(name, f'{tag} of {name}: {error}'))
    return result


def _urdf_colour(document: XmlDocument, material: Element) -> Rgba | None:
    element = material.find('color')
    if element is None:
        return None
    r, g, b, opacity = document.numbers(element, 'rgba', (0.6, 0.6, 0.6, 1.0))
    return r, g, b, opacity


READERS: dict[str, Callable[[XmlDocument, str], list[Visual]]] = {
    'robot': read_urdf_visuals,
    'mujoco': read_mjcf_visuals,
    'sdf': read_sdf_visuals,
}


def visuals_of(description: Description, tag: str = 'visual') -> list[Visual]:
    """Return the visuals of a description, as `read_visuals`, by the names of its links."""
    return [
        replace(visual, link=part.prefix + visual.link, source=part.name)
        for part in description.sources
        for visual in read_visuals(part.text, part.name, tag)
    ]


def excluded_pairs(description: Description) -> Rules:
    """
    Return the pairs of links that a description excludes from collisions, and why.

    They stand in <contact><exclude> of an MJCF, and in an SRDF beside a URDF.
    """
    rules: Rules = {}
    for part in description.sources:
        if b'<exclude' in (part.text if isinstance(part.text, bytes) else part.text.encode()):
            root = parse_xml(part.text, part.name).root
            for each in root.iterfind('contact/exclude'):
                pair = part.prefix + each.get('body1', ''), part.prefix + each.get('body2', '')
                rules[pair] = 'exclude of the MJCF'
        beside = Path(part.name).with_suffix('.srdf')
        if part.name != '<text>' and beside.is_file():
            text = beside.read_bytes()
            for (a, b), why in read_srdf(text, str(beside)).items():
                rules[part.prefix + a, part.prefix + b] = why
    return rules


def read_srdf(text: bytes | str, source: str = '<text>') -> Rules:
    """
    Return the pairs that an SRDF excludes from collisions, and why; DescriptionError if bad.

    A pair of a link with itself stands for all its pairs that no other entry names; None instead
    of a reason = the pair counts.
    """
    document = parse_xml(text, source)
    if document.root.tag != 'robot':
        raise document.error(document.root, 'an SRDF begins with <robot>')
    rules: Rules = {}
    for each in document.root.iterfind('disable_default_collisions'):
        rules[each.get('link', ''), each.get('link', '')] = 'SRDF: disabled by default'
    for each in document.root.iterfind('*[@link1][@link2]'):
        pair = each.get('link1', ''), each.get('link2', '')
        if each.tag == 'disable_collisions':
            rules[pair] = f'SRDF: {each.get("reason") or "disabled"}'
        elif each.tag == 'enable_collisions':
            rules[pair] = None
    return rules


def read_visuals(text: bytes | str, source: str = '<text>', tag: str = 'visual') -> list[Visual]:
    """
    Return the visuals of a URDF, SDFormat file or MJCF, in the description's order.

    With `tag` = 'collision' it returns the collision geometry.

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
        return reader(document, tag)
    except DescriptionError:
        # The reader of the robot has reported the fault already.
        return []


def collision_geometry(description: Description) -> Geometry:
    """Return the collision geometry of a description."""
    bodies, notes = [], []
    for read in visuals_of(description, 'collision'):
        pose, said = pose_matrix(read.position, read.quat_xyzw), (read.bits, read.with_own)
        try:
            bodies.append(Body(read.link, _shape_of(read), pose, None, *said))
        except OptionError as error:
            notes.append(f'collision geometry of {read.link!r}: {error}')
    return bodies, notes, excluded_pairs(description)


def _shape_of(read: Visual) -> Shape:
    """Return a shape; raise OptionError if it cannot be used."""
    if read.kind == 'plane':
        return HalfSpace()
    if read.kind == 'mesh':
        path = mesh_path(read.file, read.source)
        if path is None:
            raise OptionError('mesh', read.file, 'a file that exists')
        return Mesh(path, read.size)
    if read.kind == 'unread':
        raise OptionError('shape', read.file, 'a shape that is known')
    return make_shape(read.kind, *read.size)
