"""Nodes of the page for the shapes of a scene, which are updated in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from math import ceil, cos, floor, sin
from typing import Any, NamedTuple
from urllib.parse import quote

from ik_node.scene.look import NO_TURN
from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import Capsule, Quat, Rgba, Sector, Segment, Shape, Sphere, Text
from ik_node.viewer.stage.view_ray import OnClick, ViewRay
import numpy as np
from numpy.typing import NDArray

Wxyz = tuple[float, float, float, float]

# Corners closer than this share of the size are merged.
_SAME = 1e-6
# Edges within this angle of half a turn from the hand count as following the hand [rad].
_EDGE = 1e-9
# An edge of a sector that is not a limit is drawn at a multiple of this angle [rad].
SEAM = np.pi / 12.0


class ShapeMesh(NamedTuple):
    """
    A mesh of one colour: vertices (n, 3) [m] and the vertex indices of its faces (m, 3).

    `key` is equal for meshes with the same triangles and opacity. `is_hand` tells whether it is
    the hand of a sector, which points along x in this mesh.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    rgba: Rgba
    key: tuple[Any, ...]
    is_hand: bool = False


def settled(shape: Shape) -> Shape:
    """
    Return a shape with the edges of a sector that follow its hand rounded to steps.

    Such edges are half a turn from the hand if the limits are more than a turn apart. Without the
    steps, every value would need a new mesh.
    """
    if not isinstance(shape, Sector) or shape.value is None:
        return shape
    low = abs(shape.value - np.pi - shape.lower) < _EDGE
    high = abs(shape.value + np.pi - shape.upper) < _EDGE
    if low and high:
        return replace(shape, lower=-np.pi, upper=np.pi)
    if high:
        return replace(shape, upper=SEAM * ceil(shape.upper / SEAM))
    if low:
        return replace(shape, lower=SEAM * floor(shape.lower / SEAM))
    return shape


def meshes_of(shape: Shape) -> list[ShapeMesh]:
    """Return the meshes of a shape in its own frame; a line is 1 m long, a text has no mesh."""
    more: dict[str, Any] = {'length': 1.0} if isinstance(shape, Segment) else {}
    if isinstance(shape, Sector) and shape.value is not None:
        more = {'value': 0.0}
    origin = (0.0, 0.0, 0.0)
    return _meshes(replace(shape, name='', of='', position=origin, quat_xyzw=NO_TURN, **more))


@lru_cache(maxsize=4096)
def _meshes(shape: Shape) -> list[ShapeMesh]:
    triangles, colours = mesh_of(shape)
    # Round shapes need shared corners for smooth shading.
    smooth = isinstance(shape, (Capsule, Sphere))
    made = []
    form = replace(shape, rgba=(0.0, 0.0, 0.0, 0.0))
    for number, rgba in enumerate(dict.fromkeys(map(tuple, colours.tolist()))):
        chosen = triangles[(colours == rgba).all(axis=1)]
        r, g, b, opacity = rgba
        hand = number == 1 and isinstance(shape, Sector)
        # Sectors of one size share the mesh of their hand.
        key = (Sector, 'hand', shape.radius) if isinstance(shape, Sector) and hand else (form,)
        vertices, faces = _mesh(chosen.reshape(-1, 3), smooth)
        made.append(ShapeMesh(vertices, faces, (r, g, b, opacity), (*key, number, opacity), hand))
    return made


def _mesh(
    corners: NDArray[np.float64], smooth: bool
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    faces = np.arange(len(corners))
    if smooth:
        grid = np.round(corners / (_SAME * max(np.ptp(corners), 1e-12)))
        _, first, inverse = np.unique(grid, axis=0, return_index=True, return_inverse=True)
        corners, faces = corners[first], inverse.reshape(-1)
    return corners.astype(np.float32), faces.reshape(-1, 3).astype(np.uint32)


class SceneNodes:
    """
    The nodes of the page that show the shapes of a scene.

    Shapes with the same mesh share a node, so that one message moves all of them.
    A click on a link calls `on_click` with its name and the `ViewRay` of the click.
    """

    def __init__(self, scene: Any, on_click: OnClick) -> None:
        self._scene = scene
        self._on_click = on_click
        self._batches: dict[tuple[Any, ...], _Batch] = {}
        self._labels: dict[str, Any] = {}

    def draw(self, shapes: Iterable[Shape]) -> None:
        """Show exactly these shapes."""
        texts = []
        for shape in shapes:
            if isinstance(shape, Text):
                texts.append(shape)
                continue
            shape = settled(shape)
            for mesh in meshes_of(shape):
                key = (shape.layer, *mesh.key)
                batch = self._batches.get(key)
                if batch is None:
                    name = f'/{shape.layer}/{len(self._batches)}'
                    batch = self._batches[key] = _Batch(self._scene, name, mesh, self._on_click)
                batch.add(shape, mesh)
        for batch in self._batches.values():
            batch.show()
        self._write(texts)

    def clear(self) -> None:
        """Remove all nodes."""
        for batch in self._batches.values():
            batch.remove()
        self._batches.clear()
        self._write([])

    def _write(self, texts: list[Text]) -> None:
        named = {text.name: text for text in texts}
        for name in [name for name in self._labels if name not in named]:
            self._labels.pop(name).remove()
        for name, text in named.items():
            label = self._labels.get(name)
            if label is None:
                # Slashes in a name would make the node a child of another one.
                index = f'/{text.layer}/{quote(name, safe="")}'
                label = self._labels[name] = self._scene.add_label(
                    index,
                    text.text,
                    font_size_mode='scene',
                    font_scene_height=text.height,
                    anchor='center-center',
                )
            label.position, label.text = text.position, text.text


class _Batch:
    """A node for all meshes of a layer with the same triangles and opacity."""

    def __init__(self, scene: Any, name: str, mesh: ShapeMesh, on_click: OnClick) -> None:
        self._scene = scene
        self._name = name
        self._mesh = mesh
        self._on_click = on_click
        self._node: Any = None
        self._of: list[str] = []
        self._shown_colours: list[tuple[float, float, float]] = []
        self._begin()

    def _begin(self) -> None:
        self._next: list[str] = []
        self._positions: list[tuple[float, float, float]] = []
        self._wxyzs: list[Wxyz] = []
        self._lengths: list[float] = []
        self._colours: list[tuple[float, float, float]] = []

    def add(self, shape: Shape, mesh: ShapeMesh) -> None:
        """Add a mesh of a shape to the next update."""
        self._next.append(shape.of)
        self._positions.append(shape.position)
        wxyz = wxyz_of(shape.quat_xyzw)
        if mesh.is_hand and isinstance(shape, Sector) and shape.value is not None:
            wxyz = turned(wxyz, shape.value)
        self._wxyzs.append(wxyz)
        if isinstance(shape, Segment):
            self._lengths.append(shape.length)
        self._colours.append(mesh.rgba[:3])

    def show(self) -> None:
        """Show exactly the meshes that were added since the last update."""
        if not self._next:
            if self._node is not None:
                self._node.visible = False
            return
        self._of = self._next
        scales = None
        if self._lengths:
            scales = np.ones((len(self._lengths), 3))
            scales[:, 2] = self._lengths
        if self._node is None:
            self._node = self._add(scales)
        else:
            self._node.batched_positions = np.array(self._positions, dtype=np.float32)
            self._node.batched_wxyzs = np.array(self._wxyzs, dtype=np.float32)
            if self._colours != self._shown_colours:
                self._node.batched_colors = bytes_of(self._colours)
            if scales is not None:
                self._node.batched_scales = scales.astype(np.float32)
            self._node.visible = True
        self._shown_colours = self._colours
        self._begin()

    def remove(self) -> None:
        """Remove the node from the page."""
        if self._node is not None:
            self._node.remove()
            self._node = None

    def _add(self, scales: Any) -> Any:
        mesh, places = self._mesh, (self._wxyzs, self._positions)
        corners = mesh.vertices, mesh.faces
        look = self._colours, mesh.rgba[3]
        node = add_batch(self._scene, self._name, corners, places, *look, batched_scales=scales)
        if self._name.startswith(('/links/', '/ghosts/')):

            async def clicked(event: Any) -> None:
                if event.instance_index is not None and event.instance_index < len(self._of):
                    self._on_click(self._of[event.instance_index], ViewRay.of(event))

            node.on_click(clicked)
        return node


def add_batch(
    scene: Any,
    name: str,
    mesh: tuple[Any, Any],
    poses: tuple[Any, Any],
    colours: Any,
    opacity: float,
    **more: Any,
) -> Any:
    """
    Add a node for copies of a mesh without shadows, and return it.

    `mesh` has the vertices (n, 3) [m] and faces (m, 3), `poses` the quaternions (wxyz) and
    positions [m] of the copies, `colours` one sRGB colour for each.
    """
    vertices, faces = mesh
    return scene.add_batched_meshes_simple(
        name,
        vertices.astype(np.float32),
        faces.astype(np.uint32),
        batched_wxyzs=np.array(poses[0]),
        batched_positions=np.array(poses[1]),
        batched_colors=bytes_of(colours),
        lod='off',
        opacity=None if opacity >= 1.0 else opacity,
        cast_shadow=False,
        receive_shadow=False,
        **{'side': 'double', **more},
    )


def bytes_of(colours: list[tuple[float, float, float]]) -> NDArray[np.uint8]:
    """Convert colours to the format of viser's batched meshes."""
    return np.round(255.0 * linear(np.array(colours))).astype(np.uint8)


def linear(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert sRGB colours to linear intensities."""
    low, high = srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4
    result: NDArray[np.float64] = np.where(srgb <= 0.04045, low, high)
    return result


def wxyz_of(quat_xyzw: Quat) -> Wxyz:
    """Return a quaternion with w first."""
    x, y, z, w = quat_xyzw
    return w, x, y, z


def turned(wxyz: Wxyz, angle: float) -> Wxyz:
    """Return the product of a rotation and a rotation about z [rad]."""
    w, x, y, z = wxyz
    c, s = cos(0.5 * angle), sin(0.5 * angle)
    return w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
