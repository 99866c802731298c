"""Steps towards a configuration, and the check of configurations."""

from __future__ import annotations

from ik_node.errors import IkError
from ik_node.ros.loading.loaded_model import LoadedModel, LOOP_TOLERANCE
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


_TRIES = 8
# If the loops do not close within this many iterations, the step is too long.
_CLOSING_STEPS = 50
_ROUNDING = 1e-9
# Share of the requested progress that a step must make.
_PROGRESS = 0.05


def approach(
    model: LoadedModel, q: Array, wanted: Array, window: Array, options: SolverOptions
) -> tuple[Array, str]:
    """
    Take one step from a configuration with closed loops towards another one.

    The step follows the straight line in joint space, is cut to the window, and its loops are then
    closed. If the result leaves the window, a shorter step is tried. Joint targets have no
    influence. `model`: the model whose enabled closures stay closed. `q` and `wanted` (nq,):
    present and wanted configuration, both with closed loops and within limits [rad or m]. `window`
    (nq,): largest change of every value [rad or m]. `options`: thresholds below which loops count
    as closed. Return `q` (nq,), the next configuration: `wanted` if it is within the window, the
    unchanged `q` if no step is possible; and `reason`, why no step is possible; '' if one was
    made.
    """
    change = wanted - q
    if (np.abs(change) <= (1.0 + _ROUNDING) * window).all():
        return wanted, ''
    barred = (window <= 0.0) & (change != 0.0)
    if barred.any():
        name = model.joint_names[int(np.flatnonzero(barred)[0])]
        return q, f'joint {name} cannot move: its velocity limit or the elapsed time is 0'
    steps = steps_to(change, window)
    share = (1.0 - _ROUNDING) / steps
    reason = ''
    for _ in range(_TRIES):
        guess = np.clip(q + share * change, np.minimum(model.lower, q), np.maximum(model.upper, q))
        try:
            solution = model.solver.drive({}, guess, steps=_CLOSING_STEPS)
        except IkError as error:
            return q, str(error)
        reason = objection(model, solution, options, q)
        excess = steps_to(solution.q - q, window)
        if not reason and excess <= 1.0:
            if steps - steps_to(wanted - solution.q, window) >= _PROGRESS * share * steps:
                return solution.q, ''
            return q, 'the loops block the straight path to that configuration'
        share *= 0.5 if reason else 0.95 / excess
    return q, reason or 'the loops block the straight path to that configuration'


def steps_to(change: Array, window: Array) -> float:
    """Return the largest ratio of a change to its window."""
    moving = change != 0.0
    with np.errstate(divide='ignore'):
        return float(np.max(np.abs(change[moving]) / window[moving], initial=0.0))
