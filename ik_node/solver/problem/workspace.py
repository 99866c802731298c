"""The packed arrays of a chain with a view of each field, and the kernels bound to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_void_p, cast
from typing import Any

from ik_node.kernels import layout
from ik_node.kernels.fields import length_of
from ik_node.kernels.layout import make_workspace
from ik_node.kernels.user_rows import FUNCTION, RESIDUAL
from ik_node.model.flatten import FlatChain
from ik_node.model.request import Request
from ik_node.model.user_goal import TARGET, UserGoal
from ik_node.native import bind, BoundKernels
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Array = NDArray[np.float64]


class Workspace:
    """
    The packed model and the workspace of a chain; `workspace.x` is what kernels call s.x.

    `arrays`: model and workspace, two of integers and two of floats, in the order of a kernel's
    arguments; see `kernels.layout.Solve` for the sizes and fields. With another `table`, such as
    `kernels.transmit`, its two arrays.
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

    @classmethod
    def new(cls, table: Any, **sizes: int) -> Workspace:
        """Return zeros for the two arrays of a table, with sizes and places at their head."""
        names = (*table.SIZES, *table.FIELDS)
        begins, totals = layout.lay_out({**sizes, **table.FIXED}, table.FIELDS, len(names))
        words = {**sizes, **begins, **{f'{array}_size': size for array, size in totals.items()}}
        ints, floats = np.zeros(totals['p'], dtype=np.int64), np.zeros(totals['d'])
        ints[: len(names)] = [words[name] for name in names]
        return cls(ints, floats, table=table)

    def __getattr__(self, name: str) -> Any:
        if name[0] == '_' or name not in self._words:
            raise AttributeError(name)
        begin = self._words[name]
        if name not in self._table.FIELDS:
            return begin
        array, length, _ = self._table.FIELDS[name]
        stored = self.arrays[self._table.PACKED.index(array)]
        return stored[begin : begin + length_of(length, self._words)]


# -- the functions of goals of users, as the kernels of a chain call them


def bind_chain(
    flat: FlatChain, requests: Sequence[Request], ints: Ints, floats: Array
) -> BoundKernels:
    """Return the kernels for a packed chain and a workspace, with the goals of users in them."""
    arrays = (flat.ints, flat.floats, ints, floats)
    own = {c: r.source for c, r in enumerate(requests) if isinstance(r.source, UserGoal)}
    kernels = bind(*arrays)
    bound: Any = _KernelsWithUserGoals(kernels, Workspace(*arrays), own) if own else kernels
    made: BoundKernels = bound
    return made


class _KernelsWithUserGoals:
    """The kernels of a chain; an error in a method of a goal ends a call with that error."""

    def __init__(
        self, kernels: BoundKernels, workspace: Workspace, goals: dict[int, UserGoal]
    ) -> None:
        self._kernels, self._goals = kernels, goals
        self._error: BaseException | None = None
        s = workspace
        self._length, self._seen0 = float(s.length[0]), s.seen0.tolist()
        self._rows, self._vectors = s.trial.reshape(-1, 6), s.seen_vector.reshape(-1, 6, 6)
        self._frames, self._b_frames = s.seen_frame.reshape(-1, 12), s.b_frame.reshape(-1, 12)
        self._names = {c: (*(link.name for link in g.seen), TARGET) for c, g in goals.items()}
        self._scales = {c: self._scale_of(goal) for c, goal in goals.items()}
        self._function = FUNCTION(self._call)
        s.function[0] = cast(self._function, c_void_p).value

    def _scale_of(self, goal: UserGoal) -> tuple[Array, Array]:
        """Return the factors from [m] and [rad] to the kernels' units, of rows and derivatives."""
        scale = np.array([1.0 / self._length if unit == 'm' else 1.0 for unit in goal.row_units])
        return scale, scale[:, None] * np.repeat((self._length, 1.0), 3)

    def _seen(self, c: int, first: int, last: int) -> dict[str, Array]:
        """Return the poses that goal c sees, and its own, by name."""
        frames = np.zeros((last - first + 1, 4, 4))
        frames[:-1, :3, :3] = self._frames[first:last, :9].reshape(-1, 3, 3)
        frames[:-1, :3, 3] = self._frames[first:last, 9:]
        frames[-1, :3, :3] = self._b_frames[c, :9].reshape(3, 3)
        frames[-1, :3, 3] = self._b_frames[c, 9:]
        frames[:, :3, 3] *= self._length
        frames[:, 3, 3] = 1.0
        frames.flags.writeable = False
        return dict(zip(self._names[c], frames, strict=True))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = getattr(self._kernels, name)

        def call(*arguments: Any) -> Any:
            """Call the kernel, then raise the error of a goal if there was one."""
            result = kernel(*arguments)
            error, self._error = self._error, None
            if error is not None:
                raise error
            return result

        return call

    def _call(self, c: int, what: int, *_: object) -> int:
        """Write rows or derivatives of constraint c; return 1 after an error, which is kept."""
        if self._error is not None:
            return 1
        try:
            goal, first, last = self._goals[c], self._seen0[c], self._seen0[c + 1]
            seen, (of_rows, of_derivatives) = self._seen(c, first, last), self._scales[c]
            count = len(of_rows)
            if what == RESIDUAL:
                self._rows[c, :count] = goal.rows_at(seen) * of_rows
            else:
                self._vectors[first:last, :count] = goal.derivatives_at(seen) * of_derivatives
        except BaseException as error:  # noqa: BLE001, C code stands between here and the caller
            self._error = error
            return 1
        return 0
