"""The solver: it prepares closures and goals for the kernels and names their results."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.result import PoseError, Solution, SolveResult
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status, STATUS_NAMES
from ik_node.solver.velocity import TwistError, VelocitySolution

__all__ = [
    'STATUS_NAMES',
    'PoseError',
    'Solution',
    'SolveResult',
    'Solver',
    'SolverOptions',
    'Status',
    'TwistError',
    'VelocitySolution',
]
