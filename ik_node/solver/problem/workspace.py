"""The packed arrays of a chain, with a view of each field."""

from __future__ import annotations

from typing import Any

from ik_node.kernels import layout
from ik_node.kernels.fields import length_of
from ik_node.kernels.layout import make_workspace
from ik_node.model.flatten import FlatChain


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
