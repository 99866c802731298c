"""
The kernels as a shared library: how they are compiled, found and called.

See docs/decisions/0019. `bind` is all that the solver needs.
"""

from ik_node.native.bound import bind, BoundKernels
from ik_node.native.library import is_compiled

__all__ = ['BoundKernels', 'bind', 'is_compiled']
