"""Rasterisation of triangles with a depth buffer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Layers:
    """
    The buffers of a picture.

    Attributes
    ----------
    nearness : ndarray, shape (rows, columns)
        Larger is nearer; 0 = nothing there.
    normal : ndarray, shape (rows, columns, 3)
    index : ndarray of int, shape (rows, columns)
        Of the solid; -1 = none.

    """

    nearness: Array
    normal: Array
    index: NDArray[np.int64]


def rastered(
    places: Array, normals: Array, owners: NDArray[np.int64], shape: tuple[int, int]
) -> Layers:
    """
    Draw triangles.

    Parameters
    ----------
    places : ndarray, shape (n, 3, 3)
        Corners as column, row, nearness; the last must be linear in the first two on a plane.
    normals : ndarray, shape (n, 3, 3)
        Of the corners.
    owners : ndarray of int, shape (n,)
        Index of each triangle's solid.
    shape : (int, int)
        Rows and columns.

    """
    rows, columns = shape
    layers = Layers(np.zeros(shape), np.zeros((*shape, 3)), np.full(shape, -1, dtype=np.int64))
    flat = places[:, :, :2]
    low = np.clip(np.floor(flat.min(axis=1)).astype(int), 0, None)
    high = np.minimum(np.ceil(flat.max(axis=1)).astype(int) + 1, (columns, rows))
    a, b, c = flat[:, 0], flat[:, 1], flat[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    drawn = (np.abs(area) > 1e-12) & (low < high).all(axis=1)
    for k in np.flatnonzero(drawn):
        (x0, y0), (x1, y1) = low[k], high[k]
        x, y = np.arange(x0, x1) + 0.5, (np.arange(y0, y1) + 0.5)[:, None]
        share_b = (
            (x - a[k, 0]) * (c[k, 1] - a[k, 1]) - (y - a[k, 1]) * (c[k, 0] - a[k, 0])
        ) / area[k]
        share_c = (
            (b[k, 0] - a[k, 0]) * (y - a[k, 1]) - (b[k, 1] - a[k, 1]) * (x - a[k, 0])
        ) / area[k]
        share_a = 1.0 - share_b - share_c
        near = share_a * places[k, 0, 2] + share_b * places[k, 1, 2] + share_c * places[k, 2, 2]
        here = (slice(y0, y1), slice(x0, x1))
        inside = (share_a >= 0.0) & (share_b >= 0.0) & (share_c >= 0.0)
        inside &= near > layers.nearness[here]
        if not inside.any():
            continue
        layers.nearness[here][inside] = near[inside]
        layers.index[here][inside] = owners[k]
        shares = (share_a[inside], share_b[inside], share_c[inside])
        layers.normal[here][inside] = np.stack(shares, axis=1) @ normals[k]
    return layers
