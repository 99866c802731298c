"""A floor of lines."""

from __future__ import annotations

from math import ceil, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Cells from one side to the other, and the width of a line as a share of a cell.
CELLS = 14
WIDTH = 0.008
COLOUR = (170, 173, 180)


def add_floor(scene: Any, size: float, height: float) -> Any:
    """
    Add lines on a plane, in a round distance.

    Parameters
    ----------
    scene : viser.SceneApi
        Where to.
    size : float
        Of what stands on it [m].
    height : float
        Where it is [m].

    """
    cell = 10.0 ** ceil(log10(size) - 1.0)
    vertices, faces = lines(cell)
    return scene.add_mesh_simple(
        '/floor',
        vertices.astype(np.float32),
        faces.astype(np.uint32),
        color=COLOUR,
        side='double',
        cast_shadow=False,
        receive_shadow=False,
        position=(0.0, 0.0, height),
    )


def lines(cell: float) -> tuple[Array, NDArray[np.int64]]:
    """Return flat bars along x and y, `cell` apart [m], as corners and triangles."""
    half, wide = 0.5 * CELLS * cell, 0.5 * WIDTH * cell
    places = np.linspace(-half, half, CELLS + 1).tolist()
    bars = [(-half, at - wide, half, at + wide) for at in places]
    bars += [(at - wide, -half, at + wide, half) for at in places]
    corners = [((a, b, 0.0), (c, b, 0.0), (c, d, 0.0), (a, d, 0.0)) for a, b, c, d in bars]
    first = 4 * np.arange(len(bars))[:, None, None]
    faces = first + np.array(((0, 1, 2), (0, 2, 3)))
    return np.array(corners).reshape(-1, 3), faces.reshape(-1, 3)
