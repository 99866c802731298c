# flake8: noqa: E203
"""The two frames of a goal, and its cost as a function of one joint's rotation."""

from __future__ import annotations

from ik_node.kernels.layout import AXES_A, AXES_B, AXES_WORLD, begin_of, BLOCK, KIND_FRAME
from ik_node.solver.methods.best_turn import ANGLES
from ik_node.solver.methods.iterate import Iterate
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Changes below this are rounding errors [characteristic lengths, or of a unit vector].
_ROUNDING = 1e-13


class GoalView:
    """
    One goal of a chain.

    Parameters
    ----------
    here : Iterate
        The chain.
    constraint : int
        Index of the goal among the chain's constraints.

    Attributes
    ----------
    is_pose : bool
        True for kind 'frame'; `costs` is defined only then.

    """

    def __init__(self, here: Iterate, constraint: int) -> None:
        self._here = here
        ints, c = here.chain.flat.ints, constraint

        def number(name: str, at: int) -> int:
            return int(ints[begin_of(ints, name) + at])

        self.is_pose = number('kind', c) == KIND_FRAME
        self._axes = number('axes', c)
        mask = number('mask', c)
        self._moved = [k for k in range(3) if mask & (1 << k)]
        self._turned = [k for k in range(3) if mask & (8 << k)]
        self._row = sum(here.chain.flat.row_counts[:c])
        self._turning = self._row + number('turning', c) - BLOCK * c
        w = here.chain.work_floats
        a, b = begin_of(ints, 'a_frame') + 12 * c, begin_of(ints, 'b_frame') + 12 * c
        self._a, self._b = w[a : a + 12], w[b : b + 12]
        first, last = number('entry0', c), number('entry0', c + 1)
        self._entries: dict[int, list[tuple[int, int]]] = {}
        for e in range(first, last):
            variable = number('slot_var', number('slot0', c) + number('entry_slot', e))
            of_variable = self._entries.setdefault(variable, [])
            of_variable.append((number('entry_column', e), number('entry_side', e)))

    def entries_of(self, variable: int) -> list[tuple[int, int]]:
        """Return the columns through which a variable moves A (side 1) or B (side -1)."""
        return self._entries.get(variable, [])

    def costs(
        self, turns: Array, centre: Array, a_turns: bool, b_turns: bool, slopes: Array
    ) -> Array:
        """
        Return the goal's cost for five rotations of a joint.

        Parameters
        ----------
        turns : ndarray, shape (5, 3, 3)
            Rotations about the joint's axis by each of `ANGLES`, root frame.
        centre : ndarray, shape (3,)
            A point on the axis [L], root frame.
        a_turns, b_turns : bool
            True if the joint rotates frame A, frame B.
        slopes : ndarray, shape (nr,)
            The joint's column of the Jacobian.

        Returns
        -------
        ndarray, shape (5,)
            Half the weighted squared residual, with 1 - cos(theta) in place of theta^2 / 2 for
            an angle theta, so that it is a trigonometric polynomial of degree two.

        """
        total = np.zeros(ANGLES.size)
        r_a, p_a = _turned(self._a, turns, centre, a_turns)
        r_b, p_b = _turned(self._b, turns, centre, b_turns)
        weight = self._here.weight
        if self._moved:
            apart = p_a - p_b
            axes = {AXES_B: r_b, AXES_A: r_a}.get(self._axes)
            counted = apart if axes is None else np.einsum('kij,ki->kj', axes, apart)
            total += 0.5 * weight[self._row] * (counted[:, self._moved] ** 2).sum(axis=1)
        if len(self._turned) == 3:
            trace = np.einsum('kij,kij->k', r_a, r_b)
            total += 0.5 * weight[self._turning] * (3.0 - trace)
        elif len(self._turned) == 2:
            free = 3 - sum(self._turned)
            if self._axes == AXES_WORLD:
                cosine = np.einsum('kj,kj->k', r_a[:, free], r_b[:, free])
            else:
                cosine = np.einsum('kj,kj->k', r_a[:, :, free], r_b[:, :, free])
            if np.ptp(cosine) < _ROUNDING:
                cosine = cosine[:1]
            total += weight[self._turning] * (1.0 - cosine)
        elif len(self._turned) == 1:
            slope = float(slopes[self._turning])
            angle = float(self._here.residual[self._turning])
            if abs(slope) > 1e-9:
                # A cosine with the minimum and the curvature of the linear model.
                wanted = -angle / slope
                total += weight[self._turning] * slope**2 * (1.0 - np.cos(ANGLES - wanted))
        return total


def _turned(frame: Array, turns: Array, centre: Array, moves: bool) -> tuple[Array, Array]:
    """Return rotation (5, 3, 3) and position (5, 3) of a frame after each of the rotations."""
    rotation, position = frame[:9].reshape(3, 3), frame[9:]
    if not moves:
        return np.broadcast_to(rotation, turns.shape), np.broadcast_to(position, (5, 3))
    arm = position - centre
    moved = turns @ arm
    # A point on the axis moves by rounding errors only, for which the joint must not turn.
    if np.ptp(moved, axis=0).max() < _ROUNDING * (1.0 + np.abs(position).max()):
        moved = np.broadcast_to(arm, (5, 3))
    return turns @ rotation, centre + moved
