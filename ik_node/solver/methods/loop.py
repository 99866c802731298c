"""One chain at a configuration, and the loop that all methods share over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.kernels.kinds import KIND_USER
from ik_node.kernels.layout import BLOCK, RECORD
from ik_node.kernels.solve_state import COST, ENDED_INTERRUPTED, ENDED_SPENT, LAST_LEVEL, LEVEL
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.model.rotation import quat_multiply, quat_to_rotation_vector, rotation_vector_to_quat
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.workspace import Configuration, Workspace
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        constraint = flat.rows // BLOCK
        is_rotation = flat.rows >= workspace.angular[constraint]
        cuts = (np.flatnonzero(np.diff(2 * constraint + is_rotation)) + 1).tolist()
        self.blocks = tuple(
            Block(int(constraint[first]), first, last, bool(is_rotation[first]))
            for first, last in pairwise([0, *cuts, flat.rows.size])
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
        counts[LEVEL] = counts[LAST_LEVEL] + preference
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
        return float(self.chain.work_floats[COST])

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


class Method(NamedTuple):
    """
    A method, and True if it steps a ball by its Euler angles, for variables that are independent.

    `steps` is a generator. It reports the start and then each iteration with `Run.report`, and
    yields whenever it can be interrupted.
    """

    steps: Callable[[Run], Iterator[None]]
    by_angles: bool = False


class Run:
    """
    A solve of one chain: it counts iterations, keeps the best iterate and decides the end.

    Takes the workspace of the chain, and the arguments of `run_method`; the solve ends at the time
    `ends` [s] on the clock of `perf_counter`. `watch` is called after each report.
    """

    def __init__(
        self,
        method: Method,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        stop: Sequence[bool] = (),
        ends: float = inf,
        watch: Callable[[Iterate], None] | None = None,
    ) -> None:
        here = Iterate(chain, q, joints, options, euler=method.by_angles)
        self.here, self.options, self._joints = here, options, joints
        self._stop, self._ends, self._watch = stop, ends, watch
        self.status: Status | None = None
        self.iterations, self._reason = -1, ENDED_SPENT
        self._best, self._best_score = here.x.copy(), (3.0, inf)
        self._hopeless = _BEYOND * max(here.cost, 1.0)
        self._steps = method.steps(self)
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
        best = self._best_score
        if score[0] < best[0] or (score[0] == best[0] and score[1] < best[1]):
            self._best_score, self._best = score, here.x.copy()
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
            self.end(Status.TIMEOUT, ENDED_INTERRUPTED)
        elif self.iterations >= self.options.max_iterations:
            self.status = Status.TIMEOUT

    def forget(self) -> None:
        """Forget the best iterate so far."""
        self._best_score = (3.0, inf)

    def end(self, status: Status, reason: int = ENDED_SPENT) -> None:
        """End the solve with a status and its reason, ENDED_*, unless it has ended already."""
        if self.status is None:
            self.status, self._reason = status, reason

    def answer(self) -> ChainAnswer:
        """Go to the best iterate and return its result; CONVERGED depends on its residuals."""
        self.here.go_to(self._best)
        status = Status.STALLED if self.status is None else self.status
        if self.here.within_tolerance:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        return self.answer_of(status, self.iterations, self._reason)

    def answer_of(self, status: Status, iterations: int, reason: int = 0) -> ChainAnswer:
        """Return the result of the present iterate."""
        answer = self.here.chain.answer(self._joints, self.here.packed)
        answer.record[:RECORD] = status, iterations, 1, 0, reason
        return answer
