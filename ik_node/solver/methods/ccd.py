"""Cyclic coordinate descent: each joint in turn moves to the minimum of the cost along it."""

from __future__ import annotations

from math import cos, pi, sin
from typing import NamedTuple

from ik_node.errors import OptionError
from ik_node.solver.methods.best_turn import ANGLES, best_turn
from ik_node.solver.methods.goal_view import GoalView
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.progress import Progress
from ik_node.solver.options import METHODS
from ik_node.solver.problem.chain_problem import ChainProblem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A variable whose squared column of the weighted Jacobian is below this does not affect the rows.
_NO_SLOPE = 1e-18
# Most halvings of a step of the linear model that raises the cost.
_HALVINGS = 12


class _Hinge(NamedTuple):
    """A revolute variable with its column and, for each goal, True if it turns frames A and B."""

    variable: int
    column: int
    ends: tuple[tuple[GoalView, bool, bool], ...]


class CyclicCoordinateDescent:
    """
    The minimisation of the cost over single variables in turn, from the last joint to the base.

    For a revolute joint the cost of the goals that it moves is f(x_v) = sum over goals of
    w_p^2 |p_A - p_B|^2 / 2 + w_o^2 (1 - cos theta), a trigonometric polynomial of degree two in
    x_v, whose minimum is exact (Wang and Chen 1991). Prismatic joints, joints with followers, and
    joints that move goals other than poses take the step of the linear model,
    Delta x_v = -J_v^T W r / (J_v^T W J_v), which is halved until the cost does not rise.

    Parameters
    ----------
    here : Iterate
        The chain, with `euler`.

    References
    ----------
    Wang, Chen (1991), A combined optimization method for solving the inverse kinematics problem of
    mechanical manipulators, IEEE Transactions on Robotics and Automation 7(4).

    """

    def __init__(self, here: Iterate) -> None:
        self._here, self._start = here, here.x.copy()
        self.pending, self.extra, self.near = False, 0.0, False
        goals = [GoalView(here, c) for c in range(here.errors.shape[0])]
        self._motions = [_hinge_of(here, v, goals) for v in reversed(range(here.variable_count))]

    def step(self, progress: Progress) -> None:
        """Sweep once over all joints."""
        here = self._here
        most = 0.0
        for variable, hinge in self._motions:
            limit = here.options.ccd_step_limit
            low = max(float(here.lower[variable] - here.x[variable]), -limit)
            high = min(float(here.upper[variable] - here.x[variable]), limit)
            if hinge is None:
                most = max(most, self._move_linearly(variable, low, high))
            else:
                step = np.zeros(here.variable_count)
                turn = best_turn(self._costs(hinge), low, high)
                most = max(most, abs(turn))
                step[variable] = turn + self._full_turns(variable, turn)
                here.move(step)
        progress.record(most)

    def _full_turns(self, variable: int, turn: float) -> float:
        """Return the full turns [rad] after which a turn ends nearest to the start, in bounds."""
        here = self._here
        value = here.x[variable] + turn
        back = -2.0 * pi * round(float(value - self._start[variable]) / (2.0 * pi))
        allowed = here.turns[variable] and here.lower[variable] <= value + back
        return back if allowed and value + back <= here.upper[variable] else 0.0

    def _move_linearly(self, variable: int, low: float, high: float) -> float:
        """Take the optimal step of the linear model, halved until it helps; return its size."""
        here = self._here
        column = here.analytic_jacobian()[:, variable]
        square = float(column @ (here.weight * column))
        if square < _NO_SLOPE:
            return 0.0
        x, before = here.x.copy(), here.cost
        size = -float(column @ (here.weight * here.residual)) / square
        step = np.zeros(here.variable_count)
        step[variable] = min(max(size, low), high)
        for _ in range(_HALVINGS):
            moved = here.move(step)
            if here.cost <= before:
                return moved
            here.go_to(x)
            step *= 0.5
        return 0.0

    def _costs(self, hinge: _Hinge) -> Array:
        """Return the cost of the goals that a hinge moves, at each of `ANGLES`."""
        frame = self._here.column_frame(hinge.column)
        turns = _turns_about(frame[:9].reshape(3, 3)[:, 2])
        slopes = self._here.analytic_jacobian()[:, hinge.variable]
        total = np.zeros(ANGLES.size)
        for goal, a_turns, b_turns in hinge.ends:
            total += goal.costs(turns, frame[9:], a_turns, b_turns, slopes)
        return total


def refuse_closures(chain: ChainProblem) -> None:
    """
    Raise an error if a chain has closures, which a method that moves single joints would open.

    Raises
    ------
    OptionError
        If the chain has closures; the message names them.

    """
    named = zip(chain.names.constraints, chain.names.are_goals, strict=True)
    loops = [name for name, is_goal in named if not is_goal]
    if loops:
        others = ' or '.join(name for name in METHODS if name != 'ccd')
        listed = ', '.join(map(repr, loops[:3])) + (', ...' if len(loops) > 3 else '')
        raise OptionError(
            'method',
            'ccd',
            f'{others}: ccd moves joints one by one, and {listed} would not stay closed',
        )


def _hinge_of(here: Iterate, variable: int, goals: list[GoalView]) -> tuple[int, _Hinge | None]:
    """Return a variable with its hinge, or with None if it takes steps of the linear model."""
    moves = {column for goal in goals for column, _ in goal.entries_of(variable)}
    if here.prismatic[variable] or len(moves) != 1 or not here.is_uncoupled(min(moves)):
        return variable, None
    ends = []
    for goal in goals:
        sides = {side for _, side in goal.entries_of(variable)}
        if sides and not goal.is_pose:
            return variable, None
        if sides:
            ends.append((goal, 1 in sides, -1 in sides))
    return variable, _Hinge(variable, min(moves), tuple(ends))


def _turns_about(axis: Array) -> Array:
    """Return the rotations about a unit vector by each of `ANGLES`, shape (5, 3, 3)."""
    x, y, z = axis.tolist()
    across = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    along = np.outer(axis, axis)
    return np.array(
        [cos(a) * (np.eye(3) - along) + along + sin(a) * across for a in ANGLES.tolist()]
    )
