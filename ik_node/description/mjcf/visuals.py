"""Reader of the visuals and the collision geometry of an MJCF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from ik_node.description.mesh_path import Rgba, Visual
from ik_node.description.mjcf.bodies import compose, geom_size, read_pose, SIZES
from ik_node.description.mjcf.document import MjcfDocument, Pose
from ik_node.description.mjcf.reader import read_bodies
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError
from ik_node.model.rotation import quat_conjugate, quat_to_matrix, unit
import numpy as np

# Last of the geom groups (0 to 5) that MuJoCo's viewer shows by default.
SHOWN = 2
# Default colour of a material, and of a geom without a material.
WHITE: Rgba = (1.0, 1.0, 1.0, 1.0)


def read_mjcf_visuals(document: XmlDocument, tag: str = 'visual') -> list[Visual]:
    """
    Return the visible geoms of an MJCF, which are those of groups 0 to 2.

    With `tag` = 'collision' it returns those that can collide, of all groups.
    """
    geoms = _Geoms(MjcfDocument(document))
    read = geoms.visual if tag == 'visual' else geoms.collision
    result = []
    for body in geoms.bodies:
        for element, frame in body.geoms:
            try:
                result += read(body.name, element, frame)
            except DescriptionError as error:
                result.append(Visual.unread(body.name, f'geom of {body.name}: {error}'))
    return result


class _Geoms:
    """The bodies with their geoms, and the meshes and materials that geoms refer to."""

    def __init__(self, document: MjcfDocument) -> None:
        self._document = document
        self._settings, defaults, reader = read_bodies(document, [])
        self.bodies = reader.bodies
        self._materials = {
            element.get('name', ''): defaults.fill_up(element, None)
            for element in document.root.findall('asset/material')
        }
        self._folder, self._stripped = '', False
        for element in document.root.findall('compiler'):
            self._folder = element.get('meshdir') or element.get('assetdir') or self._folder
            stripped = str(self._stripped).lower()
            self._stripped = document.is_true(element, 'strippath', stripped)
        self._meshes = {
            element.get('name') or PurePosixPath(element.get('file', '')).stem: defaults.fill_up(
                element, None
            )
            for element in document.root.findall('asset/mesh')
        }

    def visual(self, link: str, element: Element, frame: Pose) -> list[Visual]:
        """Return the visual of a geom, or an empty list if it is not visible."""
        if not 0.0 <= self._document.numbers(element, 'group', (0.0,))[0] <= SHOWN:
            return []
        rgba = self._colour(element)
        if rgba is not None and rgba[3] <= 0.0:
            return []
        shapes = self._shape(link, element, frame)
        # An infinite plane is the ground, for which the page draws a floor.
        return [replace(each, rgba=rgba) for each in shapes if each.kind != 'plane' or each.size]

    def collision(self, link: str, element: Element, frame: Pose) -> list[Visual]:
        """Return the shape of a geom, or an empty list if it cannot collide."""
        own, others = (
            int(self._document.numbers(element, name, (1.0,))[0])
            for name in ('contype', 'conaffinity')
        )
        if own == others == 0:
            return []
        return [replace(e, bits=(own, others)) for e in self._shape(link, element, frame)]

    def _shape(self, link: str, element: Element, frame: Pose) -> list[Visual]:
        document = self._document
        kind = 'mesh' if element.get('mesh') is not None else element.get('type', 'sphere')
        pose, half = read_pose(document, element, self._settings)
        pose, file = compose(frame, pose), ''
        if kind == 'mesh':
            mesh = self._meshes.get(element.get('mesh', ''))
            if mesh is None or not mesh.get('file'):
                return [Visual.unread(link, f'mesh {element.get("mesh")} of {link}, no file')]
            path = PurePosixPath(mesh.attrib['file'])
            file = str(PurePosixPath(self._folder) / (path.name if self._stripped else path))
            size = document.numbers(mesh, 'scale', (1.0, 1.0, 1.0))
            pose = compose(pose, self._pose_of_mesh(mesh))
        elif kind == 'plane':
            size = [2.0 * edge for edge in document.some_numbers(element, 'size', 3)[:2]]
            if len(size) < 2 or min(size) <= 0.0:
                size = []
        elif kind in SIZES:
            size = geom_size(document, element, half)
            if not size or min(size) <= 0.0:
                return [Visual.unread(link, f'{kind} of {link}, which has no size')]
            if kind == 'box':
                size = [2.0 * edge for edge in size]
            elif kind in ('cylinder', 'capsule'):
                size[1] *= 2.0
        else:
            return [Visual.unread(link, f'{kind} of {link}')]
        position, quat = (tuple(part.tolist()) for part in pose)
        return [Visual(link, position, quat, kind, tuple(size), file)]

    def _pose_of_mesh(self, mesh: Element) -> Pose:
        """Return the pose of a file's frame in the frame of a geom."""
        position = np.array(self._document.numbers(mesh, 'refpos', (0.0, 0.0, 0.0)))
        w, x, y, z = self._document.numbers(mesh, 'refquat', (1.0, 0.0, 0.0, 0.0))
        back = quat_conjugate(unit((x, y, z, w)))
        return -(quat_to_matrix(back) @ position), back

    def _colour(self, element: Element) -> Rgba | None:
        """Return the colour of a geom, else that of its material; None if neither has one."""
        material = self._materials.get(element.get('material', ''))
        for said in (element, material):
            if said is not None and said.get('rgba') is not None:
                r, g, b, opacity = self._document.numbers(said, 'rgba', WHITE)
                return r, g, b, opacity
        return None if material is None else WHITE
