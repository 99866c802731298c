"""Sequential quadratic programming: the cost of the goals, with closures as constraints."""

from __future__ import annotations

from math import inf
from typing import Any

from ik_node.solver.methods.gradient_descent import ComfortCost
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import range_basis
from ik_node.solver.methods.progress import Progress
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A bound beyond this counts as no bound.
_FAR = 1e100
# A run ends when an iteration lowers its cost by less than this: for the goals half a squared
# residual [rad^2 or L^2], for comfort its unit.
_GOAL_GAIN, _COMFORT_GAIN = 1e-18, 1e-12


class Slsqp:
    """
    Sequential quadratic programming: the closures are constraints, the goals are the cost.

    It minimises f = r^T W r / 2 of the goals with SLSQP of SciPy, subject to r_c(x) = 0 for the
    closures and l <= x <= u. Rows of closures that depend on others at the start of a run are left
    out. The option `comfort` is a further term of the cost; after it, a second run minimises this
    term alone, with the goals as constraints too. Runs are repeated while each lowers the cost.

    Parameters
    ----------
    here : Iterate
        The chain, made with `euler=True`.

    References
    ----------
    Kraft (1988), A software package for sequential quadratic programming, DFVLR-FB 88-28.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._comfort = ComfortCost(here)
        self._cost_before = inf
        self.pending = self._comfort.is_set

    @property
    def extra(self) -> float:
        """Return the cost of the goals plus comfort."""
        here = self._here
        rows = here.residual[~here.is_closure]
        return 0.5 * float(rows @ (here.weight[~here.is_closure] * rows)) + self._comfort.value

    @property
    def near(self) -> bool:
        """Return True if the loops are closed; iterates with open loops are never better."""
        return self._here.closures_met

    def step(self, progress: Progress) -> None:
        """Run SLSQP to its end, which takes many iterations."""
        here = self._here
        before, iterations = here.x.copy(), progress.iterations
        self._minimise(progress, here.is_closure, with_goals=True)
        if self.pending and progress.status is None:
            everything = np.ones(here.row_count, dtype=bool)
            self._minimise(progress, everything, with_goals=False)
            self.pending = False
        if progress.status is None and here.within_tolerance:
            progress.end(Status.CONVERGED)
        gained = here.cost < 0.9 * self._cost_before
        self._cost_before = here.cost
        if progress.iterations == iterations:
            # SLSQP calls no callback in a run without a step.
            progress.record(float(np.abs(here.x - before).max(initial=0.0)))
        if not gained:
            progress.end(Status.STALLED)

    def _minimise(self, progress: Progress, held: Mask, *, with_goals: bool) -> None:
        from scipy.optimize import minimize

        here = self._here
        free = ~here.locked
        if not free.any():
            return
        x = here.x.copy()
        basis = range_basis(here.jacobian()[held][:, free])
        goals = ~held

        def at(values: Array) -> Iterate:
            x[free] = values
            if not np.array_equal(here.x, np.clip(x, here.lower, here.upper)):
                here.go_to(x)
            return here

        def cost(values: Array) -> float:
            at(values)
            total = self._comfort.value
            if with_goals:
                rows = here.residual[goals]
                total += 0.5 * float(rows @ (here.weight[goals] * rows))
            return total

        def gradient(values: Array) -> Array:
            at(values)
            total = self._comfort.gradient() if self._comfort.is_set else np.zeros(x.size)
            if with_goals:
                rows = here.weight[goals] * here.residual[goals]
                total = total + here.jacobian()[goals].T @ rows
            return np.asarray(total[free])

        def report(values: Array) -> None:
            at(values)
            progress.record(inf, pending=self.pending, extra=self.extra, near=self.near)
            if progress.status is not None:
                raise _EndedError

        constraints: list[dict[str, Any]] = []
        if basis.size:
            constraints.append(
                {
                    'type': 'eq',
                    'fun': lambda values: basis.T @ at(values).residual[held],
                    'jac': lambda values: basis.T @ at(values).jacobian()[held][:, free],
                }
            )
        bounds = [
            (low if low > -_FAR else None, high if high < _FAR else None)
            for low, high in zip(here.lower[free], here.upper[free], strict=True)
        ]
        try:
            found = minimize(
                cost,
                here.x[free],
                method='SLSQP',
                jac=gradient,
                bounds=bounds,
                constraints=constraints,
                callback=report,
                options={
                    # SciPy before 1.16 does one iteration less; with others `report` ends the run.
                    'maxiter': progress.left + 1,
                    'ftol': _GOAL_GAIN if with_goals else _COMFORT_GAIN,
                },
            )
        except _EndedError:
            return
        at(found.x)


class _EndedError(Exception):
    """Raised in the callback of SLSQP to end it, which not every version of SciPy supports."""
