"""The steps towards joint targets and rest pose in the null space of closures and goals."""

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

# Longest step: the null space changes along the way [rad or L].
_LONGEST = 0.3
# Most steps that meet closures and goals again after a step along their tangent [steps].
_CORRECTIONS = 4
# A stage ends when the share of the step has been halved below this.
_LEAST_SHARE = 1e-3
# A stage ends after a step that reduces its cost by less than this share.
_LEAST_GAIN = 1e-6
# Cost of a stage that has not ended. It exceeds the cost of any preference, so that an iterate of
# a later stage always counts as better.
_FAR = 1e6
# Reported motion of a step if a stage follows, so that the solve does not count as stalled.
_MOVES_ON = 1.0


class NullSpace:
    """
    The steps Delta x = -J^+ r + (I - J^+ J) g (x* - x), theory.md, section 9.

    x* are the joint targets with g = 1 in the first stage, and the rest pose with
    g = `rest_pose_factor` in the second one, in which joints with a target stay fixed.

    Parameters
    ----------
    here : Iterate
        The chain.

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
        """Return True while a further step may approach the preferences."""
        return bool(self._stages)

    @property
    def distance(self) -> float:
        """Return half the weighted square of x* - x, plus a large cost for each stage to come."""
        here = self._here
        if not self._stages:
            return 0.0
        return len(self._stages) * _FAR + 0.5 * float(
            here.pull @ (here.preferred_step * here.preferred_step)
        )

    def step(self) -> float:
        """
        Take a step between two iterates that meet all closures and goals; return its size.

        A step after which closures and goals cannot be met again, or that does not approach the
        preferences, is undone, and the next step is half as long.
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
            here.go_to(x)
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
        preferred = np.where(here.preference == now, share * here.gain * here.preferred_step, 0.0)
        fixed = (here.preference > PREFERS_NOTHING) & (here.preference < now)

        def choose(jacobian: Array, free: Held) -> Array:
            back = pseudo_inverse(jacobian)
            return np.asarray(
                back @ (rows.shortfall - jacobian @ preferred[free]) + preferred[free]
            )

        step = step_within_bounds(here, rows.jacobian, choose, fixed)
        longest = float(np.abs(step).max(initial=0.0))
        return step * (_LONGEST / longest) if longest > _LONGEST else step
