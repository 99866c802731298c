"""The other methods: what users compare and teach with, on the same model and result."""

from ik_node.solver.methods.run import run_method
from ik_node.solver.methods.trace import Trace, trace, TracePoint

__all__ = ['Trace', 'TracePoint', 'run_method', 'trace']
