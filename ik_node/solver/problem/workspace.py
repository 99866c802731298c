"""The packed arrays of a chain, with a view of each field, and a configuration in them."""

from __future__ import annotations

from typing import Any

from ik_node.kernels import layout
from ik_node.kernels.fields import length_of
from ik_node.kernels.layout import make_workspace
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.model.flatten import FlatChain
from ik_node.native import BoundKernels
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Workspace:
    """
    The packed model and the workspace of a chain; `workspace.x` is what kernels call s.x.

    `arrays`: model and workspace, two of integers and two of floats, in the order of a kernel's
    arguments; see `kernels.layout.Solve` for the sizes and fields. With the `table`
    `kernels.transmit`, the two arrays of a `Transmit`.
    """

    def __init__(self, *arrays: Any, table: Any = layout) -> None:
        self.arrays, self._table = arrays, table
        names = (*table.SIZES, *table.FIELDS)
        head = arrays[0][: len(names)].tolist()
        self._words = {**dict(zip(names, head, strict=True)), **table.FIXED}

    @classmethod
    def of(cls, flat: FlatChain) -> Workspace:
        """Return a new workspace for a packed chain."""
        return cls(flat.ints, flat.floats, *make_workspace(flat.ints))

    def __getattr__(self, name: str) -> Any:
        if name[0] == '_' or name not in self._words:
            raise AttributeError(name)
        begin = self._words[name]
        if name not in self._table.FIELDS:
            return begin
        array, length, _ = self._table.FIELDS[name]
        stored = self.arrays[self._table.PACKED.index(array)]
        return stored[begin : begin + length_of(length, self._words)]


class Configuration:
    """
    A chain at a configuration that steps move, in a workspace.

    `x` (nv,) are the variables [rad or L], `errors` (nc, 2) the residual norms of every constraint
    [m], [rad]. `usable` is False if the kernels refuse the start q (nq,) [rad or m].
    """

    def __init__(
        self, flat: FlatChain, workspace: Workspace, kernels: BoundKernels, *arguments: Array
    ) -> None:
        q, joints, packed = arguments
        self.q, self.packed = q, packed.copy()
        # Without restarts the kernel does not wrap angles around from one bound to the other.
        self.packed[RESTARTS] = 0.0
        self.flat, self.workspace, self._kernels = flat, workspace, kernels
        self._arguments = (q, joints, self.packed)
        self.x, self._step = workspace.x, workspace.step
        self.errors: Array = workspace.error.reshape(-1, 2)
        self.usable = kernels.linearise(*self._arguments) != STATUS_REFUSED

    @property
    def residual(self) -> Array:
        """Return the residual r, shape (nr,) [L or rad]."""
        return np.asarray(self.workspace.residual[self.flat.rows])

    def analytic_jacobian(self) -> Array:
        """Return the Jacobian dr/dx computed by the kernel, shape (nr, nv)."""
        return self.flat.dense(self.workspace.jac)

    def step_by(self, step: Array | float) -> None:
        """Take a step, shape (nv,) [rad or L], clamped to the bounds."""
        self._step[:] = step
        self._kernels.external_step(*self._arguments)

    def go_to(self, x: Array) -> None:
        """Set the variables, shape (nv,) [rad or L], clamped to the bounds."""
        self.x[:] = x
        self.step_by(0.0)
