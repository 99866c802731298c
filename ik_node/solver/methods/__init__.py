"""Further methods for comparison and teaching, on the model of the compiled solver."""

from ik_node.solver.methods.run import run_method
from ik_node.solver.methods.trace import Trace, trace, TracePoint

__all__ = ['Trace', 'TracePoint', 'run_method', 'trace']
