"""The closing of all loops of a robot, with the reasons why a loop stays open."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10
from types import MappingProxyType
from typing import Any

from ik_node.model.request import closure_requests
from ik_node.model.rotation import nearest_turn
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import explained, gap_text, PoseError, Solution
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NONE: Mapping[str, float] = MappingProxyType({})
# Largest gap that careless numbers in a description usually cause [m], [rad].
LARGEST_ROUNDING = 1e-3
# Largest gap of a closed loop: the default tolerance of a closure [m], [rad].
CLOSED = 1e-6
# A value beyond a limit by less than this counts as within it, as a rounding error [m], [rad].
OUTSIDE = 1e-6


class Assembly(Solution):
    """
    The result of closing all loops of a robot.

    Attributes
    ----------
    closes_without_limits : bool or None
        True if the loops that stay open would close without joint limits; None = all loops close.
    against_limits : mapping of str to float
        Joint values beyond their limits with which these loops would close [rad or m]; empty if
        they would not close.
    least_errors : mapping of str to PoseError
        Residuals of the closures without joint limits; empty if all loops close.

    """

    def __init__(
        self, solution: Solution, free: Solution | None = None, against: Mapping[str, float] = NONE
    ) -> None:
        super().__init__(solution.q, solution._answers, solution.solve_time, solution._names)
        self._free, self.against_limits = free, against
        self.closes_without_limits = None if free is None else free.converged
        self.least_errors = {} if free is None else free.closure_errors

    def __reduce__(self) -> tuple[Any, ...]:
        return Assembly, (Solution(*super().__reduce__()[1]), self._free, self.against_limits)

    @property
    def open_loops(self) -> dict[str, PoseError]:
        """Return the residuals of the loops that are open, largest relative to tolerance first."""
        each = [
            (chain._times_tolerance(name, error), name, error)
            for chain in self.chains
            for name, error in chain.open_closures.items()
        ]
        return {name: error for _, name, error in sorted(each, key=lambda one: -one[0])}

    @property
    def hint(self) -> str:
        """Return advice about loops that stay open; '' if all close."""
        loops = self.open_loops
        if not loops:
            return ''
        if self.closes_without_limits:
            where = ', '.join(
                f'{name} = {value:.4g}' for name, value in self.against_limits.items()
            )
            return f'joint limits prevent closing: without limits it would close, with {where}'
        if max(max(error) for error in loops.values()) <= LARGEST_ROUNDING + CLOSED:
            target = _tolerance(max(max(error) for error in loops.values()))
            return (
                'joint limits are not the reason: the gap is small, but larger than the digits of '
                f'the description explain; `tolerance: {target}` of a closure accepts it'
            )
        least = max(self.least_errors.values(), key=max, default=None)
        text = 'it would not close without joint limits either'
        if least is not None:
            text += f' ({least.position:.3g} m, {least.orientation:.3g} rad at best)'
        return text + ': check the description for a wrong length, sign or axis'

    @property
    def message(self) -> str:
        """Return a sentence that names every loop that stays open, with advice."""
        text, loops = super().message, self.open_loops
        # The message of a solution is that of one chain.
        text += explained({k: v for k, v in self.rounding_gaps.items() if repr(k) not in text})
        rest = [gap_text(name, error) for name, error in loops.items() if name != self.worst]
        if rest:
            text += f'; also open: {", ".join(rest)}'
        allowed = [
            gap_text(name, error)
            for name, error in self.closure_errors.items()
            if max(error) > CLOSED and name not in loops and name not in self.rounding_gaps
        ]
        if allowed:
            text += f'; open, but within tolerance: {", ".join(allowed)}'
        return f'{text}; {self.hint}' if self.hint else text


def close_loops(solver: Solver) -> Assembly:
    """
    Close all loops of a graph from the present values, and write the result to the joints.

    Returns the status and the residuals. If loops stay open, it also tells whether they would
    close without joint limits.
    """
    solution = solver.solve_pose({})
    free: Solution | None = None
    against: dict[str, float] = {}
    if solution.status is not Status.CONVERGED:
        free, values = _without_limits(solver, solution.q)
        if free.status is Status.CONVERGED:
            against = values
        if free.status is Status.CONVERGED and not values:
            # The values found without limits happen to be within the limits.
            again = solver.solve_pose({}, q0=free.q)
            if again.status is Status.CONVERGED:
                solution, free = again, None
    solver.q = solution.q
    return Assembly(solution, free, against)


def _without_limits(solver: Solver, q: Array) -> tuple[Solution, dict[str, float]]:
    """Close the loops without joint limits; return the solution and its values outside them."""
    tree = solver.tree
    problem = Problem(tree, closure_requests(tree))
    problem.refresh(solver.options)
    table = JointTable(tree)
    rows = table.without_preferences(table.without_limits(table.rows))
    free = q.copy()
    answers = problem.run(free, rows, SolverOptions(restarts=20).packed(), 0.0)
    table.follow(free)
    against = {}
    for index, (joint, dof) in enumerate(tree.owner):
        lower, upper = float(joint.min_dof_limit[dof]), float(joint.max_dof_limit[dof])
        if dof.is_rotation:
            free[index] = nearest_turn(free[index], min(max(q[index], lower), upper), lower, upper)
        if not lower - OUTSIDE <= free[index] <= upper + OUTSIDE:
            against[tree.names[index]] = float(free[index])
    return Solution(free, answers, 0.0, tree.names), against


def _tolerance(gap: float) -> str:
    """Return a round number slightly above a gap, as text."""
    unit = 10.0 ** floor(log10(1.2 * gap))
    return f'{ceil(1.2 * gap / unit) * unit:.0e}'
