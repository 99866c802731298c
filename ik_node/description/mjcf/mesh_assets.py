"""The meshes that an MJCF names."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ik_node.description.mjcf.bodies import Pose
from ik_node.description.mjcf.defaults import Defaults
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.model.rotation import quat_conjugate, quat_to_matrix, unit
import numpy as np


class MeshAsset(NamedTuple):
    """
    A file with triangles.

    Attributes
    ----------
    file : str
        From the folder of the description, or absolute.
    scale : list of float
        Factors along x, y, z.
    pose : (position, quaternion)
        Of the file's own frame in that of a geom [m].

    """

    file: str
    scale: list[float]
    pose: Pose


class MeshAssets:
    """
    What <asset> and <compiler> say of meshes.

    Parameters
    ----------
    document : MjcfDocument
    defaults : Defaults
        A class may say how meshes are scaled.

    """

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
        """
        Return the mesh of a geom; None = it has no file.

        Raises
        ------
        DescriptionError
            If its numbers cannot be read.

        """
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
