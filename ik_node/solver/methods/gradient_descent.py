"""Gradient descent with a sampled gradient, joint by joint from the last one to the base."""

from __future__ import annotations

import math
from math import inf, sqrt

from ik_node.errors import OptionError
from ik_node.kernels.solve_state import ENDED_NEAR
from ik_node.solver.methods.iterate import away_from_bounds, Iterate
from ik_node.solver.methods.progress import Progress
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ComfortCost:
    """
    The cost given by the option `comfort`, at an iterate; 0 without that option.

    Parameters
    ----------
    here : Iterate
        The chain.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._function = here.options.comfort

    @property
    def is_set(self) -> bool:
        """Return True if the option `comfort` is set."""
        return self._function is not None

    @property
    def value(self) -> float:
        """
        Return the cost of the iterate's q.

        Raises
        ------
        OptionError
            If the function returns anything but a finite number.

        """
        if self._function is None:
            return 0.0
        found = self._function(self._here.q.copy())
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise OptionError('comfort', found, 'a function that returns a finite number')
        return number

    def gradient(self) -> Array:
        """Return its gradient by the variables, by one-sided differences, shape (nv,)."""
        here = self._here
        x, before = here.x.copy(), self.value
        sizes = away_from_bounds(here)
        slopes = np.zeros(x.size)
        for v in np.flatnonzero(sizes).tolist():
            step = np.zeros(x.size)
            step[v] = sizes[v]
            here.move(step)
            slopes[v] = (self.value - before) / sizes[v]
            here.go_to(x)
        return slopes


# The option `comfort` no longer counts after so many sweeps in a row that each lower the cost by
# less than this share.
_PATIENCE, _GAIN = 30, 1e-3


class GradientDescent:
    """
    The method of the steps Delta x_v = -rate dF/dx_v, variable by variable, last joint first.

    F = |W^(1/2) r| is the distance, and its slope is a one-sided difference over `rotation_step`
    or `translation_step`. With `learning_rate` the rate is fixed, which overshoots at small
    distances. Without it the step descends the cost f = F^2 / 2 with the rate 1 / max_v |J_v|_W^2,
    which is halved after a sweep that raises the cost.

    The option `comfort` is added to the cost until it no longer helps. After that it is left out,
    so that the goals can be met.

    Parameters
    ----------
    here : Iterate
        The chain, with `euler`.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._comfort = ComfortCost(here)
        self._scale = 1.0
        self._best, self._weak = inf, 0
        self.pending = self._comfort.is_set

    @property
    def extra(self) -> float:
        """Return the cost of the option `comfort`."""
        return self._comfort.value

    def step(self, progress: Progress) -> None:
        """Sweep once over all joints, or until the distance is small enough."""
        here = self._here
        x, before = here.x.copy(), self._cost()
        reached = not self.pending and self.near
        moved = 0.0 if reached else self._sweep()
        fixed = here.options.learning_rate > 0.0
        if not fixed:
            better = self._cost() <= before
            self._scale = min(1.2 * self._scale, 1.0) if better else 0.5 * self._scale
            if not better:
                here.go_to(x)
        if self.pending:
            self._judge_comfort(progress)
        progress.record(moved, pending=self.pending, extra=self.extra, near=self.near)
        if reached or (not self.pending and here.options.early_stop and self.near):
            # The distance is below `distance_threshold`, even if a tolerance is not met.
            progress.end(Status.STALLED, ENDED_NEAR)

    @property
    def _distance(self) -> float:
        """Return the distance F [m]; a radian counts as a characteristic length."""
        return self._here.chain.flat.length * sqrt(2.0 * self._here.cost)

    @property
    def near(self) -> bool:
        """Return True if the distance is below `distance_threshold`, or else all goals are met."""
        least = self._here.options.distance_threshold
        return self._distance < least if least > 0.0 else self._here.within_tolerance

    def _cost(self) -> float:
        """Return the minimised function: the distance or half its square, plus comfort."""
        fixed = self._here.options.learning_rate > 0.0
        cost = self._distance if fixed else self._here.cost
        return cost + (self._comfort.value if self.pending else 0.0)

    def _sweep(self) -> float:
        here, options = self._here, self._here.options
        moved = 0.0
        # Rates for variables in the units of the kernels.
        rates = options.learning_rate / here.chain.flat.units**2
        if options.learning_rate == 0.0:
            # Squared lengths of the weighted Jacobian's columns.
            squares = here.weight @ here.analytic_jacobian() ** 2
            rates[:] = self._scale / max(float(squares.max(initial=0.0)), 1e-12)
        for v in reversed(range(here.variable_count)):
            step = np.zeros(here.variable_count)
            step[v] = -rates[v] * self._slope(v)
            moved = max(moved, here.move(step))
            if options.early_stop and not self.pending and self.near:
                break
        return moved

    def _slope(self, variable: int) -> float:
        here = self._here
        size = float(away_from_bounds(here)[variable])
        if size == 0.0:
            return 0.0
        x, before = here.x.copy(), self._cost()
        step = np.zeros(x.size)
        step[variable] = size
        here.move(step)
        after = self._cost()
        here.go_to(x)
        return (after - before) / size

    def _judge_comfort(self, progress: Progress) -> None:
        cost = self._cost()
        self._weak = 0 if cost < (1.0 - _GAIN) * self._best else self._weak + 1
        self._best = min(self._best, cost)
        if self._weak >= _PATIENCE or 2 * progress.iterations > progress.limit:
            self.pending, self._scale = False, 1.0
            progress.forget()
