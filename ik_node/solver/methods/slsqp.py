"""Sequential quadratic programming: goals are a cost, closures and limits are constraints."""

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

# A bound as far as this is none.
_FAR = 1e100
# A run ends when an iteration lowers its cost by less: half the square of a residual, comfort.
_GOAL_GAIN, _COMFORT_GAIN = 1e-18, 1e-12


class Slsqp:
    """
    Lets SciPy's SLSQP minimise half the weighted squares of the goals' rows (Kraft 1988).

    Closures are equality constraints, less the rows that depend on others where a run begins;
    limits are bounds. With `comfort` that cost is added, and a second run lowers it alone while
    the goals are constraints, too. Runs follow each other as long as they gain.

    Parameters
    ----------
    here : Iterate
        With `euler`.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._comfort = ComfortCost(here)
        self._cost_before = inf
        self.pending = self._comfort.asked

    @property
    def extra(self) -> float:
        """Return the cost: of the goals, and comfort."""
        here = self._here
        rows = here.residual[~here.is_closure]
        return 0.5 * float(rows @ (here.weight[~here.is_closure] * rows)) + self._comfort.value

    @property
    def near(self) -> bool:
        """Say whether the loops are closed: what they are open is no gain."""
        return self._here.closures_met

    def step(self, progress: Progress) -> None:
        """Run SLSQP from here to its end, which is many iterations."""
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
            # SLSQP counts a run without a step as none.
            progress.look(float(np.abs(here.x - before).max(initial=0.0)))
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
                here.place(x)
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
            total = self._comfort.gradient() if self._comfort.asked else np.zeros(x.size)
            if with_goals:
                rows = here.weight[goals] * here.residual[goals]
                total = total + here.jacobian()[goals].T @ rows
            return np.asarray(total[free])

        def look(values: Array) -> None:
            at(values)
            progress.look(inf, pending=self.pending, extra=self.extra, near=self.near)
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
                callback=look,
                options={
                    # SciPy before 1.16 makes one less; where it is one too many `look` ends it.
                    'maxiter': progress.left + 1,
                    'ftol': _GOAL_GAIN if with_goals else _COMFORT_GAIN,
                },
            )
        except _EndedError:
            return
        at(found.x)


class _EndedError(Exception):
    """Leaves SLSQP, whose callback cannot end it in every SciPy."""
