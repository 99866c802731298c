"""Report on the last solve of an independent chain, for the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ik_node.model.collisions import Distance
from ik_node.solver.result import PoseError, SolveResult


@dataclass(frozen=True)
class ChainReport:
    """
    The outcome of the last solve of a chain: residuals in [m] and [rad], the time in [s].

    `name` has the names of its goals, or of its closures if it has no goal; `nearest` is the
    nearest pair of bodies, if it is near.
    """

    name: str
    status: str
    message: str
    iterations: int
    solve_time: float
    goal_errors: Mapping[str, PoseError]
    closure_errors: Mapping[str, PoseError]
    nearest: Distance | None = None

    @property
    def residual(self) -> float:
        """Return the largest residual [m or rad]."""
        errors = [*self.goal_errors.values(), *self.closure_errors.values()]
        return max((max(error) for error in errors), default=0.0)

    @classmethod
    def of(cls, result: SolveResult) -> ChainReport:
        """Return the report on a result of `Solver`."""
        names = list(result.goal_errors) or list(result.closure_errors)
        return cls(
            name=', '.join(names),
            status=result.status.name,
            message=result.message,
            iterations=result.iterations,
            solve_time=result.solve_time,
            goal_errors=result.goal_errors,
            closure_errors=result.closure_errors,
            nearest=result.nearest,
        )
