"""Illumination by sun, sky and ground, with ambient occlusion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Array = NDArray[np.float64]

TO_SUN = np.array((0.42, -0.5, 0.95)) / np.linalg.norm((0.42, -0.5, 0.95))
# Share of light, from the sun, from above and from below.
SUN = np.array((1.10, 1.04, 0.95))
SKY = np.array((0.44, 0.48, 0.54))
GROUND = np.array((0.24, 0.23, 0.22))
GLOSS, SHARPNESS = 0.16, 36.0
# A screen's numbers are no amounts of light.
GAMMA = 2.2
# How far things darken each other, as a share of the scene, and how much.
NEAR, DIM = 0.16, 2.1
# Places around a point that are looked at, and a turn that spreads them evenly.
LOOKS, TURN = 20, 2.399963


def shaded(colours: Array, normals: Array, towards: Array, lit: Array, open_: Array) -> Array:
    """
    Return the displayed colours of surfaces.

    Parameters
    ----------
    colours : ndarray, shape (..., 3)
        From 0 to 1.
    normals : ndarray, shape (..., 3)
        Of length 1.
    towards : ndarray, shape (3,)
        The way to the eye.
    lit, open_ : ndarray, shape (...)
        Share of the sun, and of the sky, that is not hidden.

    """
    facing = np.clip(normals @ TO_SUN, 0.0, 1.0)[..., None] * lit[..., None]
    above = (0.5 + 0.5 * normals[..., 2])[..., None]
    dim = SKY * above + GROUND * (1.0 - above)
    half = TO_SUN + towards
    gloss = np.clip(normals @ (half / np.linalg.norm(half)), 0.0, 1.0) ** SHARPNESS * lit
    light = dim * open_[..., None] + SUN * facing
    found: Array = colours**GAMMA * light + GLOSS * gloss[..., None]
    return np.clip(found, 0.0, 1.0) ** (1.0 / GAMMA)


def openness(places: Array, normals: Array, near: float, pixels: float) -> Array:
    """
    Return the share of the sky that is visible from each pixel, from 0 to 1.

    Parameters
    ----------
    places, normals : ndarray, shape (rows, columns, 3)
        Of what each pixel shows [m].
    near : float
        Farther things do not matter [m].
    pixels : float
        So long is that on the picture.

    """
    rows, columns = places.shape[:2]
    hidden = np.zeros((rows, columns))
    for look in range(LOOKS):
        radius, angle = pixels * ((look + 0.5) / LOOKS), TURN * look
        right, down = round(radius * np.cos(angle)), round(radius * np.sin(angle))
        here, there = _overlap(rows, down), _overlap(rows, -down)
        across, beside = _overlap(columns, right), _overlap(columns, -right)
        way = places[there, beside] - places[here, across]
        away = np.linalg.norm(way, axis=2)
        up = np.einsum('ijk,ijk->ij', way, normals[here, across]) / np.maximum(away, 1e-9)
        share = np.clip(1.0 - (away / near) ** 2, 0.0, 1.0)
        hidden[here, across] += np.clip(up - 0.12, 0.0, 1.0) * share
    found: Array = np.clip(1.0 - DIM * ndimage.gaussian_filter(hidden, 1.5) / LOOKS, 0.0, 1.0)
    return found


def _overlap(size: int, step: int) -> slice:
    """Return the slice of a row of pixels with a neighbour at this offset."""
    return slice(0, size - step) if step >= 0 else slice(-step, size)
