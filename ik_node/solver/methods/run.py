"""The methods that minimise a cost, all methods by name, and the solve of all chains by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import cos, inf, isfinite, nan, pi, sin, sqrt
from time import perf_counter
from typing import Any

from ik_node.errors import OptionError
from ik_node.kernels.kinds import KIND_FRAME
from ik_node.kernels.solve_state import ENDED_NEAR
from ik_node.solver.methods import linear
from ik_node.solver.methods.loop import Block, Iterate, Method, Run
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
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

    def sweep() -> float:
        # Rates for variables in the units of the kernels.
        rates, moved = options.learning_rate / here.chain.flat.units**2, 0.0
        if not fixed:
            # Squared lengths of the weighted Jacobian's columns.
            squares = here.weight @ here.analytic_jacobian() ** 2
            rates[:] = scale / max(float(squares.max(initial=0.0)), 1e-12)
        for v in reversed(range(here.variable_count)):
            present = cost()
            slope = here.slope(v, lambda: cost() - present)  # noqa: B023
            moved = max(moved, here.move_one(v, -rates[v] * slope))
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
        # An orthonormal basis of the range of the rows' Jacobian, shape (nr, rank).
        u, sigma, _ = np.linalg.svd(here.jacobian()[held][:, free], full_matrices=False)
        basis = u[:, sigma > _RANK_CUT * max(float(sigma.max(initial=0.0)), 1e-300)]

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
            total = np.zeros(x.size)
            if eased:
                present = comfort_of(here)
                for v in range(x.size):
                    total[v] = here.slope(v, lambda: comfort_of(here) - present)
            if with_goals:
                rows = here.weight[goals] * here.residual[goals]
                total = total + here.jacobian()[goals].T @ rows
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
        bounds = np.column_stack((here.lower, here.upper))[free]
        # SciPy before 1.16 does one iteration less; with others `callback` ends the run.
        most = run.options.max_iterations - run.iterations + 1
        with suppress(_EndedError):
            found = minimize(
                cost,
                here.x[free],
                method='SLSQP',
                jac=gradient,
                bounds=np.where(np.abs(bounds) > _FAR, np.copysign(inf, bounds), bounds),
                constraints=[closed] if basis.size else [],
                callback=callback,
                options={'maxiter': most, 'ftol': _GOAL_GAIN if with_goals else _COMFORT_GAIN},
            )
            at(found.x)

    report()
    while True:
        yield
        before, iterations = here.x.copy(), run.iterations
        if free.any():
            minimise(here.is_closure, with_goals=True)
        if pending and run.status is None:
            if free.any():
                minimise(np.ones(here.weight.size, dtype=bool), with_goals=False)
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


# -- cyclic coordinate descent

# The angles at which the cost is sampled [rad]: five samples determine the five coefficients.
ANGLES: Array = np.array([0.4 * pi * k for k in range(5)])
# A variable whose squared column of the weighted Jacobian is below this does not affect the rows.
_NO_SLOPE = 1e-18
# Most halvings of a step of the linear model that raises the cost.
_HALVINGS = 12
# Residuals vary by rounding errors of this size [rad or L], and costs by this share.
_ROUNDING, _COST_ROUNDING = 1e-13, 1e-14


def cyclic_coordinate_descent(run: Run) -> Iterator[None]:
    """
    Minimise the cost over single variables in turn, from the last joint to the base.

    For a revolute joint the cost of the goals that it moves is f(x_v) = sum over goals of
    w_p^2 |p_A - p_B|^2 / 2 + w_o^2 (1 - cos theta), a trigonometric polynomial of degree two in
    x_v, whose minimum is exact (Wang and Chen 1991, A combined optimization method for solving the
    inverse kinematics problem of mechanical manipulators, IEEE Transactions on Robotics and
    Automation 7(4)). Prismatic joints, joints with followers, and joints that move goals other
    than poses take the step of the linear model, Delta x_v = -J_v^T W r / (J_v^T W J_v), which is
    halved until the cost does not rise.

    Raises OptionError if the chain has closures, which a method that moves single joints would
    open.
    """
    here, limit = run.here, run.options.ccd_step_limit
    loops = [name for _, name in here.chain.names.closures]
    if loops:
        others = ' or '.join(name for name in METHODS if name != 'ccd')
        listed = ', '.join(map(repr, loops[:3])) + (', ...' if len(loops) > 3 else '')
        allowed = f'{others}: ccd moves joints one by one, and {listed} would not stay closed'
        raise OptionError('method', 'ccd', allowed)
    start, hinges = here.x.copy(), [_blocks_turned(here, v) for v in range(here.variable_count)]
    run.report()
    while True:
        yield
        largest = 0.0
        for v in reversed(range(here.variable_count)):
            low = max(float(here.lower[v] - here.x[v]), -limit)
            high = min(float(here.upper[v] - here.x[v]), limit)
            blocks = hinges[v]
            if blocks is None:
                largest = max(largest, _move_linearly(here, v, low, high))
                continue
            angle = best_turn(_costs(here, v, blocks), low, high)
            largest = max(largest, abs(angle))
            # Of equivalent angles the one nearest to the start.
            value = here.x[v] + angle
            back = -2.0 * pi * round(float(value - start[v]) / (2.0 * pi))
            if here.turns[v] and here.lower[v] <= value + back <= here.upper[v]:
                angle += back
            here.move_one(v, angle)
        run.report(largest)


def _blocks_turned(here: Iterate, variable: int) -> list[Block] | None:
    """Return the rows that a revolute joint affects; None for steps of the linear model."""
    s = here.workspace
    moved = {c for c in range(s.nc) if variable in s.slot_var[s.slot0[c] : s.slot0[c + 1]]}
    columns = np.flatnonzero(s.var == variable)
    polynomial = s.coefficients.reshape(-1, s.width)[columns]
    alone = columns.size == 1 and (polynomial == np.eye(s.width)[1]).all()
    if here.prismatic[variable] or not alone or any(s.kind[c] != KIND_FRAME for c in moved):
        return None
    return [block for block in here.blocks if block.constraint in moved]


def _move_linearly(here: Iterate, variable: int, low: float, high: float) -> float:
    """Take the optimal step of the linear model, halved until it helps; return its size."""
    column = here.analytic_jacobian()[:, variable]
    square = float(column @ (here.weight * column))
    if square < _NO_SLOPE:
        return 0.0
    x, before = here.x.copy(), here.cost
    step = min(max(-float(column @ (here.weight * here.residual)) / square, low), high)
    for _ in range(_HALVINGS):
        moved = here.move_one(variable, step)
        if here.cost <= before:
            return moved
        here.go_to(x)
        step *= 0.5
    return 0.0


def _costs(here: Iterate, variable: int, blocks: list[Block]) -> Array:
    """
    Return the cost of the rows that a revolute joint affects, after each of `ANGLES`.

    An angle theta counts as 1 - cos(theta) in place of theta^2 / 2. A single rotation row gets a
    cosine with the minimum and the curvature of the linear model.
    """
    x, bounds = here.x.copy(), (here.lower[variable], here.upper[variable])
    slopes, residual = here.analytic_jacobian()[:, variable], here.residual
    here.lower[variable], here.upper[variable] = -inf, inf
    costs = np.zeros(ANGLES.size)
    for k, angle in enumerate(ANGLES.tolist()):
        if k:
            turned = x.copy()
            turned[variable] += angle
            here.go_to(turned)
        rows = here.residual
        for _, first, last, is_rotation in blocks:
            size = sqrt(float(rows[first:last] @ rows[first:last]))
            if not is_rotation:
                part = 0.5 * size * size
            elif last - first > 1:
                part = 2.0 * sin(0.5 * size) ** 2
            elif abs(slopes[first]) > 1e-9:
                target = -residual[first] / slopes[first]
                part = 2.0 * (slopes[first] * sin(0.5 * (angle - target))) ** 2
            else:
                part = 0.0
            costs[k] += here.weight[first] * part
    here.lower[variable], here.upper[variable] = bounds
    here.go_to(x)
    return costs


def best_turn(costs: Array, low: float, high: float) -> float:
    """
    Return the angle of least cost in [low, high], low <= 0 <= high, at most half a turn [rad].

    The cost T(phi) = c + a1 cos phi + b1 sin phi + a2 cos 2 phi + b2 sin 2 phi is given at
    `ANGLES`. With z = exp(i phi), T'(phi) = 0 is a polynomial of degree four in z, whose roots are
    computed as eigenvalues, or in closed form if a2 = b2 = 0. The candidates are compared by
    T(phi) - T(0), in a form without cancellation near 0; of equal ones the smallest counts.
    """
    low, high = max(low, -pi), min(high, pi)
    a1, b1 = 0.4 * float(costs @ np.cos(ANGLES)), 0.4 * float(costs @ np.sin(ANGLES))
    a2, b2 = 0.4 * float(costs @ np.cos(2 * ANGLES)), 0.4 * float(costs @ np.sin(2 * ANGLES))
    first, second = complex(a1, -b1), 2.0 * complex(a2, -b2)
    most = float(np.abs(costs).max())
    if abs(first) + abs(second) <= _COST_ROUNDING * most + _ROUNDING * sqrt(most):
        return 0.0
    if abs(second) > 1e-12 * abs(first):
        roots = np.roots([second, first, 0.0, -first.conjugate(), -second.conjugate()])
        angles = [low, high, *np.angle(roots).tolist()]
    else:
        angle = float(np.angle(first.conjugate()))
        angles = [low, high, angle, angle - pi, angle + pi]
    best, least = 0.0, 0.0
    for angle in sorted(angles, key=abs):
        if low <= angle <= high:
            half = sin(0.5 * angle)
            gain = b1 * sin(angle) - 2.0 * a1 * half * half
            gain += 2.0 * sin(angle) * (b2 * cos(angle) - a2 * sin(angle))
            if gain < least:
                best, least = angle, gain
    return best


# -- all methods

METHOD_TABLE: dict[str, Method] = {
    'dls': Method(linear.damped_least_squares),
    'sdls': Method(linear.selectively_damped),
    'pseudo_inverse': Method(linear.pseudo_inverse),
    'jacobian_transpose': Method(linear.jacobian_transpose),
    'ccd': Method(cyclic_coordinate_descent, by_angles=True),
    'gradient_descent': Method(gradient_descent, by_angles=True),
    'slsqp': Method(slsqp, by_angles=True),
}


def run_method(
    problem: Problem, q: Array, joints: Array, options: SolverOptions, stop: Sequence[bool] = ()
) -> list[ChainAnswer]:
    """
    Solve every chain by the method of the options, from one start.

    q is the start, shape (nq,) [rad or m], and becomes the result. `joints` are limits, locks and
    preferences, see `JointTable.rows`. If `stop` is not empty, the solve ends after the iteration
    in which stop[0] becomes true. The answers are those of the best iterates: CONVERGED means that
    all residuals are within their tolerances; otherwise closures may be open.

    Raises OptionError if the method is 'ccd' and there are closures, or `comfort` does not return
    a finite number.
    """
    ends = perf_counter() + options.time_budget if options.time_budget > 0.0 else inf
    answers = []
    for chain in problem.chains:
        run = Run(METHOD_TABLE[options.method], chain, q, joints, options, stop, ends)
        while run.status is None:
            run.step()
        answers.append(run.answer())
    return answers


def run_closed(
    problem: Problem,
    loops: Problem,
    q: Array,
    joints: Array,
    options: SolverOptions,
    packed: Array,
    stop: Sequence[bool] = (),
) -> list[ChainAnswer]:
    """
    Solve as `run_method`, and close the loops that the method left open.

    Most methods treat closures as rows like those of goals. The result of a solve must have closed
    loops, so the compiled solver closes them from the configuration at which the method ended.
    `loops` are the closures alone, and `packed` the options packed for the kernels.
    """
    start = q.copy()
    answers = run_method(problem, q, joints, options, stop=stop)
    if all(
        (answer.errors <= answer.tolerances)[chain.are_closures].all()
        for chain, answer in zip(problem.chains, answers, strict=True)
    ):
        return answers
    # The window is around the start of the method, not around its end.
    rows = JointTable.with_windows_as_limits(JointTable.without_preferences(joints), start)
    loops.run(q, rows, packed, 0.0)
    return [
        answer.at(chain.linearise(q, joints, packed)[2])
        for chain, answer in zip(problem.chains, answers, strict=True)
    ]
