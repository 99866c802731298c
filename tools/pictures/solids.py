"""The visuals of a URDF as triangles with normals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ik_node.model.rotation import pose_matrix, quat_from_euler
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GREY = (0.6, 0.62, 0.65)
# Of a full turn.
SIDES = 48


@dataclass(eq=False)
class Solid:
    """
    A coloured triangle mesh.

    Attributes
    ----------
    corners, normals : ndarray, shape (n, 3, 3)
        Triangle, corner, coordinate [m], in the frame that it belongs to.
    rgb : tuple of float
    link : str
        Which link it belongs to.

    """

    corners: Array
    normals: Array
    rgb: tuple[float, ...]
    link: str = ''

    def moved(self, pose: Array) -> Solid:
        """Return the solid at a pose, shape (4, 4)."""
        corners = self.corners @ pose[:3, :3].T + pose[:3, 3]
        return Solid(corners, self.normals @ pose[:3, :3].T, self.rgb, self.link)


def solids_of(path: Path) -> list[Solid]:
    """Return all visuals of a description, each in the frame of its link."""
    robot = ElementTree.parse(path).getroot()
    colours = {}
    for material in robot.findall('material'):
        colour = material.find('color')
        if colour is not None:
            colours[material.get('name')] = tuple(_numbers(colour, 'rgba'))[:3]
    solids = []
    for link in robot.findall('link'):
        for visual in link.findall('visual'):
            material = visual.find('material')
            name = None if material is None else material.get('name')
            origin = visual.find('origin')
            turn = quat_from_euler(*_numbers(origin, 'rpy', (0.0, 0.0, 0.0)))
            pose = pose_matrix(_numbers(origin, 'xyz', (0.0, 0.0, 0.0)), turn)
            for solid in _shapes(visual, colours.get(name, GREY)):
                solid.link = str(link.get('name'))
                solids.append(solid.moved(pose))
    return solids


def _shapes(visual: Element, rgb: tuple[float, ...]) -> Iterator[Solid]:
    for shape in visual.findall('geometry/*'):
        if shape.tag == 'box':
            yield box(_numbers(shape, 'size'), rgb)
        elif shape.tag == 'cylinder':
            yield cylinder(*_numbers(shape, 'radius'), *_numbers(shape, 'length'), rgb)
        elif shape.tag == 'sphere':
            yield ball(*_numbers(shape, 'radius'), rgb)


def _numbers(
    element: Element | None, name: str, otherwise: tuple[float, ...] = ()
) -> tuple[float, ...]:
    text = None if element is None else element.get(name)
    return otherwise if text is None else tuple(float(word) for word in text.split())


def box(size: tuple[float, ...], rgb: tuple[float, ...]) -> Solid:
    """Return a box around the origin."""
    corners, normals = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = side
            square = np.zeros((4, 3))
            square[:, axis] = side
            square[:, u], square[:, v] = (-1, 1, 1, -1), (-1, -1, 1, 1)
            corners += [square[[0, 1, 2]], square[[0, 2, 3]]]
            normals += [np.tile(normal, (3, 1))] * 2
    return Solid(np.array(corners) * 0.5 * np.array(size), np.array(normals), rgb)


def cylinder(radius: float, length: float, rgb: tuple[float, ...]) -> Solid:
    """Return a cylinder along z, the origin in its middle."""
    low, high = (0.0, -1.0), (0.0, 1.0)
    parts = [
        _turned(((0.0, -0.5 * length), (radius, -0.5 * length)), (low, low)),
        _turned(((radius, -0.5 * length), (radius, 0.5 * length)), ((1.0, 0.0), (1.0, 0.0))),
        _turned(((radius, 0.5 * length), (0.0, 0.5 * length)), (high, high)),
    ]
    corners, normals = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Solid(corners, normals, rgb)


def ball(radius: float, rgb: tuple[float, ...]) -> Solid:
    """Return a ball around the origin; a large one has more sides."""
    turns = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SIDES // 2 + 1)
    outline = np.column_stack((np.cos(turns), np.sin(turns)))
    return Solid(*_turned(radius * outline, outline), rgb)


def tube(points: Array, radius: float, rgb: tuple[float, ...]) -> Solid:
    """Return a line through points (n, 3) as one cylinder per segment."""
    found = [Solid(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), rgb)]
    for start, end in pairwise(points):
        way = end - start
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            continue
        z = way / length
        x = np.cross(z, (0.0, 0.0, 1.0) if abs(z[2]) < 0.9 else (1.0, 0.0, 0.0))
        x /= np.linalg.norm(x)
        pose = np.eye(4)
        pose[:3, :3] = np.column_stack((x, np.cross(z, x), z))
        pose[:3, 3] = 0.5 * (start + end)
        outline = np.array(((radius, -0.5 * length), (radius, 0.5 * length)))
        side = _turned(outline, ((1.0, 0.0), (1.0, 0.0)), sides=8)
        found.append(Solid(*side, rgb).moved(pose))
    corners = np.concatenate([piece.corners for piece in found])
    return Solid(corners, np.concatenate([piece.normals for piece in found]), rgb)


def _turned(outline: object, normals: object, sides: int = SIDES) -> tuple[Array, Array]:
    """Return the surface of revolution of an outline (radius, z) about z, and its normals."""
    angles = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    nets = []
    for flat in (np.asarray(outline, float), np.asarray(normals, float)):
        net = np.empty((len(flat), sides + 1, 3))
        net[:, :, 0] = flat[:, :1] * np.cos(angles)
        net[:, :, 1] = flat[:, :1] * np.sin(angles)
        net[:, :, 2] = flat[:, 1:]
        a, b, c, d = net[:-1, :-1], net[:-1, 1:], net[1:, 1:], net[1:, :-1]
        both = (np.stack((a, b, c), axis=2), np.stack((a, c, d), axis=2))
        nets.append(np.stack(both, axis=2).reshape(-1, 3, 3))
    # At the axis one of two triangles has no area.
    size = np.linalg.norm(
        np.cross(nets[0][:, 1] - nets[0][:, 0], nets[0][:, 2] - nets[0][:, 0]), axis=1
    )
    kept = size > 1e-9 * size.max()
    return nets[0][kept], nets[1][kept]
