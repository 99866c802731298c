"""The packed arrays of a chain, with a view of each field."""

from __future__ import annotations

from typing import Any

from ik_node.kernels.fields import length_of
from ik_node.kernels.layout import FIELDS, FIXED, make_workspace, SIZES
from ik_node.model.flatten import FlatChain
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Workspace:
    """
    The packed model and the workspace of a chain; `workspace.x` is what kernels call s.x.

    `model_ints`, `model_floats`, `work_ints`, `work_floats`: the arrays, see
    `kernels.layout.Solve` for the sizes and fields.

    Attributes: `arrays`: as given, the arguments of a kernel.
    """

    def __init__(
        self, model_ints: Ints, model_floats: Floats, work_ints: Ints, work_floats: Floats
    ) -> None:
        self.arrays = (model_ints, model_floats, work_ints, work_floats)
        names = (*SIZES, *FIELDS)
        self._words = {**dict(zip(names, model_ints[: len(names)].tolist(), strict=True)), **FIXED}

    @classmethod
    def of(cls, flat: FlatChain) -> Workspace:
        """Return a new workspace for a packed chain."""
        return cls(flat.ints, flat.floats, *make_workspace(flat.ints))

    def __getattr__(self, name: str) -> Any:
        if name in SIZES:
            return self._words[name]
        if name not in FIELDS:
            raise AttributeError(name)
        array, length, _ = FIELDS[name]
        begin = self._words[name]
        return self.arrays['ifkw'.index(array)][begin : begin + length_of(length, self._words)]
