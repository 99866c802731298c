"""The solver: it prepares closures and goals for the kernels and names their results."""

from typing import Any, TYPE_CHECKING

from ik_node.solver.options import SolverOptions
from ik_node.solver.result import PoseError, Solution, SolveResult
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status, STATUS_NAMES
from ik_node.solver.velocity import TwistError, VelocitySolution

if TYPE_CHECKING:
    from ik_node.solver.background import AsyncSolver

__all__ = [
    'STATUS_NAMES',
    'AsyncSolver',
    'PoseError',
    'Solution',
    'SolveResult',
    'Solver',
    'SolverOptions',
    'Status',
    'TwistError',
    'VelocitySolution',
]


def __getattr__(name: str) -> Any:
    """Import `AsyncSolver` on first use; few programs need its threads and queues."""
    if name == 'AsyncSolver':
        from ik_node.solver.background import AsyncSolver

        return AsyncSolver
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
