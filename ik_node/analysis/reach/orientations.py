"""The orientations of a capability map."""

from __future__ import annotations

from typing import Any

from ik_node.errors import OptionError, ShapeError
from ik_node.model.given import is_number, numbers, whole_number
from ik_node.model.rotation import quat_between
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST = 10_000
UNTURNED = np.array(((0.0, 0.0, 0.0, 1.0),))
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))


def directions(count: int) -> Array:
    """
    Return orientations whose z axes are spread evenly over the sphere.

    The z axes are points of a spherical Fibonacci lattice, and the rotation is the shortest one
    from the z axis of the root frame.

    Returns shape (count, 4), quaternions xyzw.

    References
    ----------
    Swinbank & Purser, Fibonacci grids: a novel approach to global modelling, 2006.

    """
    index = np.arange(count)
    height = 1.0 - (2.0 * index + 1.0) / count
    radius = np.sqrt(1.0 - height**2)
    axes = np.stack(
        (radius * np.cos(GOLDEN * index), radius * np.sin(GOLDEN * index), height), axis=1
    )
    return np.array([quat_between((0.0, 0.0, 1.0), axis) for axis in axes])


def orientations_of(given: Any) -> tuple[Array | None, str]:
    """
    Return the orientations of a map, and the constrained axes of its goal.

    `given` (K, 4): as in `Robot.reach`. Returns `quats_xyzw` (K, 4), normalised and `dof`, axes,
    which are those of the goal. Raises OptionError, ShapeError if the number or the quaternions
    cannot be used.
    """
    if given is None:
        return None, 'X Y Z'
    if is_number(given):
        count = whole_number('orientations', given, 1, MOST)
        return directions(count), 'X Y Z EX EY'
    quats = np.atleast_2d(numbers('orientations', given))
    if quats.ndim != 2 or quats.shape[1] != 4 or not len(quats):
        raise ShapeError('orientations', 'shape (K, 4), quaternions xyzw', f'{quats.shape}')
    if len(quats) > MOST:
        raise OptionError('orientations', len(quats), f'at most {MOST} quaternions')
    norms = np.linalg.norm(quats, axis=1)
    bad = np.flatnonzero(~(np.isfinite(norms) & (norms > 1e-9)))
    if bad.size:
        row = int(bad[0])
        raise ShapeError('orientations', 'rotations, xyzw', f'{quats[row].tolist()} in row {row}')
    return quats / norms[:, None], 'X Y Z EX EY EZ'


def angles_between(one: Array, other: Array, *, roll: bool) -> Array:
    """
    Return the angles between orientations [rad].

    `roll`: True to count rotations about z too; otherwise the angles are those between the z axes.
    Returns shape (n, m).
    """
    result: Array
    if roll:
        result = 2.0 * np.arccos(np.clip(np.abs(one @ other.T), 0.0, 1.0))
    else:
        result = np.arccos(np.clip(z_axes(one) @ z_axes(other).T, -1.0, 1.0))
    return result


def z_axes(quats: Array) -> Array:
    """Return the z axes (n, 3) of orientations (n, 4)."""
    x, y, z, w = quats.T
    return np.stack((2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x**2 + y**2)), 1)
