"""The entries of the kernels, bound to the arrays of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ik_node.kernels.layout import JOINT_ROWS, RECORD, RESULT, SIZES
from ik_node.kernels.options import OPTION_COUNT
from ik_node.kernels.path import CURSOR, PATH_ROWS
from ik_node.native.library import CALLED, library
import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NQ_AT, NC_AT, CHECKS_AT = (SIZES.index(name) for name in ('nq', 'nc', 'checks'))


class BoundKernels:
    """
    The entries of the kernels for the arrays of one chain.

    One thread at a time may call them. Arguments are contiguous arrays of float64, as
    `kernels.solve.advance` describes them; a method raises TypeError for any other, and does
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
        self._nq = int(chain[0][NQ_AT])
        self._record = RECORD + 2 * int(chain[0][NC_AT])

    def advance(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """
        Solve or go on; see `kernels.solve.advance`.

        `given`: positions, quaternions, goals and steps. Positions and quaternions may also be
        arrays with strides, and for `goals` = 1 a single row; `call.c` also takes tuples and
        lists.
        """
        self._check(q, joints, options)
        positions, quats_xyzw, goals, steps = given
        poses = _rows(positions, goals, 3), _rows(quats_xyzw, goals, 4)
        return self._functions['advance'](*self._chain, q, joints, options, *poses, goals, steps)

    def advance_batch(self, *given: Any) -> int:
        """Solve problem after problem; see `kernels.batch.advance_batch`."""
        *arrays, first, steps = given
        q, joints, _, positions, *_ = arrays
        n, starts, goals = len(q), len(joints), positions.shape[1]
        poses = (3, 3 * n * goals), (3, 4 * n * goals)
        sizes = (2, n * self._nq), (3, starts * JOINT_ROWS * self._nq), (1, OPTION_COUNT)
        for array, size in zip(arrays, (*sizes, *poses, (2, n * self._record)), strict=True):
            _check(array, *size)
        counts = n, starts, goals
        return self._functions['advance_batch'](*self._chain, *arrays, *counts, first, steps)

    def advance_path(self, *given: Any) -> int:
        """Solve frame after frame of a path; see `kernels.path.advance_path`."""
        *arrays, first, steps = given
        q, _, _, positions, *_ = arrays
        n, goals = len(q), positions.shape[1]
        sizes = (
            *((2, n * self._nq), (2, JOINT_ROWS * self._nq), (1, OPTION_COUNT)),
            *((3, 3 * n * goals), (3, 4 * n * goals), (2, n * self._record)),
            *((2, PATH_ROWS * self._nq), (1, n), (1, n), (1, CURSOR + 7 * goals)),
        )
        for array, size in zip(arrays, sizes, strict=True):
            _check(array, *size)
        return self._functions['advance_path'](*self._chain, *arrays, n, goals, first, steps)

    def linearise(self, q: Floats, joints: Floats, options: Floats) -> int:
        """Evaluate at q; see `kernels.external_step.linearise`."""
        self._check(q, joints, options)
        return self._functions['linearise'](*self._chain, q, joints, options)

    def external_step(self, q: Floats, joints: Floats, options: Floats) -> int:
        """Take a given step; see `kernels.external_step.external_step`."""
        self._check(q, joints, options)
        return self._functions['external_step'](*self._chain, q, joints, options)

    def transmit(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """Carry positions, velocities and efforts through loops; see `kernels.transmit`."""
        return self._planned('transmit', q, joints, options, *given)

    def find_solutions(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """Search for all solutions; see `kernels.every_solution`."""
        return self._planned('find_solutions', q, joints, options, *given)

    def determinants(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """Write determinants at many configurations; see `kernels.external_step`."""
        return self._planned('determinants', q, joints, options, *given)

    def _planned(self, name: str, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        self._check(q, joints, options)
        plan, data, last = given
        if plan.dtype != np.int64 or not plan.flags.carray or plan.size != plan[0]:
            raise TypeError('plan: not a contiguous array of int64 of its length')
        _check(data, 1, int(plan[1]))
        return self._functions[name](*self._chain, q, joints, options, plan, data, last)

    def velocity(self, q: Floats, joints: Floats, options: Floats, *given: Any) -> int:
        """Find joint velocities; see `kernels.velocity.velocity`, with the period dt [s]."""
        self._check(q, joints, options)
        speeds, twists, out, dt = given
        _check(speeds, 1, self._nq)
        _check(twists, 2, 6 * int(self._chain[0][NC_AT]))
        _check(out, 2, 2 * self._nq)
        arrays = (q, joints, options, speeds, twists, np.array([dt], np.float64), out)
        return self._functions['velocity'](*self._chain, *arrays)

    def distances(self, q: Floats, reach: Floats, out: Floats) -> int:
        """Write the distances of all pairs of bodies; see `kernels.distance.distances`."""
        _check(q, 1, self._nq)
        _check(reach, 1, 2)
        _check(out, 2, RESULT * int(self._chain[0][CHECKS_AT]))
        return self._functions['distances'](*self._chain, q, reach, out)

    def _check(self, q: Floats, joints: Floats, options: Floats) -> None:
        _check(q, 1, self._nq)
        _check(joints, 2, JOINT_ROWS * self._nq)
        _check(options, 1, OPTION_COUNT)


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
        for name in CALLED:
            setattr(made, name, getattr(fast, name))
    return made


def _check(array: Floats, dimensions: int, size: int) -> None:
    plain = array.__class__ is np.ndarray and array.dtype == np.float64
    if not plain or not array.flags.carray or (array.ndim, array.size) != (dimensions, size):
        raise TypeError(f'not a contiguous array of {size} float64, {dimensions}-D')


def _rows(given: ArrayLike, goals: int, width: int) -> Floats:
    """Return rows of numbers as a contiguous array."""
    if isinstance(given, np.ndarray) and given.__class__ is np.ndarray:
        fits = given.shape == (goals, width) or (goals == 1 and given.shape == (width,))
        if fits and given.dtype == np.float64:
            return np.require(given, np.float64, ('C', 'A'))
    raise TypeError('poses: not rows of numbers')
