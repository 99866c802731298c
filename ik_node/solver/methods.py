"""
The methods of the sources for comparison and teaching, the loop that they share, and single steps.

All methods work on the model of the compiled solver. In all formulas e = -r and J have the weights
W^(1/2). The sources are in docs/methods.md, which explains each method and its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from math import inf, isfinite, nan, pi, sin, sqrt
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.errors import listed, OptionError
from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.kinds import KIND_FRAME, KIND_USER
from ik_node.kernels.lm_step import DAMPING_DECREASE, next_damping, REACH_DAMPING
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.model.request import requests_of
from ik_node.model.rotation import quat_multiply, quat_to_rotation_vector, rotation_vector_to_quat
from ik_node.model.tree import Tree
from ik_node.solver.options import COST_METHODS, METHODS, SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, Configuration, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import Solution, SolveResult
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# Function of e, J with the columns of some variables, and their mask (nv,): the step of these.
Choose = Callable[[Array, Array, Mask], Array]
# A constraint, its rows first to last - 1, and True if they are in [rad], False for lengths [L].
Block = tuple[int, int, int, bool]

# A solve has diverged if its cost exceeds the first one, or 1, by this factor.
_BEYOND = 1e9
# A solve has come to an end when steps are damped as much as this.
_MOST_DAMPING = 1e10
# Worse than that of any iterate.
_NO_SCORE = (3.0, inf)


class Run(Configuration):
    """
    A solve of one chain by a method, and the configuration that it has reached, its iterate.

    A method is a function of a run that moves the iterate, and reports the start and then each
    iteration with `report`, which decides the end. `iterates` are the reported variables x.

    Lengths are multiples of the characteristic length [L], except in `q` and `errors`. The arrays
    of variables (nv,) are views of the workspace: bounds [rad or L]; `free_ball`, 1 for a ball
    that is stepped by rotations about the axes of its turned frame; `preference`, PREFERS_*, and
    for those chosen by `settle_on` `preferred_step` = x* - x, its share `gain` in a step and its
    weight `pull`, see theory.md, eq. (9). `turns`: angles of which full turns do not count.
    `weight` (nr,): the squared weights w_r^2 of the rows, the diagonal of W.
    """

    def __init__(
        self,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        stop: Sequence[bool] = (),
        ends: float = inf,
    ) -> None:
        """Solve; `ends`: time on the clock of `perf_counter` [s]; `stop` as in `run_method`."""
        self.chain, self.options, self._joints = chain, options, joints
        self._stop, self._ends = stop, ends
        if options.method in ('ccd', *COST_METHODS):
            joints = JointTable.without_free_balls(joints)
        super().__init__(chain, q, joints, options.packed())
        flat, workspace = self.flat, self.workspace
        if not self.usable:
            chain.refuse(q, TABLE_POSES)
        self.lower, self.upper = workspace.lower, workspace.upper
        self.gain, self.pull = workspace.gain, workspace.pull
        self.preferred_step = workspace.preferred_step
        self.free_ball, self.preference = workspace.free_ball, workspace.preference
        self.prismatic = np.isin(flat.var_q, workspace.column_q[workspace.prismatic == 1])
        self.turns = JointTable.turning(joints)[flat.var_q]
        constraint = flat.rows // layout.BLOCK
        is_rotation = flat.rows >= workspace.angular[constraint]
        cuts = (np.flatnonzero(np.diff(2 * constraint + is_rotation)) + 1).tolist()
        self.blocks = tuple(
            (int(constraint[first]), first, last, bool(is_rotation[first]))
            for first, last in pairwise([0, *cuts, flat.rows.size])
            if first < last
        )
        self.is_closure: Mask = chain.are_closures[constraint]
        self._tolerances, self._row_tolerances = chain.tolerances, chain.row_tolerances
        self.weight = np.maximum(workspace.weight[flat.rows], LEAST_REACH_WEIGHT)
        self.go_to(self.x.copy())
        self.status: Status | None = None
        self.iterates: list[Array] = []
        self._reason, self._best, self.best_score = now.ENDED_SPENT, self.x.copy(), _NO_SCORE
        self._hopeless = _BEYOND * max(self.cost, 1.0)
        METHOD_TABLE[options.method](self)

    # -- values at the iterate

    @property
    def cost(self) -> float:
        """Return the cost f = r^T W r / 2, theory.md, eq. (5)."""
        return float(self.chain.work_floats[now.COST])

    def within_tolerance(self) -> bool:
        """Return True if every closure and goal is within its tolerance."""
        by_axis = np.abs(self.residual) <= self._row_tolerances
        return bool((self.errors <= self._tolerances).all() and by_axis.all())

    def comfort(self) -> float:
        """Return the cost given by the option `comfort`; 0 without that option."""
        function = self.options.comfort
        if function is None:
            return 0.0
        found, number = function(self.q.copy()), nan
        with suppress(TypeError, ValueError):
            number = float(found)
        if not isfinite(number):
            raise OptionError('comfort', found, 'a function that returns a finite number')
        return number

    def linear_rows(self) -> tuple[Array, Array]:
        """Return weighted e, shape (nr,), scaled down to the error clamps, and J, (nr, nv)."""
        shortfall, options = -self.residual, self.options
        longest = options.translation_error_clamp / self.flat.length
        for _, first, last, is_rotation in self.blocks:
            limit = options.rotation_error_clamp if is_rotation else longest
            length = float(np.linalg.norm(shortfall[first:last]))
            if length > limit:
                shortfall[first:last] *= limit / length
        share = np.sqrt(self.weight)
        return share * shortfall, share[:, None] * self.jacobian()

    def jacobian(self) -> Array:
        """Return the Jacobian J = dr/dx, shape (nr, nv), analytic or numeric by the option."""
        if self.options.jacobian != 'numeric':
            return self.analytic_jacobian()
        before, jacobian = self.residual, np.zeros((self.weight.size, self.x.size))
        for v in range(self.x.size):
            jacobian[:, v] = self.slope(v, lambda: self._change_from(before))
        return jacobian

    def slope(self, variable: int, change: Callable[[], Any]) -> Any:
        """
        Return the one-sided difference quotient of a function by a variable; 0 without room.

        `change` returns the difference of the function from its value at the present iterate.
        """
        x, options = self.x.copy(), self.options
        size = options.translation_step if self.prismatic[variable] else options.rotation_step
        if self.free_ball[variable] == 0 and self.upper[variable] - x[variable] < size:
            size = -size if x[variable] - self.lower[variable] >= size else 0.0
        self.move_one(variable, size)
        quotient = change() / (size or 1.0)
        self.go_to(x)
        return quotient

    def _change_from(self, before: Array) -> Array:
        """
        Return the change of the residual.

        For a full orientation, a rotation vector phi, it is log(exp(phi') exp(phi)^T), which does
        not jump at half a turn, and whose rate is the angular velocity (theory.md, section 3).
        """
        after = self.residual
        change = after - before
        for constraint, first, last, is_rotation in self.blocks:
            own = self.workspace.kind[constraint] == KIND_USER
            if is_rotation and last - first == 3 and not own:
                ends = (rotation_vector_to_quat(each[first:last]) for each in (after, -before))
                change[first:last] = quat_to_rotation_vector(quat_multiply(*ends))
        return change

    # -- moving

    def move(self, step: Array) -> float:
        """Take a step (nv,) [rad or L] within the bounds; return the largest actual change."""
        before = self.x.copy()
        self.step_by(step)
        change = np.where(self.free_ball == 1, step, self.x - before)
        return float(np.abs(change).max(initial=0.0))

    def move_one(self, variable: int, change: float) -> float:
        """Move one variable [rad or L], clamped to its bounds; return its actual change."""
        step = np.zeros(self.x.size)
        step[variable] = change
        return self.move(step)

    def step_within_bounds(
        self, shortfall: Array, jacobian: Array, choose: Choose, held: Mask | None = None
    ) -> Array:
        """
        Return a step that does not push variables at a bound beyond it, shape (nv,) [rad or L].

        A variable that is at a bound and would leave it is fixed, and the step is computed again
        for the others. Each step starts with all variables but those in `held`.
        """
        free: Mask = self.lower != self.upper
        if held is not None:
            free &= ~held
        at_lower = (self.x <= self.lower) & (self.free_ball == 0)
        at_upper = (self.x >= self.upper) & (self.free_ball == 0)
        step = np.zeros(self.x.size)
        while free.any():
            step[free] = choose(shortfall, jacobian[:, free], free)
            outward = free & ((at_lower & (step < 0.0)) | (at_upper & (step > 0.0)))
            if not outward.any():
                break
            free = free & ~outward
            step[:] = 0.0
        return step

    def take(self, choose: Choose) -> float:
        """Take a step that depends on the rows; return the largest actual change [rad or L]."""
        return self.move(self.step_within_bounds(*self.linear_rows(), choose))

    def settle_on(self, preference: int) -> None:
        """Choose the preferences of `preferred_step`: joint targets or rest pose, PREFERS_*."""
        counts = self.chain.work_ints
        counts[now.LEVEL] = counts[now.LAST_LEVEL] + preference
        self.go_to(self.x.copy())

    # -- the end

    @property
    def iterations(self) -> int:
        """Return the number of iterations."""
        return len(self.iterates) - 1

    def report(
        self, moved: float = inf, *, pending: bool = False, extra: float = 0.0, near: bool = False
    ) -> bool:
        """
        Record the start or an iteration, and return False if a stopping criterion holds.

        `moved`: largest change of a variable that was tried [rad or L]. `pending`: there is more
        to do than to meet closures and goals. `extra`: cost of comfort or preferences, by which
        iterates are judged that meet closures and goals, or are `near`.
        """
        self.iterates.append(self.x.copy())
        met = self.within_tolerance()
        score = (0.0, extra) if met else (1.0, extra) if near else (2.0, self.cost)
        # In this form a NaN is never better than a number.
        best = self.best_score
        if score[0] < best[0] or (score[0] == best[0] and score[1] < best[1]):
            self.best_score, self._best = score, self.x.copy()
        if met and not pending:
            self.status = Status.CONVERGED
        elif self.iterations == 0:
            pass
        elif not self.cost < self._hopeless:
            self.status = Status.DIVERGED
        elif moved <= self.options.stall_threshold:
            self.status = Status.STALLED
        elif (self._stop and self._stop[0]) or perf_counter() >= self._ends:
            self.end(Status.TIMEOUT, now.ENDED_INTERRUPTED)
        elif self.iterations >= self.options.max_iterations:
            self.status = Status.TIMEOUT
        return not self.ended()

    def ended(self) -> bool:
        """Return True if the solve has ended."""
        return self.status is not None

    def end(self, status: Status, reason: int = now.ENDED_SPENT) -> None:
        """End the solve with a status and its reason, ENDED_*, unless it has ended already."""
        if self.status is None:
            self.status, self._reason = status, reason

    def answer(self) -> SolveResult:
        """Go to the best iterate and return its result; CONVERGED depends on its residuals."""
        self.go_to(self._best)
        # Preferences may have taken a solve that had CONVERGED, which is 0, away from its goals.
        missed = self.status or Status.STALLED
        status = Status.CONVERGED if self.within_tolerance() else missed
        return self.answer_of(status, self.iterations, self._reason)

    def answer_of(self, status: Status, iterations: int, reason: int = 0) -> SolveResult:
        """Return the result of the present iterate."""
        answer = self.chain.answer(self._joints, self.packed)
        answer.record[: layout.RECORD] = status, iterations, 1, 0, reason
        return answer


# -- methods whose step is linear in the residual

# Share of the largest singular value below which others count as zero: for the pseudo-inverse,
# because their inverses would make the step too long, and for sdls.
_CUT, _ZERO = 1e-4, 1e-10
# Largest change of a joint in one step of sdls [rad or L], gamma_max of the paper.
_GAMMA = pi / 4.0


def jacobian_transpose(run: Run) -> None:
    """
    Step by Delta x = alpha J^T e, with alpha = <e, J J^T e> / <J J^T e, J J^T e>, or less.

    This alpha minimises the linear model of the cost; steps of more than twice the length raise
    the cost, so that the option `alpha` is limited to it.
    """
    fixed = run.options.alpha * run.flat.length**2

    def choose(shortfall: Array, jacobian: Array, _: Mask) -> Array:
        pulled = jacobian.T @ shortfall
        met = jacobian @ pulled
        best = float(shortfall @ met) / max(float(met @ met), 1e-300)
        return (min(fixed, best) if fixed > 0.0 else best) * pulled

    _descend(run, lambda: run.take(choose), in_null_space=False)


def selectively_damped(run: Run) -> None:
    """
    Step by Delta x = clamp(sum_i clamp((u_i . e) / sigma_i v_i, gamma_i), gamma_max).

    sigma_i, u_i and v_i are the singular values and vectors of J. The bound of each part is
    gamma_i = min(1, N_i / M_i) gamma_max. N_i = sum_j |u_ji| is the motion of the end effectors
    that the part aims at, and M_i = 1 / sigma_i sum_j sum_l |v_li| |dp_j / dq_l| bounds the motion
    that it can cause. The rows of a constraint that have the same unit are one end effector j.
    """

    def choose(shortfall: Array, jacobian: Array, _: Mask) -> Array:
        u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
        kept = sigma > _ZERO * max(float(sigma.max(initial=0.0)), 1e-300)
        u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
        aimed, reach = np.zeros(sigma.size), np.zeros(vt.shape[1])
        for _constraint, first, last, _rotation in run.blocks:
            aimed += np.linalg.norm(u[first:last], axis=0)
            reach += np.linalg.norm(jacobian[first:last], axis=0)
        possible = (np.abs(vt) @ reach) / sigma
        bounds = _GAMMA * np.minimum(1.0, aimed / np.maximum(possible, 1e-300))
        parts = ((u.T @ shortfall) / sigma)[:, None] * vt
        longest = np.abs(parts).max(axis=1, initial=0.0)
        parts *= np.minimum(1.0, bounds / np.maximum(longest, 1e-300))[:, None]
        return _shortened(parts.sum(axis=0), _GAMMA)

    _descend(run, lambda: run.take(choose), in_null_space=False)


def pseudo_inverse(run: Run) -> None:
    """Step by Delta x = J^+ e; with all goals met, in the null space."""
    _descend(run, lambda: run.take(lambda e, jacobian, _: np.linalg.pinv(jacobian, _CUT) @ e))


def damped_least_squares(run: Run) -> None:
    """
    Step by Delta x = J^T (J J^T + lambda^2 I)^-1 e, or V diag(sigma / (sigma^2 + lambda^2)) U^T e.

    With `adaptive_damping` lambda^2 = mu f(x) (Sugihara 2011), and mu follows the gain ratio rho,
    theory.md, eq. (8) (Levenberg-Marquardt). Without it every step is accepted until the cost f
    grows by more than `diverge_threshold`.
    """
    options, scale = run.options, run.options.damping_factor

    def reach() -> float:
        nonlocal scale
        (shortfall, jacobian), x, before = run.linear_rows(), run.x.copy(), run.cost
        damping = scale * before if options.adaptive_damping else options.damping_factor**2
        damping = max(damping, REACH_DAMPING)

        def choose(shortfall: Array, jacobian: Array, _: Mask) -> Array:
            if not options.use_svd:
                system = jacobian @ jacobian.T
                system[np.diag_indices_from(system)] += damping
                with suppress(np.linalg.LinAlgError):  # singular if rounding hides the damping
                    return np.asarray(jacobian.T @ np.linalg.solve(system, shortfall))
            u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
            return np.asarray(vt.T @ (sigma / (sigma * sigma + damping) * (u.T @ shortfall)))

        step = run.step_within_bounds(shortfall, jacobian, choose)
        moved = run.move(step)
        gain = before - run.cost
        if not options.adaptive_damping:
            if not gain >= -options.diverge_threshold:
                run.go_to(x)
                run.end(Status.DIVERGED)
            return moved
        left = shortfall - jacobian @ step
        predicted = 0.5 * float(shortfall @ shortfall - left @ left)
        kept = gain > 0.0 or run.within_tolerance()
        if not kept:
            run.go_to(x)
        scale = next_damping(scale, kept, gain, predicted, DAMPING_DECREASE)
        if scale > _MOST_DAMPING:
            run.end(Status.STALLED)
        return moved

    _descend(run, reach)


def _shortened(step: Array, longest: float) -> Array:
    length = float(np.abs(step).max(initial=0.0))
    return step * (longest / length) if length > longest else step


# -- joint targets and rest pose

# Longest step in the null space, which changes along the way [rad or L], and most steps that meet
# closures and goals again after it.
_LONGEST, _CORRECTIONS = 0.3, 4
# A stage ends below this share of a step, or of the cost by which a step reduces it.
_LEAST_SHARE, _LEAST_GAIN = 1e-3, 1e-6
# Cost of a stage that has not ended. It exceeds the cost of any preference, so that an iterate of
# a later stage always counts as better.
_FAR = 1e6


def _descend(run: Run, reach: Callable[[], float], *, in_null_space: bool = True) -> None:
    """
    Take steps of `reach` to the goals, and when they are met, steps in their null space.

    The latter are Delta x = J^+ e + (I - J^+ J) g (x* - x), theory.md, section 9. x* are the joint
    targets with g = 1 in the first stage, and the rest pose with g = `rest_pose_factor` in the
    second one, in which joints with a target stay fixed. A step after which closures and goals
    cannot be met again, or that does not approach x*, is undone, and the next step is half as
    long.
    """
    preferences = set(run.preference.tolist()) if in_null_space else set[int]()
    stages = sorted(preferences - {layout.PREFERS_NOTHING})

    def distance() -> float:
        # Half the weighted square of x* - x, plus a large cost for each stage to come.
        step = run.preferred_step
        return len(stages) * _FAR + 0.5 * float(run.pull @ (step * step)) if stages else 0.0

    def chosen(share: float) -> Array:
        preferred = np.where(
            run.preference == stages[0], share * run.gain * run.preferred_step, 0.0
        )
        fixed = (run.preference > layout.PREFERS_NOTHING) & (run.preference < stages[0])

        def choose(shortfall: Array, jacobian: Array, free: Mask) -> Array:
            back, wish = np.linalg.pinv(jacobian, _CUT), preferred[free]
            return np.asarray(back @ (shortfall - jacobian @ wish) + wish)

        return _shortened(run.step_within_bounds(*run.linear_rows(), choose, fixed), _LONGEST)

    if stages:
        run.settle_on(stages[0])
    share, moved = 1.0, inf
    while run.report(moved, pending=bool(stages), extra=distance()):
        if not run.within_tolerance():
            moved = reach()
            continue
        x, before = run.x.copy(), distance()
        moved = run.move(chosen(share))
        for _ in range(_CORRECTIONS):
            if not run.within_tolerance():
                run.move(chosen(0.0))
        gained = before - distance()
        if run.within_tolerance() and gained > 0.0:
            share = min(2.0 * share, 1.0)
            done = gained < _LEAST_GAIN * (before - len(stages) * _FAR)
        else:
            run.go_to(x)
            share *= 0.5
            done = share < _LEAST_SHARE or moved == 0.0
        if done:
            stages, share = stages[1:], 1.0
            if stages:
                run.settle_on(stages[0])
        # A solve that has a stage to come has not stalled.
        moved = inf if stages else moved


# -- methods that minimise a cost

# Gradient descent: the option `comfort` no longer counts after so many sweeps in a row that each
# lower the cost by less than this share.
_PATIENCE, _GAIN = 30, 1e-3
# SLSQP: a bound beyond this counts as no bound, and singular values below this share of the
# largest, which are rounding errors, do not count for the rank of the closures' rows.
_NO_BOUND, _RANK_CUT = 1e100, 1e-7
# Least gain of an iteration of SLSQP: half a squared residual [rad^2 or L^2], or comfort.
_GOAL_GAIN, _COMFORT_GAIN = 1e-18, 1e-12


def gradient_descent(run: Run) -> None:
    """
    Step by Delta x_v = -rate dF/dx_v, variable by variable, last joint first; F = |W^(1/2) r|.

    Without `learning_rate` the step descends f = F^2 / 2 with the rate 1 / max_v |J_v|_W^2, which
    is halved after a sweep that raises the cost. The option `comfort` is added to the cost until
    it no longer helps. After that it is left out, so that the goals can be met.
    """
    options = run.options
    fixed, least = options.learning_rate > 0.0, options.distance_threshold
    pending = options.comfort is not None
    scale, lowest, weak = 1.0, inf, 0

    def distance() -> float:
        # In metres; a radian counts as a characteristic length.
        return run.flat.length * sqrt(2.0 * run.cost)

    def near() -> bool:
        return distance() < least if least > 0.0 else run.within_tolerance()

    def cost() -> float:
        return (distance() if fixed else run.cost) + (run.comfort() if pending else 0.0)

    def sweep() -> float:
        # Rates for variables in the units of the kernels.
        rates, moved = options.learning_rate / run.flat.units**2, 0.0
        if not fixed:
            # Squared lengths of the weighted Jacobian's columns.
            squares = run.weight @ run.analytic_jacobian() ** 2
            rates[:] = scale / max(float(squares.max(initial=0.0)), 1e-12)
        for v in reversed(range(run.x.size)):
            present = cost()
            slope = run.slope(v, lambda: cost() - present)  # noqa: B023
            moved = max(moved, run.move_one(v, -rates[v] * slope))
            if options.early_stop and not pending and near():
                break
        return moved

    moved = inf
    while run.report(moved, pending=pending, extra=run.comfort(), near=near()):
        x, before = run.x.copy(), cost()
        reached = not pending and near()
        moved = 0.0 if reached else sweep()
        if not fixed:
            better = cost() <= before
            scale = min(1.2 * scale, 1.0) if better else 0.5 * scale
            if not better:
                run.go_to(x)
        if pending:
            after = cost()
            weak = 0 if after < (1.0 - _GAIN) * lowest else weak + 1
            lowest = min(lowest, after)
            if weak >= _PATIENCE or 2 * run.iterations > options.max_iterations:
                pending, scale = False, 1.0
                run.best_score = _NO_SCORE
        if reached or (not pending and options.early_stop and near()):
            # The distance is below `distance_threshold`, even if a tolerance is not met.
            run.end(Status.STALLED, now.ENDED_NEAR)


def slsqp(run: Run) -> None:
    """
    Minimise the goals' f = r^T W r / 2 by SciPy, with r_c(x) = 0 for closures and l <= x <= u.

    Rows of closures that depend on others at the start of a run are left out. The option `comfort`
    is a further term of the cost; after it, a second run minimises this term alone, with the goals
    as constraints too. Runs are repeated while each lowers the cost.
    """
    from scipy.optimize import minimize

    eased = pending = run.options.comfort is not None
    free, last_cost = run.lower != run.upper, inf

    def goal_cost(goals: Mask) -> float:
        rows = run.residual[goals]
        return 0.5 * float(rows @ (run.weight[goals] * rows))

    def report(moved: float = inf) -> None:
        # Iterates with open loops are never better than others.
        extra = goal_cost(~run.is_closure) + run.comfort()
        closed = bool((run.errors <= run.chain.tolerances)[run.chain.are_closures].all())
        run.report(moved, pending=pending, extra=extra, near=closed)

    def minimise(held: Mask, *, with_goals: bool) -> None:
        x, goals = run.x.copy(), ~held
        # An orthonormal basis of the range of the rows' Jacobian, shape (nr, rank).
        u, sigma, _ = np.linalg.svd(run.jacobian()[held][:, free], full_matrices=False)
        basis = u[:, sigma > _RANK_CUT * max(float(sigma.max(initial=0.0)), 1e-300)]

        def at(values: Array) -> Run:
            x[free] = values
            if not np.array_equal(run.x, np.clip(x, run.lower, run.upper)):
                run.go_to(x)
            return run

        def cost(values: Array) -> float:
            at(values)
            return run.comfort() + (goal_cost(goals) if with_goals else 0.0)

        def gradient(values: Array) -> Array:
            at(values)
            total = np.zeros(x.size)
            if eased:
                present = run.comfort()
                total += [run.slope(v, lambda: run.comfort() - present) for v in range(x.size)]
            if with_goals:
                rows = run.weight[goals] * run.residual[goals]
                total += run.jacobian()[goals].T @ rows
            return np.asarray(total[free])

        def callback(values: Array) -> None:
            at(values)
            report()
            if run.ended():
                raise StopIteration

        closed: dict[str, Any] = {
            'type': 'eq',
            'fun': lambda values: basis.T @ at(values).residual[held],
            'jac': lambda values: basis.T @ at(values).jacobian()[held][:, free],
        }
        bounds = np.column_stack((run.lower, run.upper))[free]
        # SciPy before 1.16 does one iteration less, and lets the exception of `callback` through.
        most = run.options.max_iterations - run.iterations + 1
        with suppress(StopIteration):
            found = minimize(
                cost,
                run.x[free],
                method='SLSQP',
                jac=gradient,
                bounds=np.where(np.abs(bounds) > _NO_BOUND, np.copysign(inf, bounds), bounds),
                constraints=[closed] if basis.size else [],
                callback=callback,
                options={'maxiter': most, 'ftol': _GOAL_GAIN if with_goals else _COMFORT_GAIN},
            )
            at(found.x)

    report()
    while not run.ended():
        before, iterations = run.x.copy(), run.iterations
        if free.any():
            minimise(run.is_closure, with_goals=True)
        if pending and not run.ended():
            if free.any():
                minimise(np.ones(run.weight.size, dtype=bool), with_goals=False)
            pending = False
        if run.within_tolerance():
            run.end(Status.CONVERGED)
        gained = run.cost < 0.9 * last_cost
        last_cost = run.cost
        if run.iterations == iterations:
            # SLSQP calls no callback in a run without a step.
            report(float(np.abs(run.x - before).max(initial=0.0)))
        if not gained:
            run.end(Status.STALLED)


# -- cyclic coordinate descent

# The angles at which the cost is sampled [rad]: five samples determine the five coefficients.
_ANGLES: Array = np.array([0.4 * pi * k for k in range(5)])
# A variable whose squared column of the weighted Jacobian is below this does not affect the rows;
# most halvings of a step of the linear model that raises the cost.
_NO_SLOPE, _HALVINGS = 1e-18, 12
# Residuals vary by rounding errors of this size [rad or L], and costs by this share.
_ROUNDING, _COST_ROUNDING = 1e-13, 1e-14


def cyclic_coordinate_descent(run: Run) -> None:
    """
    Minimise the cost over single variables in turn, from the last joint to the base.

    For a revolute joint the cost of the goals that it moves is f(x_v) = sum over goals of
    w_p^2 |p_A - p_B|^2 / 2 + w_o^2 (1 - cos theta), a trigonometric polynomial of degree two in
    x_v, whose minimum is exact (Wang and Chen 1991). Prismatic joints, joints with followers, and
    joints that move goals other than poses take the step of the linear model, Delta x_v =
    -J_v^T W r / (J_v^T W J_v), which is halved until the cost does not rise.
    """
    limit = run.options.ccd_step_limit
    loops = [name for _, name in run.chain.names.closures]
    if loops:
        others = ' or '.join(name for name in METHODS if name != 'ccd')
        why = f'ccd moves joints one by one, and {listed(map(repr, loops))} would not stay closed'
        raise OptionError('method', 'ccd', f'{others}: {why}')
    start, hinges = run.x.copy(), [_blocks_turned(run, v) for v in range(run.x.size)]
    largest = inf
    while run.report(largest):
        largest = 0.0
        for v in reversed(range(run.x.size)):
            low = max(float(run.lower[v] - run.x[v]), -limit)
            high = min(float(run.upper[v] - run.x[v]), limit)
            blocks = hinges[v]
            if blocks is None:
                largest = max(largest, _move_linearly(run, v, low, high))
                continue
            angle = _best_turn(_costs(run, v, blocks), low, high)
            largest = max(largest, abs(angle))
            # Of equivalent angles the one nearest to the start.
            value = run.x[v] + angle
            back = -2.0 * pi * round(float(value - start[v]) / (2.0 * pi))
            if run.turns[v] and run.lower[v] <= value + back <= run.upper[v]:
                angle += back
            run.move_one(v, angle)


def _blocks_turned(run: Run, variable: int) -> list[Block] | None:
    """Return the rows that a revolute joint affects; None for steps of the linear model."""
    s = run.workspace
    moved = {c for c in range(s.nc) if variable in s.slot_var[s.slot0[c] : s.slot0[c + 1]]}
    columns = np.flatnonzero(s.var == variable)
    polynomial = s.coefficients.reshape(-1, s.width)[columns]
    alone = columns.size == 1 and (polynomial == np.eye(s.width)[1]).all()
    if run.prismatic[variable] or not alone or any(s.kind[c] != KIND_FRAME for c in moved):
        return None
    return [block for block in run.blocks if block[0] in moved]


def _move_linearly(run: Run, variable: int, low: float, high: float) -> float:
    """Take the optimal step of the linear model, halved until it helps; return its size."""
    column = run.analytic_jacobian()[:, variable]
    square = float(column @ (run.weight * column))
    if square < _NO_SLOPE:
        return 0.0
    x, before = run.x.copy(), run.cost
    step = min(max(-float(column @ (run.weight * run.residual)) / square, low), high)
    for _ in range(_HALVINGS):
        moved = run.move_one(variable, step)
        if run.cost <= before:
            return moved
        run.go_to(x)
        step *= 0.5
    return 0.0


def _costs(run: Run, variable: int, blocks: list[Block]) -> Array:
    """
    Return the cost of the rows that a revolute joint affects, after each of `_ANGLES`.

    An angle theta counts as 1 - cos(theta) in place of theta^2 / 2. A single rotation row gets a
    cosine with the minimum and the curvature of the linear model.
    """
    x, bounds = run.x.copy(), (run.lower[variable], run.upper[variable])
    slopes, residual = run.analytic_jacobian()[:, variable], run.residual
    run.lower[variable], run.upper[variable] = -inf, inf
    costs = np.zeros(_ANGLES.size)
    for k, angle in enumerate(_ANGLES.tolist()):
        if k:
            turned = x.copy()
            turned[variable] += angle
            run.go_to(turned)
        rows = run.residual
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
            costs[k] += run.weight[first] * part
    run.lower[variable], run.upper[variable] = bounds
    run.go_to(x)
    return costs


def _best_turn(costs: Array, low: float, high: float) -> float:
    """
    Return the angle of least cost in [low, high], low <= 0 <= high, at most half a turn [rad].

    The cost T(phi) = c + a1 cos phi + b1 sin phi + a2 cos 2 phi + b2 sin 2 phi is given at
    `_ANGLES`. With z = exp(i phi), T'(phi) = 0 is a polynomial of degree four in z. Candidates are
    compared by T(phi) - T(0), without cancellation near 0; of equal ones the smallest counts.
    """
    low, high = max(low, -pi), min(high, pi)
    _, first, second = 0.4 * np.fft.rfft(costs)  # a1 - i b1 and a2 - i b2
    most = float(np.abs(costs).max())
    if abs(first) + 2.0 * abs(second) <= _COST_ROUNDING * most + _ROUNDING * sqrt(most):
        return 0.0
    second *= 2.0 * abs(second) > 1e-12 * abs(first)
    roots = np.roots([2.0 * second, first, 0.0, -first.conjugate(), -2.0 * second.conjugate()])
    angles = np.array(sorted([0.0, low, high, *np.angle(roots).tolist()], key=abs))
    angles = angles[(low <= angles) & (angles <= high)]
    sines, halves = np.sin(angles), np.sin(0.5 * angles)
    gains = -first.imag * sines - 2.0 * first.real * halves * halves
    gains -= 2.0 * sines * (second.imag * np.cos(angles) + second.real * sines)
    return float(angles[np.argmin(gains)])


METHOD_TABLE: dict[str, Callable[[Run], None]] = {
    'dls': damped_least_squares,
    'sdls': selectively_damped,
    'pseudo_inverse': pseudo_inverse,
    'jacobian_transpose': jacobian_transpose,
    'ccd': cyclic_coordinate_descent,
    'gradient_descent': gradient_descent,
    'slsqp': slsqp,
}


def run_method(
    problem: Problem,
    q: Array,
    joints: Array,
    options: SolverOptions,
    stop: Sequence[bool] = (),
    loops: Problem | None = None,
) -> list[SolveResult]:
    """
    Solve every chain by the method of the options, from q (nq,) [rad or m], which is overwritten.

    If `stop` is not empty, the solve ends after the iteration in which stop[0] becomes true. Most
    methods treat closures as rows like those of goals, so that loops may be open at the best
    iterate; the compiled solver closes them from there with `loops`, the closures alone.
    """
    ends = perf_counter() + options.time_budget if options.time_budget > 0.0 else inf
    start, packed = q.copy(), options.packed()
    answers = [Run(chain, q, joints, options, stop, ends).answer() for chain in problem.chains]
    if loops is None or all(
        (answer.errors <= answer.limits)[chain.are_closures].all()
        for chain, answer in zip(problem.chains, answers, strict=True)
    ):
        return answers
    # The window is around the start of the method, not around its end.
    rows = JointTable.with_windows_as_limits(JointTable.without_preferences(joints), start)
    loops.run(q, rows, packed, 0.0)
    return [
        answer.at(chain.linearise_by_size(q, joints, packed)[2])
        for chain, answer in zip(problem.chains, answers, strict=True)
    ]


# -- single iterations


Steps = Iterator[tuple[Array, SolveResult]]


def steps_of(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions, *, to_last: bool = False
) -> Steps:
    """
    Yield q (nq,) [rad or m] and the result at the start and after each step, without restarts.

    The answer comes in place of the last iteration, unless they go `to_last`.
    """
    chain, q, joints = chain.with_own_workspace(), q.copy(), joints.copy()
    if not options.in_kernel:
        run = Run(chain, q, joints, options)
        for count, x in enumerate(run.iterates if to_last else run.iterates[:-1]):
            run.go_to(x)
            yield q.copy(), run.answer_of(Status.TIMEOUT, count)
        if not to_last:
            answer = run.answer()  # it moves to the best iterate
            yield q.copy(), answer
        return
    packed, ints = options.packed(), chain.work_ints
    packed[option.RESTARTS] = 0.0
    ints[now.PHASE] = now.PHASE_DONE
    status, steps = now.STATUS_RUNNING, 0
    while status == now.STATUS_RUNNING:
        status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, steps)
        if status == now.STATUS_RUNNING:
            q[chain.flat.var_q] = Workspace(*chain.arrays).x * chain.flat.units
        answer, count = chain.answer(joints, packed), ints[now.ITERATIONS] - ints[now.CLOSING]
        shown = Status.TIMEOUT if status == now.STATUS_RUNNING else status
        answer.record[: layout.RECORD] = shown, count, ints[now.STARTS], ints[now.CLOSING], 0
        yield q.copy(), answer.at(chain.linearise_by_size(q, joints, packed)[2])
        steps = 1


class Stepping:
    """The solve of a problem between two calls of `Solver.step`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._options: SolverOptions | None = None
        self._runs: dict[int, Steps] = {}

    def step(self, q: Array, table: JointTable, options: SolverOptions) -> list[SolveResult]:
        """
        Do one iteration of every chain from q [rad or m], which is overwritten.

        The solve begins again if q, joints, options or constraints have changed meanwhile.
        """
        inputs = [q, table.rows, *(chain.table for chain in self.problem.chains)]
        if self._options is not options or not all(map(np.array_equal, inputs, self._left)):
            self._runs = {}
        start, answers = q.copy(), []
        for index, chain in enumerate(self.problem.chains):
            step = next(self._runs.get(index, iter(())), None)
            if step is None:
                self._runs[index] = steps_of(chain, start, table.rows, options)
                step = next(self._runs[index])
                step = next(self._runs[index], step)
            q[chain.flat.var_q] = step[0][chain.flat.var_q]
            answers.append(step[1])
        table.follow(q)
        self._options, self._left = options, [array.copy() for array in inputs]
        return answers


class TracePoint(NamedTuple):
    """A chain after an iteration, 0 = at the start: q [rad or m], largest residuals [m], [rad]."""

    chain: int
    iteration: int
    q: Array
    position: float
    orientation: float


class Trace(NamedTuple):
    """A solution and the iterations that led to it, chain by chain."""

    solution: Solution
    points: tuple[TracePoint, ...]


def trace(
    tree: Tree,
    q0: ArrayLike,
    options: SolverOptions,
    goals: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
) -> Trace:
    """
    Solve closures and goals of `Solver.tree` from q0 (nq,) [rad or m], and record iterations.

    `goals` are the poses (position [m], quat_xyzw) that replace those of goals. The iterations are
    those without restarts; dls is compiled if `options.in_kernel` is true.
    """
    chosen = [request for request in requests_of(tree) if request.takes_part]
    problem = Problem(tree, chosen, length=options.characteristic_length)
    problem.refresh(options)
    for name, pose in (goals or {}).items():
        problem.set_goal(name, pose)
    table, q = JointTable(tree), np.array(q0, dtype=np.float64)
    points = []
    for number, chain in enumerate(problem.chains):
        for step, answer in steps_of(chain, q, table.rows, options, to_last=True):
            worst = answer.errors.max(axis=0, initial=0.0).tolist()
            points.append(TracePoint(number, answer.iterations, step, *worst))
    started = perf_counter()
    if options.in_kernel:
        answers = problem.run(q, table.rows, options.packed(), options.time_budget)
    else:
        answers = run_method(problem, q, table.rows, options)
    spent = perf_counter() - started
    table.follow(q)
    return Trace(Solution(q, answers, spent, tree.names), tuple(points))
