"""The entries of the kernels, bound to the arrays of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ik_node.kernels.layout import JOINT_ROWS, SIZES
from ik_node.kernels.options import OPTION_COUNT
from ik_node.native.layout_header import TABLE
from ik_node.native.library import library
import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class BoundKernels:
    """
    The entries of the kernels for the arrays of one chain, as methods: `linearise` and so on.

    One thread at a time may call them. They take contiguous arrays of float64 or int64, as the
    entries do after the model and the workspace; a method raises TypeError for any other, and does
    nothing. `bind` replaces the methods that hot loops call by those of `call.c`, if that is
    compiled. `functions`: the entries; they take arrays. `chain`: packed model and workspace.
    """

    def __init__(
        self, functions: Mapping[str, Callable[..., int]], chain: tuple[Ints, Floats, Ints, Floats]
    ) -> None:
        for index, array in enumerate(chain):
            if array.dtype != (np.float64 if index % 2 else np.int64) or not array.flags.carray:
                raise TypeError(f'array {index}: not contiguous, or of another type')
        self._functions, self._chain = functions, chain
        nq = int(chain[0][SIZES.index('nq')])
        self._shapes = [(nq,), (JOINT_ROWS, nq), (OPTION_COUNT,)]

    def advance(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """
        Solve or go on; see `kernels.solve.advance`.

        `given`: positions, quaternions, goals and steps. Positions and quaternions may also be
        arrays with strides, and for `goals` = 1 a single row; `call.c` also takes tuples and
        lists.
        """
        if [q.shape, joints.shape, options.shape] != self._shapes:
            raise TypeError(f'q, joints and options: not of shapes {self._shapes}')
        positions, quats_xyzw, goals, steps = given
        poses = _rows(positions, goals, 3), _rows(quats_xyzw, goals, 4)
        return self._call('advance', q, joints, options, *poses, goals, steps)

    def advance_batch(self, *given: Any) -> int:
        """Solve problem after problem; see `kernels.batch.advance_batch`."""
        *arrays, first, steps = given
        q, joints, _, positions, *_ = arrays
        counts = len(q), len(joints), positions.shape[1]
        return self._call('advance_batch', *arrays, *counts, first, steps)

    def advance_path(self, *given: Any) -> int:
        """Solve frame after frame of a path; see `kernels.path.advance_path`."""
        *arrays, first, steps = given
        q, _, _, positions, *_ = arrays
        return self._call('advance_path', *arrays, len(q), positions.shape[1], first, steps)

    def velocity(self, *given: Any) -> int:
        """Find joint velocities; see `kernels.velocity.velocity`, with the period dt [s]."""
        *arrays, out, dt = given
        return self._call('velocity', *arrays, np.array([dt], np.float64), out)

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in TABLE:
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name: str, *given: Any) -> int:
        for each in given:
            is_array = isinstance(each, np.ndarray)
            if is_array and not (each.flags.carray and each.dtype in (np.float64, np.int64)):
                raise TypeError(f'{name}: an array is not contiguous, or of another type')
        return self._functions[name](*self._chain, *given)


def bind(
    model_ints: Ints, model_floats: Floats, work_ints: Ints, work_floats: Floats
) -> BoundKernels:
    """
    Return the kernels bound to the packed model and the workspace of a chain.

    The first call of a process loads the library, or builds it if there is none. Raise TypeError
    if an array is not contiguous, or of another type than int64 or float64.
    """
    loaded = library()
    arrays = (model_ints, model_floats, work_ints, work_floats)
    made = BoundKernels(loaded.functions, arrays)
    if loaded.call is not None:
        fast = loaded.call.Bound(*arrays)
        for name in filter(partial(hasattr, fast), TABLE):
            setattr(made, name, getattr(fast, name))
    return made


def _rows(given: ArrayLike, goals: int, width: int) -> Floats:
    """Return rows of numbers as a contiguous array."""
    if isinstance(given, np.ndarray) and given.__class__ is np.ndarray:
        fits = given.shape == (goals, width) or (goals == 1 and given.shape == (width,))
        if fits and given.dtype == np.float64:
            return np.require(given, np.float64, ('C', 'A'))
    raise TypeError('poses: not rows of numbers')
