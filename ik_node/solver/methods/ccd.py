"""Cyclic coordinate descent: each joint in turn moves to the minimum of the cost along it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin

from ik_node.errors import OptionError
from ik_node.kernels.layout import AXES_A, AXES_B, AXES_WORLD, BLOCK, KIND_FRAME
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.loop import Run
from ik_node.solver.options import METHODS
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# A goal that a hinge moves, and True if it turns frame A, frame B.
End = tuple['PoseGoal', bool, bool]

# The angles at which the cost is sampled [rad]: five samples determine the five coefficients.
ANGLES: Array = np.array([0.4 * pi * k for k in range(5)])
# A variable whose squared column of the weighted Jacobian is below this does not affect the rows.
_NO_SLOPE = 1e-18
# Most halvings of a step of the linear model that raises the cost.
_HALVINGS = 12
# Changes below this are rounding errors [characteristic lengths, or of a unit vector]; and costs
# whose variation is below this share of their size are constant up to rounding.
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

    Raises
    ------
    OptionError
        If the chain has closures, which a method that moves single joints would open.

    """
    here, limit = run.here, run.options.ccd_step_limit
    _refuse_closures(here)
    start, goals = here.x.copy(), [PoseGoal(here, c) for c in range(here.errors.shape[0])]
    hinges = [(v, _hinge_of(here, v, goals)) for v in reversed(range(here.variable_count))]
    run.report()
    while True:
        yield
        most = 0.0
        for v, hinge in hinges:
            low = max(float(here.lower[v] - here.x[v]), -limit)
            high = min(float(here.upper[v] - here.x[v]), limit)
            if hinge is None:
                most = max(most, _move_linearly(here, v, low, high))
                continue
            turn = best_turn(_costs(here, v, *hinge), low, high)
            most = max(most, abs(turn))
            # Of equivalent angles the one nearest to the start.
            value = here.x[v] + turn
            back = -2.0 * pi * round(float(value - start[v]) / (2.0 * pi))
            if here.turns[v] and here.lower[v] <= value + back <= here.upper[v]:
                turn += back
            here.move_one(v, turn)
        run.report(most)


def _refuse_closures(here: Iterate) -> None:
    names = here.chain.names
    named = zip(names.constraints, names.are_goals, strict=True)
    loops = [name for name, is_goal in named if not is_goal]
    if loops:
        others = ' or '.join(name for name in METHODS if name != 'ccd')
        listed = ', '.join(map(repr, loops[:3])) + (', ...' if len(loops) > 3 else '')
        allowed = f'{others}: ccd moves joints one by one, and {listed} would not stay closed'
        raise OptionError('method', 'ccd', allowed)


def _hinge_of(here: Iterate, variable: int, goals: list[PoseGoal]) -> tuple[int, list[End]] | None:
    """Return column and ends of a variable; None if it takes steps of the linear model."""
    moves = {column for goal in goals for column, _ in goal.entries.get(variable, ())}
    if here.prismatic[variable] or len(moves) != 1 or not _is_uncoupled(here, min(moves)):
        return None
    ends = []
    for goal in goals:
        sides = {side for _, side in goal.entries.get(variable, ())}
        if sides and not goal.is_pose:
            return None
        if sides:
            ends.append((goal, 1 in sides, -1 in sides))
    return min(moves), ends


def _is_uncoupled(here: Iterate, column: int) -> bool:
    """Return True if the value of a column is its variable, and not a polynomial of it."""
    width = here.workspace.width
    polynomial = here.workspace.coefficients.reshape(-1, width)[column]
    return bool((polynomial == np.eye(width)[1]).all())


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


def _costs(here: Iterate, variable: int, column: int, ends: list[End]) -> Array:
    """Return the cost of the goals that a hinge moves, at each of `ANGLES`."""
    frame = here.workspace.frame[12 * column : 12 * column + 12]
    axis = frame[:9].reshape(3, 3)[:, 2]
    x, y, z = axis.tolist()
    across = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    along = np.outer(axis, axis)
    turns = np.array(
        [cos(a) * (np.eye(3) - along) + along + sin(a) * across for a in ANGLES.tolist()]
    )
    slopes = here.analytic_jacobian()[:, variable]
    total = np.zeros(ANGLES.size)
    for goal, a_turns, b_turns in ends:
        total += goal.costs(turns, frame[9:], a_turns, b_turns, slopes)
    return total


class PoseGoal:
    """
    One goal of a chain, and its cost as a function of one joint's rotation.

    `entries` holds, for each variable, the columns through which it moves frame A (side 1) or B
    (side -1). `costs` is defined for the kind 'frame' only (`is_pose`).
    """

    def __init__(self, here: Iterate, c: int) -> None:
        s = here.workspace
        self._here, self._axes = here, int(s.axes[c])
        self.is_pose = bool(s.kind[c] == KIND_FRAME)
        mask = int(s.mask[c])
        self._moved = [k for k in range(3) if mask & (1 << k)]
        self._turned = [k for k in range(3) if mask & (8 << k)]
        self._row = sum(here.chain.flat.row_counts[:c])
        self._turning = self._row + int(s.turning[c]) - BLOCK * c
        self._a, self._b = s.a_frame[12 * c : 12 * c + 12], s.b_frame[12 * c : 12 * c + 12]
        self.entries: dict[int, list[tuple[int, int]]] = {}
        for e in range(s.entry0[c], s.entry0[c + 1]):
            variable = int(s.slot_var[s.slot0[c] + s.entry_slot[e]])
            of_variable = self.entries.setdefault(variable, [])
            of_variable.append((int(s.entry_column[e]), int(s.entry_side[e])))

    def costs(
        self, turns: Array, centre: Array, a_turns: bool, b_turns: bool, slopes: Array
    ) -> Array:
        """
        Return the goal's cost after each of the rotations `turns` about an axis through `centre`.

        It is half the weighted squared residual, with 1 - cos(theta) in place of theta^2 / 2 for
        an angle theta, so that it is a trigonometric polynomial of degree two. `slopes` is the
        joint's column of the Jacobian.
        """
        total, weight = np.zeros(ANGLES.size), self._here.weight
        r_a, p_a = _turned(self._a, turns, centre, a_turns)
        r_b, p_b = _turned(self._b, turns, centre, b_turns)
        if self._moved:
            apart = p_a - p_b
            axes = {AXES_B: r_b, AXES_A: r_a}.get(self._axes)
            counted = apart if axes is None else np.einsum('kij,ki->kj', axes, apart)
            total += 0.5 * weight[self._row] * (counted[:, self._moved] ** 2).sum(axis=1)
        if len(self._turned) == 3:
            trace = np.einsum('kij,kij->k', r_a, r_b)
            total += 0.5 * weight[self._turning] * (3.0 - trace)
        elif len(self._turned) == 2:
            free = 3 - sum(self._turned)
            if self._axes == AXES_WORLD:
                cosine = np.einsum('kj,kj->k', r_a[:, free], r_b[:, free])
            else:
                cosine = np.einsum('kj,kj->k', r_a[:, :, free], r_b[:, :, free])
            if np.ptp(cosine) < _ROUNDING:
                cosine = cosine[:1]
            total += weight[self._turning] * (1.0 - cosine)
        elif len(self._turned) == 1:
            slope = float(slopes[self._turning])
            if abs(slope) > 1e-9:
                # A cosine with the minimum and the curvature of the linear model.
                wanted = -float(self._here.residual[self._turning]) / slope
                total += weight[self._turning] * slope**2 * (1.0 - np.cos(ANGLES - wanted))
        return total


def _turned(frame: Array, turns: Array, centre: Array, moves: bool) -> tuple[Array, Array]:
    """Return rotation (5, 3, 3) and position (5, 3) of a frame after each of the rotations."""
    rotation, position = frame[:9].reshape(3, 3), frame[9:]
    if not moves:
        return np.broadcast_to(rotation, turns.shape), np.broadcast_to(position, (5, 3))
    arm = position - centre
    moved = turns @ arm
    # A point on the axis moves by rounding errors only, for which the joint must not turn.
    if np.ptp(moved, axis=0).max() < _ROUNDING * (1.0 + np.abs(position).max()):
        moved = np.broadcast_to(arm, (5, 3))
    return turns @ rotation, centre + moved


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
    if abs(first) + abs(second) <= _COST_ROUNDING * float(np.abs(costs).max()):
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
