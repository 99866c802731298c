"""Bodies for which viser has no shape of its own, as triangles."""

from __future__ import annotations

from typing import Any, NamedTuple

from ik_node.description.mesh_path import mesh_path
from ik_node.description.visual import Visual
from ik_node.model.rotation import quat_to_matrix
from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import Capsule, Cylinder, Shape, Sphere
from ik_node.viewer.stage.shape_pieces import pieces_of
import numpy as np
from numpy.typing import NDArray

# Larger mesh files are left out: a browser would not take them either.
MOST_BYTES = 64 * 2**20
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


class Triangles(NamedTuple):
    """Corners (n, 3) [m] and faces (m, 3)."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]


def body_triangles(visual: Visual, mesh: Any) -> NDArray[np.float64]:
    """
    Return a visual in the frame of its link, (n, 3, 3): triangle, corner, coordinate [m].

    Parameters
    ----------
    visual : Visual
        Of any kind that is drawn.
    mesh : Triangles, trimesh.Trimesh or None
        As `body_mesh` has returned it; None = a box, cylinder or sphere.

    """
    if mesh is not None:
        vertices, faces = mesh if isinstance(mesh, Triangles) else (mesh.vertices, mesh.faces)
        corners = np.asarray(vertices, dtype=np.float64)[np.asarray(faces)]
    elif visual.kind == 'box':
        corners = 0.5 * np.array(visual.size) * _CUBE
    elif visual.kind == 'sphere':
        corners = mesh_of(_ball(visual.size[0]))[0]
    else:
        radius, length = visual.size
        corners = mesh_of(Cylinder(**_HERE, radius=radius, length=length, segments=SIDES))[0]
    placed: NDArray[np.float64] = corners @ quat_to_matrix(visual.quat_xyzw).T + visual.position
    return placed


def body_mesh(visual: Visual, source: str) -> Any:
    """
    Return a visual as triangles, in [m].

    Parameters
    ----------
    visual : Visual
        Of a kind that is no box, cylinder or sphere.
    source : str
        File of the description.

    Returns
    -------
    Triangles, trimesh.Trimesh or None
        The last but one has colours of its own; None = it cannot be drawn.

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
    return _from_file(visual, source) if visual.kind == 'mesh' else None


def _ball(radius: float) -> Sphere:
    return Sphere(**_HERE, radius=radius, segments=SIDES)


def _round(shape: Shape) -> Triangles:
    piece = pieces_of(shape)[0]
    return Triangles(piece.vertices, piece.faces)


def _from_file(visual: Visual, source: str) -> Any:
    path = mesh_path(visual.file, source)
    if path is None or path.stat().st_size > MOST_BYTES:
        return None
    import trimesh

    try:
        mesh = trimesh.load_mesh(path, process=False)
        if isinstance(mesh, trimesh.Scene):
            mesh = mesh.to_geometry()
        mesh.apply_scale(visual.size)
    except Exception:  # noqa: BLE001
        # Readers of a dozen formats fail in as many ways; the link is then drawn as a rod.
        return None
    return mesh if len(mesh.faces) else None
