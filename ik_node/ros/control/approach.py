"""From one configuration towards another with closed loops and bounded steps."""

from __future__ import annotations

from ik_node.errors import IkError, plain
from ik_node.ros.control.answer_check import objection
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.solver import SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TRIES = 8
# A guess that does not close in so many is too far off.
_CLOSING_STEPS = 50
_ROUNDING = 1e-9
# A step counts when it comes nearer by this much of what it was allowed.
_PROGRESS = 0.05


def approach(
    model: LoadedModel, q: Array, wanted: Array, window: Array, options: SolverOptions
) -> tuple[Array, str]:
    """
    Take one step from a configuration with closed loops towards another one.

    The step is the straight one, cut to the window and then closed; where closing takes it out of
    the window, a shorter one. Wishes for joints take no part.

    Parameters
    ----------
    model : LoadedModel
        Its closures that are enabled stay closed.
    q, wanted : ndarray, shape (nq,)
        Both with closed loops and within limits [rad or m].
    window : ndarray, shape (nq,)
        Largest change of every value [rad or m].
    options : SolverOptions
        Thresholds of closed loops.

    Returns
    -------
    q : ndarray, shape (nq,)
        The next configuration: `wanted` when that is within the window, the one given when there
        is no way.
    reason : str
        Why there is no way; '' when there is one.

    """
    way = wanted - q
    if (np.abs(way) <= (1.0 + _ROUNDING) * window).all():
        return wanted, ''
    barred = (window <= 0.0) & (way != 0.0)
    if barred.any():
        name = model.joint_names[int(np.flatnonzero(barred)[0])]
        return q, f'joint {plain(name)} may not move: its velocity limit, or the time passed, is 0'
    steps = _steps(way, window)
    share = (1.0 - _ROUNDING) / steps
    reason = ''
    for _ in range(_TRIES):
        guess = np.clip(q + share * way, model.lower, model.upper)
        try:
            solution = model.solver.drive({}, guess, steps=_CLOSING_STEPS)
        except IkError as error:
            return q, str(error)
        reason = objection(model, solution, options)
        excess = _steps(solution.q - q, window)
        if not reason and excess <= 1.0:
            if steps - _steps(wanted - solution.q, window) >= _PROGRESS * share * steps:
                return solution.q, ''
            return q, 'the loops leave no way there from here'
        share *= 0.5 if reason else 0.95 / excess
    return q, reason or 'the loops leave no way there from here'


def _steps(way: Array, window: Array) -> float:
    """Return how many windows the longest part of a way is."""
    moving = way != 0.0
    with np.errstate(divide='ignore'):
        return float(np.max(np.abs(way[moving]) / window[moving], initial=0.0))
