"""A scene with camera, sun, ground and shadows for solids."""

from __future__ import annotations

from math import cos, radians, sin, tan

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from tools.pictures.light import NEAR, openness, shaded, TO_SUN
from tools.pictures.raster import Layers, rastered
from tools.pictures.solids import Solid

Array = NDArray[np.float64]

# One for the whole background, so that only shadows are seen on it.
FLOOR = np.array((0.955, 0.962, 0.972))
LINES = np.array((0.865, 0.885, 0.91))
# What the ground keeps where the sun does not come, and where the sky does not.
SHADE, DIM_FLOOR = 0.70, 0.75
# Angle of view [deg]; small, so that parallels look parallel.
VIEW = 22.0
# Share of the picture that what is shown takes up.
FILLED = 0.88
# How much of a mark is seen through what is in front of it.
HIDDEN = 0.4
# Pixels are the mean of so many squared.
FINE = 2
SHADOW_PIXELS = 1400


class Stage:
    """
    A camera and its picture.

    Parameters
    ----------
    shown : ndarray, shape (n, 3)
        Points that must be in the picture.
    floor : float
        Height of the ground [m].
    azimuth, elevation : float
        Direction of the camera [deg]: about z from x, and above the ground.
    size : (int, int)
        Columns and rows of the picture.

    """

    def __init__(
        self, shown: Array, floor: float, azimuth: float, elevation: float, size: tuple[int, int]
    ) -> None:
        self.floor = floor
        self.columns, self.rows = size[0] * FINE, size[1] * FINE
        around, up = radians(azimuth), radians(elevation)
        self._back = np.array((cos(up) * cos(around), cos(up) * sin(around), sin(up)))
        self._right = np.array((-sin(around), cos(around), 0.0))
        self._up = np.cross(self._back, self._right)
        middle = self._middle = 0.5 * (shown.min(axis=0) + shown.max(axis=0))
        self.reach = float(np.linalg.norm(shown - middle, axis=1).max())
        self._eye = middle + self._back * 1.15 * self.reach / tan(radians(0.5 * VIEW))
        self._scale, self._shift = 1.0, np.zeros(2)
        flat = self.project(shown)[:, :2]
        span = flat.max(axis=0) - flat.min(axis=0)
        self._scale = FILLED * float(min(self.columns / span[0], self.rows / span[1]))
        flat = self.project(shown)[:, :2]
        centre = 0.5 * (flat.max(axis=0) + flat.min(axis=0))
        self._shift = np.array((0.5 * self.columns, 0.5 * self.rows)) - centre
        depth = float(np.linalg.norm(self._eye - self._middle))
        # So long is a pixel of the picture in the middle of the scene [m].
        self.pixel = FINE * depth / self._scale

    def project(self, points: Array) -> Array:
        """Return column, row and 1 / depth of points (..., 3)."""
        seen = points - self._eye
        depth = -seen @ self._back
        flat = np.stack((seen @ self._right, -(seen @ self._up)), axis=-1) / depth[..., None]
        flat = flat * self._scale + self._shift
        return np.concatenate((flat, 1.0 / depth[..., None]), axis=-1)

    def picture(self, solids: list[Solid], marks: list[Solid]) -> Array:
        """
        Return the picture, shape (rows, columns, 3), from 0 to 1.

        Parameters
        ----------
        solids : list of Solid
            In the root frame.
        marks : list of Solid
            Bodies that emit light, cast no shadow, and are visible through other bodies.

        """
        layers, corners, owners = self._drawn(solids)
        places = self._places(layers)
        on_floor = self._put_floor(layers, places)
        lit = self._lit(corners, owners, places)
        dim = self._openness(layers, places)
        image = np.tile(FLOOR, (self.rows, self.columns, 1))
        own = layers.index >= 0
        colours = np.array([solid.rgb for solid in solids])[layers.index[own]]
        image[own] = shaded(colours, layers.normal[own], self._back, lit[own], dim[own])
        self._draw_floor(image, places, on_floor, lit, dim)
        self._draw_edges(image, layers)
        self._draw_marks(image, layers, marks)
        image = np.clip(image, 0.0, 1.0)
        shape = (self.rows // FINE, FINE, self.columns // FINE, FINE, 3)
        return image.reshape(shape).mean(axis=(1, 3))

    def _drawn(self, solids: list[Solid]) -> tuple[Layers, Array, NDArray[np.int64]]:
        """Return the buffers of solids, their triangles and owners."""
        corners = np.concatenate([solid.corners for solid in solids])
        normals = np.concatenate([solid.normals for solid in solids])
        owners = np.repeat(np.arange(len(solids)), [len(solid.corners) for solid in solids])
        layers = rastered(self.project(corners), normals, owners, (self.rows, self.columns))
        layers.normal /= np.maximum(np.linalg.norm(layers.normal, axis=2), 1e-9)[..., None]
        return layers, corners, owners

    def _openness(self, layers: Layers, places: Array) -> Array:
        """Return the visible share of the sky for each pixel, at half resolution."""
        near = NEAR * self.reach
        coarse = (slice(None, None, FINE), slice(None, None, FINE))
        found = openness(places[coarse], layers.normal[coarse], near, near / self.pixel)
        return found.repeat(FINE, axis=0).repeat(FINE, axis=1)

    def _draw_marks(self, image: Array, layers: Layers, marks: list[Solid]) -> None:
        if not marks:
            return
        over, _, _ = self._drawn(marks)
        facing = np.clip(over.normal @ TO_SUN, 0.0, 1.0)
        colours = np.array([mark.rgb for mark in marks])[np.maximum(over.index, 0)]
        colours *= (0.8 + 0.25 * facing)[..., None]
        hidden = over.nearness < layers.nearness
        cover = np.where(over.index >= 0, np.where(hidden, HIDDEN, 1.0), 0.0)[..., None]
        image[:] = image * (1.0 - cover) + colours * cover

    def _rays(self) -> Array:
        """Return the viewing ray of every pixel, scaled to a depth of 1 m."""
        x = (np.arange(self.columns) + 0.5 - self._shift[0]) / self._scale
        y = -(np.arange(self.rows) + 0.5 - self._shift[1]) / self._scale
        flat = x[None, :, None] * self._right + y[:, None, None] * self._up
        return flat - self._back

    def _places(self, layers: Layers) -> Array:
        """Return the position of the point in each pixel, shape (rows, columns, 3)."""
        depth = 1.0 / np.maximum(layers.nearness, 1e-6)
        return self._eye + self._rays() * depth[..., None]

    def _put_floor(self, layers: Layers, places: Array) -> NDArray[np.bool_]:
        """Put the ground into all pixels that show nothing above it."""
        rays = self._rays()
        down = rays[..., 2]
        depth = np.where(
            down < -1e-6, (self.floor - self._eye[2]) / np.minimum(down, -1e-6), np.inf
        )
        on_floor = 1.0 / depth > layers.nearness
        layers.nearness[on_floor] = 1.0 / depth[on_floor]
        layers.index[on_floor] = -2
        layers.normal[on_floor] = (0.0, 0.0, 1.0)
        places[on_floor] = self._eye + rays[on_floor] * depth[on_floor, None]
        return on_floor

    def _lit(self, corners: Array, owners: NDArray[np.int64], places: Array) -> Array:
        """Return the visible share of the sun for each pixel, from 0 to 1."""
        side = np.cross(TO_SUN, (0.0, 0.0, 1.0))
        side /= np.linalg.norm(side)
        over = np.cross(side, TO_SUN)
        axes = np.column_stack((side, over, TO_SUN))
        seen = corners @ axes
        low, high = seen.reshape(-1, 3).min(axis=0), seen.reshape(-1, 3).max(axis=0)
        scale = (SHADOW_PIXELS - 20) / float((high - low)[:2].max())
        flat = (seen - low) * (scale, scale, 1.0) + (10.0, 10.0, 1.0)
        size = (SHADOW_PIXELS, SHADOW_PIXELS)
        heights = rastered(flat, np.zeros_like(corners), owners, size).nearness
        here = (places @ axes - low) * (scale, scale, 1.0) + (10.0, 10.0, 1.0)
        bias = 0.012 * self.reach
        total = np.zeros(places.shape[:2])
        spread = 0.006 * self.reach * scale
        angles = 2.399963 * np.arange(16)
        for turn, radius in zip(angles, spread * np.sqrt(np.arange(16) / 16.0), strict=True):
            column = np.rint(here[..., 0] + radius * cos(turn) - 0.5)
            row = np.rint(here[..., 1] + radius * sin(turn) - 0.5)
            inside = (column >= 0) & (row >= 0) & (column < size[0]) & (row < size[1])
            inside &= np.isfinite(column) & np.isfinite(row)
            c, r = np.where(inside, column, 0).astype(int), np.where(inside, row, 0).astype(int)
            above = heights[r, c]
            total += ~inside | (above == 0.0) | (above <= here[..., 2] + bias)
        return ndimage.gaussian_filter(total / 16.0, 0.8 * FINE)

    def _draw_floor(
        self, image: Array, places: Array, on_floor: NDArray[np.bool_], lit: Array, dim: Array
    ) -> None:
        flat = places[on_floor][:, :2]
        step = 10.0 ** np.floor(np.log10(self.reach))
        step *= 0.5 if self.reach / step > 2.5 else 0.25
        pixel = 1.0 / (self._scale * (1.0 / np.linalg.norm(places[on_floor] - self._eye, axis=1)))
        off = np.abs(flat / step - np.rint(flat / step)).min(axis=1) * step
        line = np.clip(1.4 - off / (1.1 * FINE * pixel), 0.0, 1.0)[:, None]
        middle = self._eye - self._back * float((self._eye[2] - self.floor) / self._back[2])
        away = np.linalg.norm(flat - middle[:2], axis=1) / self.reach
        fade = np.clip((away - 0.7) / 1.3, 0.0, 1.0)[:, None]
        line *= 1.0 - fade * fade * (3.0 - 2.0 * fade)
        colour = FLOOR * (1.0 - line) + LINES * line
        sun = SHADE + (1.0 - SHADE) * lit[on_floor]
        sky = DIM_FLOOR + (1.0 - DIM_FLOOR) * dim[on_floor]
        image[on_floor] = colour * (sun * sky)[:, None]

    def _draw_edges(self, image: Array, layers: Layers) -> None:
        """Darken the outlines between different solids."""
        edge = np.zeros(layers.index.shape, dtype=bool)
        for axis in (0, 1):
            other = np.roll(layers.index, 1, axis=axis)
            other[(slice(None),) * axis + (0,)] = layers.index[(slice(None),) * axis + (0,)]
            edge |= (other != layers.index) & ((other >= 0) | (layers.index >= 0))
        image *= (1.0 - 0.45 * ndimage.gaussian_filter(edge.astype(float), 0.4 * FINE))[..., None]
