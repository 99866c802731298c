"""The joint velocities that give goals their twists, and the result of `Solver.velocity`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.display import Rows
from ik_node.errors import listed, OptionError, ShapeError, shown
from ik_node.kernels.layout import LARGEST
from ik_node.kernels.options import COLLISION_MARGIN
from ik_node.kernels.solve_state import STATUS_REFUSED, STATUS_STALLED
from ik_node.kernels.velocity import BOUND_NONE, BOUND_POSITION, BOUND_VELOCITY
from ik_node.model.given import elements, numbers
from ik_node.model.request import Request
from ik_node.solver.pose import refuse_q, seconds
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.problem import Avoidance, Problem
from ik_node.solver.result import ByJoint, ChainNames, STATUSES
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Any of the forms of `unit_twist`, for which there is no common type.
Twist = Any

# Attempts to find velocities that bring no bodies too near.
ATTEMPTS = 3


class TwistError(NamedTuple):
    """
    The norms of the difference between a goal's velocity and its twist, on its constrained axes.

    Attributes
    ----------
    linear : float
        Norm over its position rows [m/s].
    angular : float
        Norm over its orientation rows [rad/s].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> found = ik.Solver(robot).velocity({'tool_link': ((0.1, 0, 0), (0, 0, 0))})
    >>> found.goal_errors['tool_link'].linear < 1e-6
    True

    """

    linear: float
    angular: float


class VelocitySolution(ByJoint):
    """
    The result of `Solver.velocity`; `solution['shoulder']` is the velocity of that joint value.

    Attributes
    ----------
    velocity : ndarray, shape (nq,)
        Time derivatives of all joint values [rad/s or m/s], in the order of `Solver.joint_names`.
    solve_time : float
        Time of the computation [s].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> found = ik.Solver(robot).velocity({'tool_link': ((0.1, 0, 0), (0, 0, 0))})
    >>> q_next = robot.q + 0.01 * found.velocity  # after 10 ms
    >>> round(found['j2'], 3)
    0.214
    >>> found.converged, found.success, found.status.name, list(found.as_dict())[:2]
    (True, True, 'CONVERGED', ['j1', 'j2'])
    >>> found.message
    'CONVERGED: every goal has its twist'
    >>> found.active_limits, list(found.goal_errors)
    ((), ['tool_link'])

    """

    __slots__ = ('_answers', '_bounds', 'solve_time', 'velocity')

    def __init__(
        self,
        rates: Array,
        answers: Sequence[tuple[ChainNames, int, Array]],
        solve_time: float,
        names: Sequence[str],
    ) -> None:
        self.velocity: Array = rates[0]
        self.solve_time = solve_time
        self._bounds: Array = rates[1]
        self._answers = answers
        self._names = names

    def _headline(self) -> str:
        return f'VelocitySolution: {self.message}'

    def _rows(self) -> Rows:
        marks = {BOUND_NONE: '', BOUND_VELOCITY: 'at its speed', BOUND_POSITION: 'at its limit'}
        named = zip(self.as_dict().items(), self._bounds.tolist(), strict=True)
        return [
            ('joint', 'velocity [rad/s or m/s]', ''),
            *((name, f'{value:.6g}', marks[bound]) for (name, value), bound in named),
        ]

    def _values(self) -> Array:
        return self.velocity

    @property
    def status(self) -> Status:
        """Return CONVERGED if all goals have their twists, see `Solver.velocity`, else STALLED."""
        return max((STATUSES[status] for _, status, _ in self._answers), default=Status.CONVERGED)

    @property
    def goal_errors(self) -> dict[str, TwistError]:
        """Return the difference between velocity and twist of every goal."""
        return {
            name: TwistError._make(errors.reshape(-1, 2)[index].tolist())
            for names, _, errors in self._answers
            for index, name in names.goals
        }

    @property
    def active_limits(self) -> tuple[str, ...]:
        """Return the joint values that are as fast as velocity or position limits allow."""
        return (*self._at(BOUND_VELOCITY), *self._at(BOUND_POSITION))

    def _at(self, bound: int) -> list[str]:
        return [self._names[at] for at in np.flatnonzero(self._bounds == bound).tolist()]

    @property
    def message(self) -> str:
        """Return a sentence that gives the status and its reason."""
        if self.converged:
            return 'CONVERGED: every goal has its twist'
        stalled = {name for names, status, _ in self._answers if status for _, name in names.goals}
        off = {name: error for name, error in self.goal_errors.items() if name in stalled}
        name, worst = max(off.items(), key=lambda item: max(item[1]))
        text = f'STALLED: goal {name!r} is {worst.linear:.3g} m/s, '
        text += f'{worst.angular:.3g} rad/s off'
        for what, names in (
            ('velocity', self._at(BOUND_VELOCITY)),
            ('position', self._at(BOUND_POSITION)),
        ):
            text += f'; at {what} limits: {listed(names)}' if names else ''
        if not self.active_limits:
            text += '; the joints cannot produce this twist here, or other goals prevent it'
        return text


def solve_velocity(
    problem: Problem,
    goals: Mapping[str, Twist],
    q: Array,
    joints: Array,
    packed: Array,
    dt: float | None,
) -> VelocitySolution:
    """
    Find the joint velocities for the twists of goals, theory.md, section 12.

    Values of q beyond a limit are moved to it. See `Solver.velocity`.
    """
    started = perf_counter()
    period = 0.0 if dt is None else seconds('dt', dt)
    for name, twist in goals.items():
        chain, index = problem.place_of_goal[name]
        request = chain.requests[index]
        if request.traits.use == 'user':
            allowed = 'goals with a frame that has a twist; solve_pose takes this one'
            raise OptionError('goals', name, allowed)
        chain.twists[index] = unit_twist(name, twist, request)
        if request.axes == 'goal' or not request.traits.axes:
            # A pose of an earlier `solve_pose` may stand in the table.
            chain.set_pose(index, np.concatenate(request.pose))
    speeds = problem.tree.max_velocity
    rates: Array = np.zeros((2, len(q)))
    if not problem.chains:
        refuse_q(problem.tree.names, q)
    answers = []
    for chain in problem.chains:
        status = chain.kernels.velocity(q, joints, packed, speeds, chain.twists, rates, period)
        if status == STATUS_REFUSED:
            _refuse(chain, q, speeds)
        answers.append((chain.names, status, chain.errors.copy()))
    if problem.avoidance is not None and period > 0.0:
        _slide(problem, problem.avoidance, q, joints, packed, period, rates, answers)
    return VelocitySolution(rates, answers, perf_counter() - started, problem.tree.names)


def _slide(
    problem: Problem,
    avoidance: Avoidance,
    q: Array,
    joints: Array,
    packed: Array,
    period: float,
    rates: Array,
    answers: list[tuple[ChainNames, int, Array]],
) -> None:
    """
    Find velocities anew that lead to contact within a period [s], with pairs as inequalities.

    The rows are linear, so the margin is larger in the next attempt by what a body came too near.
    What is left after the last attempt scales all velocities.
    """
    if avoidance.free_share(q, q + period * rates[0]) == 1.0:
        return
    (chain,) = avoidance.whole.chains
    for rows, own in zip(avoidance.rows, problem.chains, strict=True):
        chain.table[rows], chain.twists[rows] = own.table, own.twists
    packed, near = packed.copy(), avoidance.nearest(q)
    least = near.d if near is not None and avoidance.is_contact(near) else avoidance.margin
    for _ in range(ATTEMPTS):
        rates[:] = 0.0
        status = chain.kernels.velocity(
            q, joints, packed, problem.tree.max_velocity, chain.twists, rates, period
        )
        near = avoidance.nearest(q + period * rates[0])
        if near is None or near.d >= least:
            break
        packed[COLLISION_MARGIN] += least - near.d
    share = avoidance.free_share(q, q + period * rates[0])
    rates[0] *= share
    status = status if share == 1.0 else STATUS_STALLED
    errors = share * chain.errors.reshape(-1, 2)
    errors += (1.0 - share) * np.linalg.norm(chain.twists.reshape(-1, 2, 3), axis=2)
    for index, (names, _, _) in enumerate(answers):
        answers[index] = names, status, errors[avoidance.rows[index]].ravel()


def _refuse(chain: ChainProblem, q: Array, speeds: Array) -> None:
    """Raise the error for the argument that the kernel refused."""
    names = chain.tree.names
    bad = [f'{speeds[at]} for {names[at]}' for at in np.flatnonzero(~(speeds >= 0.0)).tolist()]
    if bad:
        raise ShapeError('max_velocity of the joints', 'speeds of 0 or more', listed(bad))
    chain.refuse(q, TABLE_POSES)


def unit_twist(
    name: str, twist: Twist, request: Request
) -> tuple[float, float, float, float, float, float]:
    """
    Return the six numbers of a twist.

    `twist`: linear (3,) [m/s] and angular (3,) [rad/s] velocity; both as one array (6,); or the
    linear velocity alone if the goal has no orientation rows. Raises ShapeError if the twist has
    none of the forms, or a number is not finite or too large.
    """
    try:
        linear, angular = elements(twist)
        x, y, z = elements(linear)
        a, b, c = elements(angular)
        # Chained comparisons, which NaN fails too, are faster than abs, max and isfinite.
        near = -LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST and -LARGEST <= z <= LARGEST
        near = near and -LARGEST <= a <= LARGEST
        if near and -LARGEST <= b <= LARGEST and -LARGEST <= c <= LARGEST:
            return x, y, z, a, b, c
    except (TypeError, ValueError, OverflowError):
        pass
    what = f'twist of {name!r}'
    array = numbers(what, twist)
    turns = request.row_count > request.translation_row_count
    if array.shape == (3,) and not turns:
        array = np.concatenate((array, np.zeros(3)))
    if array.shape not in ((2, 3), (6,)):
        target = 'linear (3,) and angular (3,) velocity'
        raise ShapeError(what, target if turns else f'{target}, or (3,)', f'shape {array.shape}')
    if not (np.abs(array) <= LARGEST).all():
        raise ShapeError(what, f'finite numbers within {LARGEST:g}', shown(array.tolist()))
    x, y, z, a, b, c = array.ravel().tolist()
    return x, y, z, a, b, c
