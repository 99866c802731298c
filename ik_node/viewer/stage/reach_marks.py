"""Slice and surface of a map of a link's reach in the 3D view."""

from __future__ import annotations

from typing import Any

from ik_node.scene.look import SINGULAR
from ik_node.viewer.panels.view_panel import ReachView
from ik_node.viewer.stage.scene_nodes import add_batch
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SURFACE = (46, 140, 142)
SURFACE_OPACITY, SLICE_OPACITY = 0.32, 0.85
# Colours for shares of the orientations from 0 to 1, evenly spaced: viridis.
COLOURS = np.array(
    (
        (0.267, 0.005, 0.329),
        (0.229, 0.322, 0.546),
        (0.128, 0.567, 0.551),
        (0.369, 0.789, 0.383),
        (0.993, 0.906, 0.144),
    )
)
# Side of a drawn cell, as a share of the cell.
DRAWN = 0.94


class ReachMarks:
    """The nodes of a map, which are sent again only when something has changed."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._nodes: dict[str, Any] = {}
        self._drawn: ReachView | None = None

    def draw(self, view: ReachView | None) -> None:
        """Show a part of a map, or nothing."""
        old, self._drawn = self._drawn, view
        parts = {
            'surface': self._add_surface,
            'slice': self._add_slice,
            'singularities': self._add_singularities,
        }
        for name, add in parts.items():
            before, now = (None if each is None else _part(each, name) for each in (old, view))
            if before == now:
                continue
            node = self._nodes.pop(name, None)
            if node is not None:
                node.remove()
            if view is not None:
                add(view)

    def _add_surface(self, view: ReachView) -> None:
        if view.level is None:
            return
        vertices, faces = view.volume.surface(view.level)
        if len(faces):
            self._nodes['surface'] = self._scene.add_mesh_simple(
                '/reach/surface',
                vertices.astype(np.float32),
                faces.astype(np.uint32),
                color=SURFACE,
                opacity=SURFACE_OPACITY,
                side='double',
                cast_shadow=False,
                receive_shadow=False,
            )

    def _add_slice(self, view: ReachView) -> None:
        if not view.axis:
            return
        positions, shares = slice_cells(view)
        if not len(positions):
            return
        along = 'xyz'.index(view.axis)
        flat = 0.5 * DRAWN * view.volume.cell * np.array(((-1, -1), (1, -1), (1, 1), (-1, 1)))
        corners = np.insert(flat, along, 0.0, axis=1)
        square = corners, np.array(((0, 1, 2), (0, 2, 3)))
        poses = np.tile((1.0, 0.0, 0.0, 0.0), (len(positions), 1)), positions
        self._nodes['slice'] = add_batch(
            self._scene, '/reach/slice', square, poses, colours_of(shares), SLICE_OPACITY
        )

    def _add_singularities(self, view: ReachView) -> None:
        """Add singular lines, and the curves of the slice, or of all layers with a surface."""
        volume = view.volume
        layers = [(view.axis, view.coordinate)] if view.axis else []
        if view.level is not None:
            layers += [('z', float(at)) for at in volume.centres[2]]
        curves = [each for axis, at in layers for each in volume.curves(axis, at)]
        curves += [each for each in volume.singularities if each.plane == 'xyz' and layers]
        pieces = [np.stack([c.points[:-1], c.points[1:]], axis=1) for c in curves]
        if pieces:
            own = [np.multiply(255.0, SINGULAR[c.kind][:3]).astype(np.uint8) for c in curves]
            colours = np.repeat(own, [len(each) for each in pieces], axis=0)
            self._nodes['singularities'] = self._scene.add_line_segments(
                '/reach/singularities',
                np.concatenate(pieces).astype(np.float32),
                np.stack([colours, colours], axis=1),
                thickness=3.0,
                thickness_units='screen',
            )


def _part(view: ReachView, name: str) -> tuple[object, ...]:
    """Return what a node depends on."""
    parts = {'surface': (view.level,), 'slice': (view.axis, view.coordinate)}
    return (id(view.volume), *parts.get(name, (view.level is None, view.axis, view.coordinate)))


def slice_cells(view: ReachView) -> tuple[Array, Array]:
    """Return the middles (n, 3) [m] of the reached cells of a slice, and their shares (n,)."""
    result, along = view.volume, 'xyz'.index(view.axis)
    layer = result.layer(view.axis, view.coordinate)
    rows = np.argwhere(layer > 0.0)
    positions = result.origin + result.cell * np.insert(rows, along, 0, axis=1)
    positions[:, along] = view.coordinate
    return positions, layer[layer > 0.0].astype(np.float64)


def colours_of(shares: Array) -> Array:
    """Return colours (n, 3), from 0 to 1, for shares (n,) of the orientations."""
    index = np.linspace(0.0, 1.0, len(COLOURS))
    return np.stack([np.interp(shares, index, COLOURS[:, k]) for k in range(3)], axis=1)
