"""Where a pointer drags something to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# A plane seen at a flatter angle than about this [rad] runs away under the pointer.
_FLAT = 0.05


def pointer_way(eye: Array, held: Array, pointer: Array, axes: Array) -> Array | None:
    """
    Return the way from where something was taken hold of to where it is dragged, (3,) [m].

    Parameters
    ----------
    eye : ndarray, shape (3,)
        Where it is looked from.
    held : ndarray, shape (3,)
        What was taken hold of.
    pointer : ndarray, shape (3,)
        Any point that is seen under the pointer; with three axes it is dragged there.
    axes : ndarray, shape (3, n)
        Unit vectors along which it can be moved, n from 1 to 3.

    Returns
    -------
    ndarray or None
        None = it is seen along them, or the pointer is beyond the horizon.

    """
    if axes.shape[1] == 3:
        return pointer - held
    sight = pointer - eye
    sight = sight / np.sqrt(sight @ sight)
    # eye + t sight = held + axes s, as near as can be.
    columns = np.column_stack((axes, -sight))
    if np.linalg.svd(columns, compute_uv=False)[-1] < _FLAT:
        return None
    *along, ahead = np.linalg.lstsq(columns, eye - held, rcond=None)[0]
    if ahead <= 0.0:
        return None
    way: Array = axes @ np.array(along)
    return way
