"""The methods that minimise a cost, to which the option `comfort` adds a term of the user."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, nan, sqrt
from typing import Any

from ik_node.errors import OptionError
from ik_node.kernels.solve_state import ENDED_NEAR
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.loop import Run
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Gradient descent: the option `comfort` no longer counts after so many sweeps in a row that each
# lower the cost by less than this share.
_PATIENCE, _GAIN = 30, 1e-3
# SLSQP: a bound beyond this counts as no bound, and singular values below this share of the
# largest, which are rounding errors, do not count for the rank of the closures' rows.
_FAR, _RANK_CUT = 1e100, 1e-7
# A run of SLSQP ends when an iteration lowers its cost by less than this: for the goals half a
# squared residual [rad^2 or L^2], for comfort its unit.
_GOAL_GAIN, _COMFORT_GAIN = 1e-18, 1e-12


def comfort_of(here: Iterate) -> float:
    """Return the cost given by the option `comfort` at an iterate; 0 without that option."""
    function = here.options.comfort
    if function is None:
        return 0.0
    found = function(here.q.copy())
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number):
        raise OptionError('comfort', found, 'a function that returns a finite number')
    return number


def gradient_descent(run: Run) -> Iterator[None]:
    """
    Step by Delta x_v = -rate dF/dx_v, variable by variable, last joint first.

    F = |W^(1/2) r| is the distance, and its slope is a one-sided difference over `rotation_step`
    or `translation_step`. With `learning_rate` the rate is fixed, which overshoots at small
    distances. Without it the step descends the cost f = F^2 / 2 with the rate 1 / max_v |J_v|_W^2,
    which is halved after a sweep that raises the cost. The option `comfort` is added to the cost
    until it no longer helps. After that it is left out, so that the goals can be met.
    """
    here, options = run.here, run.options
    fixed, least = options.learning_rate > 0.0, options.distance_threshold
    pending = options.comfort is not None
    scale, lowest, weak = 1.0, inf, 0

    def distance() -> float:
        # In metres; a radian counts as a characteristic length.
        return here.chain.flat.length * sqrt(2.0 * here.cost)

    def near() -> bool:
        return distance() < least if least > 0.0 else here.within_tolerance

    def cost() -> float:
        return (distance() if fixed else here.cost) + (comfort_of(here) if pending else 0.0)

    def slope(variable: int) -> float:
        size = float(here.difference_steps()[variable])
        if size == 0.0:
            return 0.0
        x, before = here.x.copy(), cost()
        here.move_one(variable, size)
        after = cost()
        here.go_to(x)
        return (after - before) / size

    def sweep() -> float:
        # Rates for variables in the units of the kernels.
        rates, moved = options.learning_rate / here.chain.flat.units**2, 0.0
        if not fixed:
            # Squared lengths of the weighted Jacobian's columns.
            squares = here.weight @ here.analytic_jacobian() ** 2
            rates[:] = scale / max(float(squares.max(initial=0.0)), 1e-12)
        for v in reversed(range(here.variable_count)):
            moved = max(moved, here.move_one(v, -rates[v] * slope(v)))
            if options.early_stop and not pending and near():
                break
        return moved

    run.report(pending=pending, extra=comfort_of(here), near=near())
    while True:
        yield
        x, before = here.x.copy(), cost()
        reached = not pending and near()
        moved = 0.0 if reached else sweep()
        if not fixed:
            better = cost() <= before
            scale = min(1.2 * scale, 1.0) if better else 0.5 * scale
            if not better:
                here.go_to(x)
        if pending:
            after = cost()
            weak = 0 if after < (1.0 - _GAIN) * lowest else weak + 1
            lowest = min(lowest, after)
            if weak >= _PATIENCE or 2 * run.iterations > options.max_iterations:
                pending, scale = False, 1.0
                run.forget()
        run.report(moved, pending=pending, extra=comfort_of(here), near=near())
        if reached or (not pending and options.early_stop and near()):
            # The distance is below `distance_threshold`, even if a tolerance is not met.
            run.end(Status.STALLED, ENDED_NEAR)


def slsqp(run: Run) -> Iterator[None]:
    """
    Minimise the goals' f = r^T W r / 2 by sequential quadratic programming of SciPy.

    The constraints are r_c(x) = 0 for the closures and l <= x <= u. Rows of closures that depend
    on others at the start of a run are left out. The option `comfort` is a further term of the
    cost; after it, a second run minimises this term alone, with the goals as constraints too. Runs
    are repeated while each lowers the cost. SciPy cannot be interrupted, so that one step is a run
    of many iterations (Kraft 1988, A software package for sequential quadratic programming, DFVLR-
    FB 88-28).
    """
    from scipy.optimize import minimize

    here = run.here
    eased = pending = here.options.comfort is not None
    free, last_cost = ~here.locked, inf

    def goal_cost(goals: Mask) -> float:
        rows = here.residual[goals]
        return 0.5 * float(rows @ (here.weight[goals] * rows))

    def report(moved: float = inf) -> None:
        # Iterates with open loops are never better than others.
        extra = goal_cost(~here.is_closure) + comfort_of(here)
        run.report(moved, pending=pending, extra=extra, near=here.closures_met)

    def minimise(held: Mask, *, with_goals: bool) -> None:
        x, goals = here.x.copy(), ~held
        basis = _range_basis(here.jacobian()[held][:, free])

        def at(values: Array) -> Iterate:
            x[free] = values
            if not np.array_equal(here.x, np.clip(x, here.lower, here.upper)):
                here.go_to(x)
            return here

        def cost(values: Array) -> float:
            at(values)
            return comfort_of(here) + (goal_cost(goals) if with_goals else 0.0)

        def gradient(values: Array) -> Array:
            at(values)
            total = _comfort_gradient(here) if eased else np.zeros(x.size)
            if with_goals:
                total = total + here.jacobian()[goals].T @ (
                    here.weight[goals] * here.residual[goals]
                )
            return np.asarray(total[free])

        def callback(values: Array) -> None:
            at(values)
            report()
            if run.status is not None:
                raise _EndedError

        closed: dict[str, Any] = {
            'type': 'eq',
            'fun': lambda values: basis.T @ at(values).residual[held],
            'jac': lambda values: basis.T @ at(values).jacobian()[held][:, free],
        }
        bounds = [
            (low if low > -_FAR else None, high if high < _FAR else None)
            for low, high in zip(here.lower[free], here.upper[free], strict=True)
        ]
        # SciPy before 1.16 does one iteration less; with others `callback` ends the run.
        most = run.options.max_iterations - run.iterations + 1
        try:
            found = minimize(
                cost,
                here.x[free],
                method='SLSQP',
                jac=gradient,
                bounds=bounds,
                constraints=[closed] if basis.size else [],
                callback=callback,
                options={'maxiter': most, 'ftol': _GOAL_GAIN if with_goals else _COMFORT_GAIN},
            )
        except _EndedError:
            return
        at(found.x)

    report()
    while True:
        yield
        before, iterations = here.x.copy(), run.iterations
        if free.any():
            minimise(here.is_closure, with_goals=True)
        if pending and run.status is None:
            if free.any():
                minimise(np.ones(here.row_count, dtype=bool), with_goals=False)
            pending = False
        if run.status is None and here.within_tolerance:
            run.end(Status.CONVERGED)
        gained = here.cost < 0.9 * last_cost
        last_cost = here.cost
        if run.iterations == iterations:
            # SLSQP calls no callback in a run without a step.
            report(float(np.abs(here.x - before).max(initial=0.0)))
        if not gained:
            run.end(Status.STALLED)


class _EndedError(Exception):
    """Raised in the callback of SLSQP to end it, which not every version of SciPy supports."""


def _range_basis(jacobian: Array) -> Array:
    """Return an orthonormal basis of the range of a Jacobian, shape (nr, rank)."""
    if jacobian.size == 0:
        return np.zeros((jacobian.shape[0], 0))
    u, sigma, _ = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(u[:, sigma > _RANK_CUT * max(float(sigma[0]), 1e-300)])


def _comfort_gradient(here: Iterate) -> Array:
    """Return the gradient of comfort by the variables, by one-sided differences, shape (nv,)."""
    x, before, sizes = here.x.copy(), comfort_of(here), here.difference_steps()
    slopes = np.zeros(x.size)
    for v in np.flatnonzero(sizes).tolist():
        here.move_one(v, sizes[v])
        slopes[v] = (comfort_of(here) - before) / sizes[v]
        here.go_to(x)
    return slopes
