"""
The methods of the sources for comparison and teaching, the loop that they share, and single steps.

All methods work on the model of the compiled solver. In all formulas e = -r and J have the weights
W^(1/2).

References
----------
Buss (2009), Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped
least squares methods. Buss, Kim (2005), Selectively damped least squares for inverse kinematics,
Journal of Graphics Tools 10(3). Sugihara (2011), see theory.md.

"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
import itertools
from math import cos, inf, isfinite, nan, pi, sin, sqrt
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.kinds import KIND_FRAME, KIND_USER
from ik_node.kernels.lm_step import DAMPING_DECREASE, next_damping, REACH_DAMPING
from ik_node.kernels.solve import MOST_DAMPING
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.model.request import requests_of
from ik_node.model.rotation import quat_multiply, quat_to_rotation_vector, rotation_vector_to_quat
from ik_node.model.tree import Tree
from ik_node.solver.options import COST_METHODS, METHODS, SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Configuration, Workspace
from ik_node.solver.result import Solution, SolveResult
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Block(NamedTuple):
    """Rows first to last - 1 of one constraint, all in [rad] (is_rotation) or lengths [L]."""

    constraint: int
    first: int
    last: int
    is_rotation: bool


class Iterate(Configuration):
    """
    A chain at a configuration, in the workspace of its problem.

    Lengths are multiples of the characteristic length [L], except in `q` and `errors`. The arrays
    are views of the workspace.

    lower and upper (nv,) are the bounds of the variables [rad or L]; free_ball is 1 for
    those of a ball that is stepped by rotations about the axes of its turned frame. With `euler`
    all balls are stepped by their Euler angles, so that variables are independent numbers.
    `prismatic` is True for variables in [L], and `turns` for angles of which full turns do not
    count. `weight` (nr,) are the squared weights w_r^2 of the rows, the diagonal of W, at least
    `LEAST_REACH_WEIGHT`.
    `preference` is the kind of preference of each variable, PREFERS_*. For those chosen by
    `settle_on`, `preferred_step` is x* - x, `gain` the share g of it to take in a step, and `pull`
    its weight, see theory.md, eq. (9).
    """

    def __init__(
        self,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        *,
        euler: bool = False,
    ) -> None:
        if euler:
            joints = JointTable.without_free_balls(joints)
        flat, workspace = chain.flat, Workspace(*chain.arrays)
        super().__init__(flat, workspace, chain.kernels, q, joints, options.packed())
        if not self.usable:
            chain.refuse(q, TABLE_POSES)
        self.chain, self.options, self.variable_count = chain, options, int(workspace.nv)
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
            Block(int(constraint[first]), first, last, bool(is_rotation[first]))
            for first, last in itertools.pairwise([0, *cuts, flat.rows.size])
            if first < last
        )
        self.is_closure: NDArray[np.bool_] = chain.are_closures[constraint]
        self._tolerances, self._row_tolerances = chain.tolerances, chain.row_tolerances
        self.weight = np.maximum(workspace.weight[flat.rows], LEAST_REACH_WEIGHT)
        self.go_to(self.x.copy())

    # -- moving

    def move(self, step: Array) -> float:
        """
        Take a step, clamped to the bounds; return the largest actual change [rad or L].

        The step has shape (nv,) [rad or L]; for a free ball it is a rotation vector [rad] in the
        turned frame.
        """
        before = self.x.copy()
        self.step_by(step)
        change = np.where(self.free_ball == 1, step, self.x - before)
        return float(np.abs(change).max(initial=0.0))

    def move_one(self, variable: int, change: float) -> float:
        """Move one variable [rad or L], clamped to its bounds; return its actual change."""
        step = np.zeros(self.variable_count)
        step[variable] = change
        return self.move(step)

    def settle_on(self, preference: int) -> None:
        """Choose the preferences of `preferred_step`: joint targets or rest pose, PREFERS_*."""
        counts = self.chain.work_ints
        counts[now.LEVEL] = counts[now.LAST_LEVEL] + preference
        self.go_to(self.x.copy())

    # -- values at the configuration

    @property
    def residual(self) -> Array:
        """Return the residual r, shape (nr,) [L or rad]."""
        rows = super().residual
        # A limit of a rotation counts only beyond it.
        return np.where(self.flat.one_sided, np.maximum(rows, 0.0), rows)

    @property
    def cost(self) -> float:
        """Return the cost f = r^T W r / 2, theory.md, eq. (5)."""
        return float(self.chain.work_floats[now.COST])

    @property
    def within_tolerance(self) -> bool:
        """Return True if every closure and goal is within its tolerance."""
        by_axis = np.abs(self.residual) <= self._row_tolerances
        return bool((self.errors <= self._tolerances).all() and by_axis.all())

    @property
    def closures_met(self) -> bool:
        """Return True if every closure is within its tolerance."""
        return bool((self.errors <= self._tolerances)[self.chain.are_closures].all())

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Return True for each variable that cannot move, shape (nv,)."""
        return np.asarray(self.lower == self.upper)

    def difference_steps(self) -> Array:
        """
        Return the step of each variable for finite differences, shape (nv,) [rad or L].

        It is negative where the upper bound is too near, and 0 where both bounds are.
        """
        options = self.options
        sizes = np.where(self.prismatic, options.translation_step, options.rotation_step)
        up, down = self.upper - self.x >= sizes, self.x - self.lower >= sizes
        return np.where(up | (self.free_ball == 1), sizes, np.where(down, -sizes, 0.0))

    def slope(self, variable: int, change: Callable[[], Any]) -> Any:
        """
        Return the one-sided difference quotient of a function by a variable, 0 without room.

        `change` returns the difference of the function from its value at the present iterate.
        """
        size = float(self.difference_steps()[variable])
        if size == 0.0:
            return 0.0
        x = self.x.copy()
        self.move_one(variable, size)
        quotient = change() / size
        self.go_to(x)
        return quotient

    def jacobian(self) -> Array:
        """
        Return the Jacobian J = dr/dx, shape (nr, nv), analytic or numeric by the option.

        The three rows of a full orientation contain the angular velocity, see `kernels.rows`.
        """
        if self.options.jacobian != 'numeric':
            return self.analytic_jacobian()
        before, jacobian = self.residual, np.zeros((self.weight.size, self.variable_count))
        for v in range(self.variable_count):
            jacobian[:, v] = self.slope(v, lambda: self._change_from(before))
        return jacobian

    def analytic_jacobian(self) -> Array:
        """Return the Jacobian computed by the kernel, shape (nr, nv)."""
        inside = self.flat.one_sided & (super().residual <= 0.0)
        return np.where(inside[:, None], 0.0, super().analytic_jacobian())

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


# A solve has diverged if its cost exceeds the first one, or 1, by this factor.
_BEYOND = 1e9
# Worse than that of any iterate.
NO_SCORE = (3.0, inf)


class Run:
    """
    A solve of one chain: it counts iterations, keeps the best iterate and decides the end.

    Takes the workspace of the chain, and the arguments of `run_method`; the solve ends at the time
    `ends` [s] on the clock of `perf_counter`. `watch` is called after each report. A method is a
    generator, which reports the start and then each iteration, and yields whenever it can be
    interrupted.
    """

    def __init__(
        self,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        stop: Sequence[bool] = (),
        ends: float = inf,
        watch: Callable[[Iterate], None] | None = None,
    ) -> None:
        by_angles = options.method in ('ccd', *COST_METHODS)
        here = Iterate(chain, q, joints, options, euler=by_angles)
        self.here, self.options, self._joints = here, options, joints
        self._stop, self._ends, self._watch = stop, ends, watch
        self.status: Status | None = None
        self.iterations, self._reason = -1, now.ENDED_SPENT
        self._best, self.best_score = here.x.copy(), NO_SCORE
        self._hopeless = _BEYOND * max(here.cost, 1.0)
        self._steps = METHOD_TABLE[options.method](self)
        self.step()

    def step(self) -> None:
        """Do at least one iteration; the first call reports the start."""
        next(self._steps)

    def report(
        self, moved: float = inf, *, pending: bool = False, extra: float = 0.0, near: bool = False
    ) -> None:
        """
        Record the start or an iteration, and end the solve if a stopping criterion holds.

        The largest change of a variable that was tried is `moved` [rad or L]. The method has more
        to do than to meet closures and goals if it is `pending`. Iterates that meet them are
        judged by `extra`, the cost of comfort or preferences; others too if they are `near`.
        """
        here = self.here
        self.iterations += 1
        met = here.within_tolerance
        score = (0.0, extra) if met else (1.0, extra) if near else (2.0, here.cost)
        # In this form a NaN is never better than a number.
        best = self.best_score
        if score[0] < best[0] or (score[0] == best[0] and score[1] < best[1]):
            self.best_score, self._best = score, here.x.copy()
        if self._watch is not None:
            self._watch(here)
        if met and not pending:
            self.status = Status.CONVERGED
        elif self.iterations == 0:
            return
        elif not here.cost < self._hopeless:
            self.status = Status.DIVERGED
        elif moved <= self.options.stall_threshold:
            self.status = Status.STALLED
        elif (self._stop and self._stop[0]) or perf_counter() >= self._ends:
            self.end(Status.TIMEOUT, now.ENDED_INTERRUPTED)
        elif self.iterations >= self.options.max_iterations:
            self.status = Status.TIMEOUT

    def end(self, status: Status, reason: int = now.ENDED_SPENT) -> None:
        """End the solve with a status and its reason, ENDED_*, unless it has ended already."""
        if self.status is None:
            self.status, self._reason = status, reason

    def answer(self) -> SolveResult:
        """Go to the best iterate and return its result; CONVERGED depends on its residuals."""
        self.here.go_to(self._best)
        status = Status.STALLED if self.status is None else self.status
        if self.here.within_tolerance:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        return self.answer_of(status, self.iterations, self._reason)

    def answer_of(self, status: Status, iterations: int, reason: int = 0) -> SolveResult:
        """Return the result of the present iterate."""
        answer = self.here.chain.answer(self._joints, self.here.packed)
        answer.record[: layout.RECORD] = status, iterations, 1, 0, reason
        return answer


# -- methods whose step is linear in the residual

# Singular values below this share of the largest count as zero in a step of the pseudo-inverse:
# their inverses would make the step too long.
_CUT = 1e-4
# Largest change of a joint in one step of sdls [rad or L], gamma_max of the paper, and the share
# of the largest singular value below which others count as zero.
_GAMMA, _ZERO = pi / 4.0, 1e-10


class Rows(NamedTuple):
    """Weighted e, shape (nr,), scaled down to the error clamps, and J, shape (nr, nv)."""

    shortfall: Array
    jacobian: Array
    blocks: tuple[Block, ...]


# Function of the rows with some columns of J, and of the mask (nv,) of these variables, that
# returns their step.
Choose = Callable[[Rows, Mask], Array]


def linear_rows(here: Iterate) -> Rows:
    """Return weighted rows and Jacobian at an iterate."""
    shortfall, options = -here.residual, here.options
    for _, first, last, is_rotation in here.blocks:
        limit = options.rotation_error_clamp
        if not is_rotation:
            limit = options.translation_error_clamp / here.chain.flat.length
        length = float(np.linalg.norm(shortfall[first:last]))
        if length > limit:
            shortfall[first:last] *= limit / length
    share = np.sqrt(here.weight)
    return Rows(share * shortfall, share[:, None] * here.jacobian(), here.blocks)


def step_within_bounds(
    here: Iterate, rows: Rows, choose: Choose, held: Mask | None = None
) -> Array:
    """
    Return a step that does not push variables at a bound beyond it, shape (nv,) [rad or L].

    A variable that is at a bound and would leave it is fixed, and the step is computed again for
    the others. Each step starts with all variables but those in `held`, so that a variable is
    released as soon as the step points inwards. `Iterate.move` clamps variables that the step
    takes past a bound.
    """
    free: Mask = ~here.locked if held is None else ~(here.locked | held)
    at_lower = (here.x <= here.lower) & (here.free_ball == 0)
    at_upper = (here.x >= here.upper) & (here.free_ball == 0)
    step = np.zeros(here.variable_count)
    while free.any():
        step[free] = choose(rows._replace(jacobian=rows.jacobian[:, free]), free)
        outward = free & ((at_lower & (step < 0.0)) | (at_upper & (step > 0.0)))
        if not outward.any():
            break
        free = free & ~outward
        step[:] = 0.0
    return step


def _steps(run: Run, choose: Choose, *, in_null_space: bool = False) -> Iterator[None]:
    here = run.here

    def reach() -> float:
        return here.move(step_within_bounds(here, linear_rows(here), choose))

    return _steps_with_null_space(run, reach, _stages(here) if in_null_space else [])


def jacobian_transpose(run: Run) -> Iterator[None]:
    """
    Step by Delta x = alpha J^T e.

    With the option `alpha` = 0 the step minimises the linear model of the cost,
    alpha = <e, J J^T e> / <J J^T e, J J^T e>. Longer steps overshoot, and steps of more than twice
    the length raise the cost, so that a fixed `alpha` is limited to this value.
    """
    fixed = run.options.alpha * run.here.chain.flat.length**2

    def choose(rows: Rows, _: Mask) -> Array:
        pulled = rows.jacobian.T @ rows.shortfall
        met = rows.jacobian @ pulled
        square = float(met @ met)
        best = float(rows.shortfall @ met) / square if square > 0.0 else 0.0
        return (min(fixed, best) if fixed > 0.0 else best) * pulled

    return _steps(run, choose)


def selectively_damped(run: Run) -> Iterator[None]:
    """
    Step by Delta x = clamp(sum_i clamp((u_i . e) / sigma_i v_i, gamma_i), gamma_max).

    sigma_i, u_i and v_i are the singular values and vectors of J. The bound of each part is
    gamma_i = min(1, N_i / M_i) gamma_max. N_i = sum_j |u_ji| is the motion of the end effectors
    that the part aims at, and M_i = 1 / sigma_i sum_j sum_l |v_li| |dp_j / dq_l| bounds the motion
    that it can cause. The rows of a constraint that have the same unit are one end effector j.
    """

    def choose(rows: Rows, _: Mask) -> Array:
        u, sigma, vt = np.linalg.svd(rows.jacobian, full_matrices=False)
        kept = sigma > _ZERO * max(float(sigma.max(initial=0.0)), 1e-300)
        u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
        aimed, reach = np.zeros(sigma.size), np.zeros(vt.shape[1])
        for _constraint, first, last, _rotation in rows.blocks:
            aimed += np.linalg.norm(u[first:last], axis=0)
            reach += np.linalg.norm(rows.jacobian[first:last], axis=0)
        possible = (np.abs(vt) @ reach) / sigma
        bounds = _GAMMA * np.minimum(1.0, aimed / np.maximum(possible, 1e-300))
        parts = ((u.T @ rows.shortfall) / sigma)[:, None] * vt
        longest = np.abs(parts).max(axis=1, initial=0.0)
        parts *= np.minimum(1.0, bounds / np.maximum(longest, 1e-300))[:, None]
        return _shortened(parts.sum(axis=0), _GAMMA)

    return _steps(run, choose)


def _shortened(step: Array, longest: float) -> Array:
    length = float(np.abs(step).max(initial=0.0))
    return step * (longest / length) if length > longest else step


def _pinv(jacobian: Array) -> Array:
    return np.asarray(np.linalg.pinv(jacobian, rcond=_CUT), dtype=np.float64)


def pseudo_inverse(run: Run) -> Iterator[None]:
    """Step by Delta x = J^+ e; when all goals are met, in the null space."""
    return _steps(run, lambda rows, _: _pinv(rows.jacobian) @ rows.shortfall, in_null_space=True)


def damped_least_squares(run: Run) -> Iterator[None]:
    """
    Step by Delta x = J^T (J J^T + lambda^2 I)^-1 e, as in the JavaScript library closed-chain-ik.

    With the option `use_svd` it is computed as V diag(sigma / (sigma^2 + lambda^2)) U^T e. With
    `adaptive_damping` lambda^2 = mu f(x) (Sugihara 2011), and mu follows the gain ratio rho,
    theory.md, eq. (8) (Levenberg-Marquardt). Without it lambda = `damping_factor`, and every step
    is accepted until the cost f grows by more than `diverge_threshold`. When all goals are met,
    the steps follow in the null space.
    """
    here, options = run.here, run.options
    scale = options.damping_factor

    def reach() -> float:
        nonlocal scale
        rows, x, before = linear_rows(here), here.x.copy(), here.cost
        damping = scale * before if options.adaptive_damping else options.damping_factor**2
        damping = max(damping, REACH_DAMPING)
        step = step_within_bounds(
            here, rows, lambda part, _: _damped(part, damping, by_svd=options.use_svd)
        )
        moved = here.move(step)
        gain = before - here.cost
        if not options.adaptive_damping:
            if not gain >= -options.diverge_threshold:
                here.go_to(x)
                run.end(Status.DIVERGED)
            return moved
        left = rows.shortfall - rows.jacobian @ step
        predicted = 0.5 * float(rows.shortfall @ rows.shortfall - left @ left)
        kept = gain > 0.0 or here.within_tolerance
        if not kept:
            here.go_to(x)
        scale = next_damping(scale, kept, gain, predicted, DAMPING_DECREASE)
        if scale > MOST_DAMPING:
            run.end(Status.STALLED)
        return moved

    return _steps_with_null_space(run, reach, _stages(here))


def _damped(rows: Rows, damping: float, *, by_svd: bool) -> Array:
    jacobian, shortfall = rows.jacobian, rows.shortfall
    if not by_svd:
        system = jacobian @ jacobian.T
        system[np.diag_indices_from(system)] += damping
        with suppress(np.linalg.LinAlgError):  # singular if rounding hides the damping
            return np.asarray(jacobian.T @ np.linalg.solve(system, shortfall))
    u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(vt.T @ (sigma / (sigma * sigma + damping) * (u.T @ shortfall)))


# -- joint targets and rest pose

# Longest step: the null space changes along the way [rad or L].
_LONGEST = 0.3
# Most steps that meet closures and goals again after a step along their tangent.
_CORRECTIONS = 4
# A stage ends when the share of the step has been halved below this, or after a step that reduces
# its cost by less than this share.
_LEAST_SHARE, _LEAST_GAIN = 1e-3, 1e-6
# Cost of a stage that has not ended. It exceeds the cost of any preference, so that an iterate of
# a later stage always counts as better.
_FAR = 1e6


def _stages(here: Iterate) -> list[int]:
    return sorted(set(here.preference.tolist()) - {layout.PREFERS_NOTHING})


def _steps_with_null_space(
    run: Run, reach: Callable[[], float], stages: list[int]
) -> Iterator[None]:
    """
    Take steps of `reach` to the goals, and when they are met, steps in their null space.

    These are Delta x = J^+ e + (I - J^+ J) g (x* - x), theory.md, section 9. x* are the joint
    targets with g = 1 in the first stage, and the rest pose with g = `rest_pose_factor` in the
    second one, in which joints with a target stay fixed. A step after which closures and goals
    cannot be met again, or that does not approach x*, is undone, and the next step is half as
    long.
    """
    here = run.here

    def distance() -> float:
        # Half the weighted square of x* - x, plus a large cost for each stage to come.
        step = here.preferred_step
        return len(stages) * _FAR + 0.5 * float(here.pull @ (step * step)) if stages else 0.0

    def chosen(share: float) -> Array:
        stage = stages[0]
        preferred = np.where(
            here.preference == stage, share * here.gain * here.preferred_step, 0.0
        )
        fixed = (here.preference > layout.PREFERS_NOTHING) & (here.preference < stage)

        def choose(part: Rows, free: Mask) -> Array:
            back, wish = _pinv(part.jacobian), preferred[free]
            return np.asarray(back @ (part.shortfall - part.jacobian @ wish) + wish)

        return _shortened(step_within_bounds(here, linear_rows(here), choose, fixed), _LONGEST)

    def corrected() -> bool:
        for _ in range(_CORRECTIONS):
            if here.within_tolerance:
                break
            here.move(chosen(0.0))
        return here.within_tolerance

    if stages:
        here.settle_on(stages[0])
    share, moved = 1.0, inf
    while True:
        run.report(moved, pending=bool(stages), extra=distance())
        yield
        if not here.within_tolerance:
            moved = reach()
            continue
        x, before = here.x.copy(), distance()
        moved = here.move(chosen(share))
        met = corrected()
        gained = before - distance()
        if met and gained > 0.0:
            share = min(2.0 * share, 1.0)
            done = gained < _LEAST_GAIN * (before - len(stages) * _FAR)
        else:
            here.go_to(x)
            share *= 0.5
            done = share < _LEAST_SHARE or moved == 0.0
        if done:
            stages, share = stages[1:], 1.0
            if stages:
                here.settle_on(stages[0])
        # A solve that has a stage to come has not stalled.
        moved = inf if stages else moved


# -- methods that minimise a cost

# Gradient descent: the option `comfort` no longer counts after so many sweeps in a row that each
# lower the cost by less than this share.
_PATIENCE, _GAIN = 30, 1e-3
# SLSQP: a bound beyond this counts as no bound, and singular values below this share of the
# largest, which are rounding errors, do not count for the rank of the closures' rows.
_NO_BOUND, _RANK_CUT = 1e100, 1e-7
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
                run.best_score = NO_SCORE
        run.report(moved, pending=pending, extra=comfort_of(here), near=near())
        if reached or (not pending and options.early_stop and near()):
            # The distance is below `distance_threshold`, even if a tolerance is not met.
            run.end(Status.STALLED, now.ENDED_NEAR)


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
                bounds=np.where(np.abs(bounds) > _NO_BOUND, np.copysign(inf, bounds), bounds),
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

METHOD_TABLE: dict[str, Callable[[Run], Iterator[None]]] = {
    'dls': damped_least_squares,
    'sdls': selectively_damped,
    'pseudo_inverse': pseudo_inverse,
    'jacobian_transpose': jacobian_transpose,
    'ccd': cyclic_coordinate_descent,
    'gradient_descent': gradient_descent,
    'slsqp': slsqp,
}


def run_method(
    problem: Problem, q: Array, joints: Array, options: SolverOptions, stop: Sequence[bool] = ()
) -> list[SolveResult]:
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
        run = Run(chain, q, joints, options, stop, ends)
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
) -> list[SolveResult]:
    """
    Solve as `run_method`, and close the loops that the method left open.

    Most methods treat closures as rows like those of goals. The result of a solve must have closed
    loops, so the compiled solver closes them from the configuration at which the method ended.
    `loops` are the closures alone, and `packed` the options packed for the kernels.
    """
    start = q.copy()
    answers = run_method(problem, q, joints, options, stop=stop)
    if all(
        (answer.errors <= answer.limits)[chain.are_closures].all()
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


# -- single iterations


class Step(NamedTuple):
    """
    An iteration of a chain: its values, in q (nq,) [rad or m], and its result.

    After the `last` iteration there is one more step, which is the answer.
    """

    q: Array
    answer: SolveResult
    last: bool


def steps_of(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    """
    Solve a chain in single iterations, in a workspace of its own; yield the start and each.

    `options.restarts` is ignored.
    """
    chain, q, joints = chain.with_own_workspace(), q.copy(), joints.copy()
    return (_kernel_steps if options.in_kernel else _method_steps)(chain, q, joints, options)


def _kernel_steps(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    packed, ints = options.packed(), chain.work_ints
    packed[option.RESTARTS] = 0.0
    ints[now.PHASE] = now.PHASE_DONE
    status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, 0)
    while True:
        last = status != now.STATUS_RUNNING
        if not last:
            status = Status.TIMEOUT
            q[chain.flat.var_q] = chain.q_of(Workspace(*chain.arrays).x)
        answer, count = chain.answer(joints, packed), ints[now.ITERATIONS] - ints[now.CLOSING]
        answer.record[: layout.RECORD] = status, count, ints[now.STARTS], ints[now.CLOSING], 0
        step = Step(q.copy(), answer.at(chain.linearise(q, joints, packed)[2]), last)
        yield step
        if last:
            yield step
            return
        status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, 1)


def _method_steps(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    # SLSQP does many iterations in one step and cannot be interrupted: each is yielded alone.
    seen = deque[Array]()
    run = Run(chain, q, joints, options, watch=lambda here: seen.append(here.x.copy()))
    here = run.here
    for count in itertools.count():
        if not seen:
            run.step()
        reached, x = here.x.copy(), seen.popleft()
        # To set a ball changes its last digits.
        moves = not np.array_equal(x, reached)
        if moves:
            here.go_to(x)
        last = not seen and run.status is not None
        yield Step(q.copy(), run.answer_of(Status.TIMEOUT, count), last)
        if last:
            answer = run.answer()  # it moves to the best iterate
            yield Step(q.copy(), answer, last)
            return
        if moves:
            here.go_to(reached)


class Stepping:
    """The solve of a problem between two calls of `Solver.step`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._options: SolverOptions | None = None
        self._runs: dict[int, Iterator[Step]] = {}

    def step(self, q: Array, table: JointTable, options: SolverOptions) -> list[SolveResult]:
        """
        Do one iteration of every chain from q [rad or m], and write the new values to q.

        The solve begins again if q, joints, options or constraints differ from those that the
        last call left. Returns an answer for each chain; TIMEOUT if it is not finished.
        """
        inputs = [q, table.rows, *(chain.table for chain in self.problem.chains)]
        if self._options is not options or not all(map(np.array_equal, inputs, self._left)):
            self._runs = {}
        start, answers = q.copy(), []
        for index, chain in enumerate(self.problem.chains):
            run = self._runs.pop(index, None)
            at_start = False
            if run is None:
                run = steps_of(chain, start, table.rows, options)
                at_start = next(run).last
            step = next(run)
            if step.last and not at_start:
                step = next(run)
            if not step.last:
                self._runs[index] = run
            q[chain.flat.var_q] = step.q[chain.flat.var_q]
            answers.append(step.answer)
        table.follow(q)
        self._options, self._left = options, [array.copy() for array in inputs]
        return answers


class TracePoint(NamedTuple):
    """
    The state of a chain after an iteration.

    Iteration 0 is the start. q (nq,) are all joint values [rad or m]; position [m] and orientation
    [rad] the largest residuals of any closure or goal of the chain.
    """

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
    *,
    watched: bool = True,
) -> Trace:
    """
    Solve all enabled closures and goals of a tree from one start, and record every iteration.

    The tree is `Solver.tree`, q0 (nq,) the start [rad or m], and `goals` the poses (position [m],
    quat_xyzw) that replace those of goals. Where `options.in_kernel` is true, the compiled solver
    is used. With `watched=False` no points are recorded, which saves time.

    Raises
    ------
    UnknownFrameError
        If a goal does not exist.
    ShapeError
        If a pose cannot be used.
    OptionError
        As for `run_method`.

    """
    chosen = [request for request in requests_of(tree) if request.takes_part]
    problem = Problem(tree, chosen, length=options.characteristic_length)
    problem.refresh(options)
    for name, pose in (goals or {}).items():
        if name not in problem.place_of_goal:
            raise UnknownFrameError(name, [*problem.place_of_goal], 'goal')
        problem.set_goal(name, pose)
    table, q = JointTable(tree), np.array(q0, dtype=np.float64)
    points, answers, started = list[TracePoint](), list[SolveResult](), perf_counter()
    if watched:
        for number, chain in enumerate(problem.chains):
            *steps, end = steps_of(chain, q, table.rows, options)
            for step in steps:
                worst = step.answer.errors.max(axis=0, initial=0.0).tolist()
                points.append(TracePoint(number, step.answer.iterations, step.q, *worst))
            q[chain.flat.var_q] = end.q[chain.flat.var_q]
            answers.append(end.answer)
    elif options.in_kernel:
        answers = problem.run(q, table.rows, options.packed(), options.time_budget)
    else:
        answers = run_method(problem, q, table.rows, options)
    table.follow(q)
    return Trace(Solution(q, answers, perf_counter() - started, tree.names), tuple(points))
