"""Check of every solution before it is published: limits, closed loops, finite numbers."""

from __future__ import annotations

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.loading.mobility_count import LOOP_TOLERANCE
from ik_node.solver import Solution, SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def objection(
    model: LoadedModel, solution: Solution, options: SolverOptions, start: Array | None = None
) -> str:
    """
    Return the reason why a solution must not be published; '' if it may be.

    A value that starts outside its limits, by `start` (nq,), may be between there and its limits.
    """
    q = solution.q
    least, most = model.bounds
    # A NaN fails both comparisons and so counts as outside.
    within = (least <= q) & (q <= most)
    if start is not None and not within.all():
        within = (np.minimum(least, start) <= q) & (q <= np.maximum(most, start))
    if not within.all():
        index = int(within.argmin())
        return (
            f'joint {model.joint_names[index]} = {q[index]:.6g} is outside '
            f'[{model.lower[index]:.6g}, {model.upper[index]:.6g}]'
        )
    for name, error in solution.closure_errors.items():
        limit = model.loop_limits.get(name, LOOP_TOLERANCE)
        position = max(limit, options.translation_converge_threshold)
        orientation = max(limit, options.rotation_converge_threshold)
        if not (error.position <= position and error.orientation <= orientation):
            return f'loop {name} is open by {error.position:.3g} m, {error.orientation:.3g} rad'
    return ''
