"""Reader of the visuals of an MJCF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ik_node.description.mesh_path import Rgba, Visual
from ik_node.description.mjcf.bodies import BodyReader, compose, geom_pose, geom_size, Pose, SIZES
from ik_node.description.mjcf.document import Defaults, MjcfDocument, read_settings, Settings
from ik_node.description.mjcf.expand import Attachments, expand_replicates
from ik_node.description.mjcf.reader import read_model
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError
from ik_node.model.rotation import quat_conjugate, quat_to_matrix, unit
import numpy as np


class MeshAsset(NamedTuple):
    """A mesh file of an MJCF."""

    file: str  # Path, absolute or relative to the description's folder
    scale: list[float]  # Factors along x, y, z
    pose: Pose  # Of the file's frame in the frame of a geom [m]


class MeshAssets:
    """The meshes in <asset>, with the settings in <compiler>."""

    def __init__(self, document: MjcfDocument, defaults: Defaults) -> None:
        self._document = document
        self._folder, self._stripped = '', False
        for element in document.sections('compiler'):
            self._folder = element.get('meshdir') or element.get('assetdir') or self._folder
            stripped = str(self._stripped).lower()
            self._stripped = document.is_true(element, 'strippath', stripped)
        self._elements: dict[str, Element] = {}
        for section in document.sections('asset'):
            for element in section.findall('mesh'):
                name = element.get('name') or PurePosixPath(element.get('file', '')).stem
                self._elements[name] = defaults.fill_up(element, None)

    def find(self, geom: Element) -> MeshAsset | None:
        """Return the mesh of a geom; None if it has no file."""
        document, element = self._document, self._elements.get(geom.get('mesh', ''))
        file = None if element is None else element.get('file')
        if element is None or not file:
            return None
        path = PurePosixPath(file)
        if self._stripped:
            path = PurePosixPath(path.name)
        scale = document.numbers(element, 'scale', (1.0, 1.0, 1.0))
        place = np.array(document.numbers(element, 'refpos', (0.0, 0.0, 0.0)))
        w, x, y, z = document.numbers(element, 'refquat', (1.0, 0.0, 0.0, 0.0))
        back = quat_conjugate(unit((x, y, z, w)))
        pose = -(quat_to_matrix(back) @ place), back
        return MeshAsset(str(PurePosixPath(self._folder) / path), scale, pose)


# Last of the geom groups (0 to 5) that MuJoCo's viewer shows by default.
SHOWN = 2
# Default colour of a material, and of a geom without a material.
WHITE: Rgba = (1.0, 1.0, 1.0, 1.0)


def read_mjcf_visuals(document: XmlDocument, tag: str = 'visual') -> list[Visual]:
    """
    Return the visible geoms of an MJCF, which are those of groups 0 to 2.

    With `tag` = 'collision' it returns those that can collide, of all groups.
    """
    whole = MjcfDocument(document)
    settings = read_settings(whole)
    expand_replicates(whole, settings)
    defaults = Defaults(whole, [])
    reader = BodyReader(whole, settings, defaults, [], Attachments(whole, read_model, []).model_of)
    geoms = _Geoms(whole, settings, defaults)
    result = []
    for body, own, elements in zip(reader.bodies, reader.elements, reader.geoms, strict=True):
        if own is None:
            result.append(Visual.unread(body.name, f'geoms of the attached {body.name}'))
        for element, frame in elements:
            try:
                if tag == 'visual':
                    result += geoms.visual(body.name, element, frame)
                else:
                    result += geoms.collision(body.name, element, frame)
            except DescriptionError as error:
                result.append(Visual.unread(body.name, f'geom of {body.name}: {error}'))
    return result


class _Geoms:
    """The meshes and materials that geoms refer to."""

    def __init__(self, document: MjcfDocument, settings: Settings, defaults: Defaults) -> None:
        self._document = document
        self._settings = settings
        self._meshes = MeshAssets(document, defaults)
        self._materials = {
            element.get('name', ''): defaults.fill_up(element, None)
            for section in document.sections('asset')
            for element in section.findall('material')
        }

    def visual(self, link: str, element: Element, frame: Pose) -> list[Visual]:
        """Return the visual of a geom, or an empty list if it is not visible."""
        if not 0.0 <= self._document.numbers(element, 'group', (0.0,))[0] <= SHOWN:
            return []
        rgba = self._colour(element)
        if rgba is not None and rgba[3] <= 0.0:
            return []
        return self._shape(link, element, frame, rgba)

    def collision(self, link: str, element: Element, frame: Pose) -> list[Visual]:
        """Return the shape of a geom, or an empty list if it cannot collide."""
        document = self._document
        bits = tuple(
            int(document.numbers(element, name, (1.0,))[0]) for name in ('contype', 'conaffinity')
        )
        if bits == (0, 0):
            return []
        if element.get('type') == 'plane':
            place, quat = (tuple(part.tolist()) for part in self._pose(element, frame))
            return [Visual(link, place, quat, 'plane', (), bits=(bits[0], bits[1]))]
        found = self._shape(link, element, frame, None)
        return [replace(each, bits=(bits[0], bits[1])) for each in found]

    def _pose(self, element: Element, frame: Pose) -> Pose:
        return compose(frame, geom_pose(self._document, element, self._settings)[0])

    def _shape(self, link: str, element: Element, frame: Pose, rgba: Rgba | None) -> list[Visual]:
        document = self._document
        kind = 'mesh' if element.get('mesh') is not None else element.get('type', 'sphere')
        pose, half = geom_pose(document, element, self._settings)
        pose, file = compose(frame, pose), ''
        if kind == 'mesh':
            asset = self._meshes.find(element)
            if asset is None:
                return [Visual.unread(link, f'mesh {element.get("mesh")} of {link}, no file')]
            file, size, pose = asset.file, list(asset.scale), compose(pose, asset.pose)
        elif kind == 'plane':
            # An infinite plane is the ground, for which the page draws a floor.
            size = [2.0 * edge for edge in document.some_numbers(element, 'size', 3)[:2]]
            if len(size) < 2 or min(size) <= 0.0:
                return []
        elif kind in SIZES:
            size = geom_size(document, element, half)
            if not size:
                return [Visual.unread(link, f'{kind} of {link}, which has no size')]
            if kind == 'box':
                size = [2.0 * edge for edge in size]
            elif kind in ('cylinder', 'capsule'):
                size[1] *= 2.0
        else:
            return [Visual.unread(link, f'{kind} of {link}')]
        place, quat = (tuple(part.tolist()) for part in pose)
        return [Visual(link, place, quat, kind, tuple(size), file, rgba)]

    def _colour(self, element: Element) -> Rgba | None:
        """Return the colour of a geom, else that of its material; None if neither has one."""
        material = self._materials.get(element.get('material', ''))
        for said in (element, material):
            if said is not None and said.get('rgba') is not None:
                r, g, b, opacity = self._document.numbers(said, 'rgba', WHITE)
                return r, g, b, opacity
        return None if material is None else WHITE
