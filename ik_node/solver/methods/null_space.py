"""Towards joint targets and the rest pose, in the freedom that closures and goals leave."""

from __future__ import annotations

from ik_node.kernels.layout import PREFERS_NOTHING
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import (
    Held,
    linear_rows,
    pseudo_inverse,
    step_within_bounds,
)
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Farther than this [rad or L] the null space is not the one of the start of the step.
_LONGEST = 0.3
# Steps back to closures and goals after one along their tangent.
_CORRECTIONS = 4
# A smaller share of a step than this is none.
_LEAST_SHARE = 1e-3
# A step that brings wishes nearer by less than this share of the way is the last.
_LEAST_GAIN = 1e-6
# More than any way to a wish, so that a stage that is done with is nearer than one that is not.
_FAR = 1e6
# While there is a stage to come nothing has stalled.
_MOVES_ON = 1.0


class NullSpace:
    """
    Steps J^+ e + (I - J^+ J) f (wish - q), f the `rest_pose_factor`, and 1 for joint targets.

    Joint targets come first; then the rest pose, while joints with a target stay.

    Parameters
    ----------
    here : Iterate

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._share = 1.0
        wanted = set(here.preference.tolist()) - {PREFERS_NOTHING}
        self._stages = sorted(wanted)
        if self._stages:
            here.settle_on(self._stages[0])

    @property
    def pending(self) -> bool:
        """Say whether there are wishes that another step may bring nearer."""
        return bool(self._stages)

    @property
    def distance(self) -> float:
        """Return half the square of the way to the wishes, later stages not begun included."""
        here = self._here
        if not self._stages:
            return 0.0
        return len(self._stages) * _FAR + 0.5 * float(
            here.pull @ (here.preferred_step * here.preferred_step)
        )

    def step(self) -> float:
        """
        Step from an iterate that meets everything to another that does; return how far.

        A step after which closures and goals cannot be met again, or that brings no wish nearer,
        is taken back, and the next one is half as long.
        """
        here = self._here
        x, before = here.x.copy(), self.distance
        moved = here.move(self._chosen(self._share))
        for _ in range(_CORRECTIONS):
            if here.within_tolerance:
                break
            here.move(self._chosen(0.0))
        gained = before - self.distance
        if here.within_tolerance and gained > 0.0:
            self._share = min(2.0 * self._share, 1.0)
            done = gained < _LEAST_GAIN * (before - len(self._stages) * _FAR)
        else:
            here.place(x)
            self._share *= 0.5
            done = self._share < _LEAST_SHARE or moved == 0.0
        if done:
            self._next_stage()
        return max(moved, _MOVES_ON) if self._stages else moved

    def _next_stage(self) -> None:
        self._stages = self._stages[1:]
        self._share = 1.0
        if self._stages:
            self._here.settle_on(self._stages[0])

    def _chosen(self, share: float) -> Array:
        here = self._here
        rows = linear_rows(here)
        now = self._stages[0]
        wish = np.where(here.preference == now, share * here.gain * here.preferred_step, 0.0)
        granted = (here.preference > PREFERS_NOTHING) & (here.preference < now)

        def choose(jacobian: Array, free: Held) -> Array:
            back = pseudo_inverse(jacobian)
            return np.asarray(back @ (rows.shortfall - jacobian @ wish[free]) + wish[free])

        step = step_within_bounds(here, rows.jacobian, choose, granted)
        longest = float(np.abs(step).max(initial=0.0))
        return step * (_LONGEST / longest) if longest > _LONGEST else step
