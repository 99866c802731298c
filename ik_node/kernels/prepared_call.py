"""
The call of a prepared solve: addresses of all arrays that stay the same are looked up once.

Passing an array to compiled code costs about as much as a joint's share of a step. One array of
addresses replaces the six arrays that do not change from call to call.
"""

from __future__ import annotations

from typing import Any

from ik_node.kernels._jit import code_address, compiled, only_known_types
from ik_node.kernels.layout import Floats, Ints
from ik_node.kernels.solve import advance
from ik_node.kernels.solve_state import STATUS_REFUSED
import numpy as np

if compiled:
    from ik_node.kernels.numba_ext.prepared_call import advance_prepared
else:

    def advance_prepared(at: int, q: Floats, positions: Floats, quats_xyzw: Floats) -> int:
        """Return STATUS_REFUSED: without Numba there is no compiled code to call."""
        del at, q, positions, quats_xyzw
        return STATUS_REFUSED


def places_of(
    i: Ints, f: Floats, k: Ints, w: Floats, joints: Floats, options: Floats, goals: int, steps: int
) -> Ints | None:
    """
    Return the array whose address `advance_prepared` takes; None without Numba.

    The caller keeps it and all arrays given here alive. From then on `advance_prepared` raises a
    TypeError for arrays of other types than it has been compiled for.

    Parameters
    ----------
    i, f, k, w, joints, options : ndarray
        As for `advance`.
    goals : int
        Number of poses that come with every call.
    steps : int
        Most steps of a call.

    """
    if not compiled:
        return None
    q, call = np.zeros(joints.shape[1]), (np.zeros((1, 3)), np.zeros((1, 4)))
    places = [code_address(advance, (i, f, k, w, q, joints, options, *call, -1)), goals]
    arrays: list[Any] = [i, f, k, w, joints, options]
    for array in arrays:
        places += [array.ctypes.data, array.size]
    made = np.array([*places, steps, joints.shape[0]])
    for poses in (call, (np.zeros(3), np.zeros(4))):
        code_address(advance_prepared, (0, q, *poses))
    only_known_types(advance_prepared)
    return made


__all__ = ['advance_prepared', 'places_of']
