"""Bodies for which viser has no shape of its own, as triangles."""

from __future__ import annotations

from typing import Any

from ik_node.description.mesh_path import mesh_path
from ik_node.description.visual import Visual
from ik_node.model.rotation import quat_to_matrix
from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import Capsule, Cylinder, Shape, Sphere
from ik_node.viewer.stage.mesh_reader import MeshReader, Triangles
from ik_node.viewer.stage.shape_pieces import pieces_of
import numpy as np
from numpy.typing import NDArray

# Sides of what is round.
SIDES = 24
_HERE: dict[str, Any] = {
    'name': '',
    'layer': 'links',
    'of': '',
    'position': (0.0, 0.0, 0.0),
    'quat_xyzw': (0.0, 0.0, 0.0, 1.0),
    'rgba': (1.0, 1.0, 1.0, 1.0),
    'draw_through': 0.0,
}
# Two triangles a side, of a cube from -1 to 1.
_CUBE = np.array(
    [
        [sign * np.roll((1.0, y, z), axis) for y, z in corners]
        for axis in range(3)
        for sign in (-1.0, 1.0)
        for corners in (((-1, -1), (1, -1), (1, 1)), ((-1, -1), (1, 1), (-1, 1)))
    ]
)


def body_triangles(visual: Visual, mesh: Triangles | None) -> NDArray[np.float64]:
    """
    Return a visual in the frame of its link, (n, 3, 3): triangle, corner, coordinate [m].

    Parameters
    ----------
    visual : Visual
        Of any kind that is drawn.
    mesh : Triangles or None
        As `body_mesh` has returned it; None = a box, cylinder or sphere.

    """
    if mesh is not None:
        corners = mesh.vertices.astype(np.float64)[mesh.faces]
    elif visual.kind == 'box':
        corners = 0.5 * np.array(visual.size) * _CUBE
    elif visual.kind == 'sphere':
        corners = mesh_of(_ball(visual.size[0]))[0]
    else:
        radius, length = visual.size
        corners = mesh_of(Cylinder(**_HERE, radius=radius, length=length, segments=SIDES))[0]
    placed: NDArray[np.float64] = corners @ quat_to_matrix(visual.quat_xyzw).T + visual.position
    return placed


def body_mesh(visual: Visual, source: str, reader: MeshReader) -> Triangles | None:
    """
    Return a visual as triangles, in [m].

    Parameters
    ----------
    visual : Visual
        Of a kind that is no box, cylinder or sphere.
    source : str
        File of the description.
    reader : MeshReader
        For mesh files.

    Returns
    -------
    Triangles or None
        None = it cannot be drawn.

    """
    if visual.kind == 'capsule':
        radius, length = visual.size
        return _round(Capsule(**_HERE, radius=radius, length=length, segments=SIDES))
    if visual.kind == 'ellipsoid':
        ball = _round(_ball(1.0))
        return Triangles(ball.vertices * np.array(visual.size, dtype=np.float32), ball.faces)
    if visual.kind == 'plane':
        x, y = (0.5 * edge for edge in visual.size)
        corners = np.array(((-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)), dtype=np.float32)
        return Triangles(corners, np.array(((0, 1, 2), (0, 2, 3)), dtype=np.uint32))
    path = mesh_path(visual.file, source) if visual.kind == 'mesh' else None
    return None if path is None else reader.read(path, visual.size, coloured=visual.rgba is None)


def _ball(radius: float) -> Sphere:
    return Sphere(**_HERE, radius=radius, segments=SIDES)


def _round(shape: Shape) -> Triangles:
    piece = pieces_of(shape)[0]
    return Triangles(piece.vertices, piece.faces)
