"""Pseudo-inverse: the shortest step that the linear model wants, however long that is."""

from __future__ import annotations

from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import (
    Held,
    linear_rows,
    pseudo_inverse,
    step_within_bounds,
)
from ik_node.solver.methods.null_space import NullSpace
from ik_node.solver.methods.progress import Progress
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class JacobianTranspose:
    """
    Steps alpha J^T e.

    Parameters
    ----------
    here : Iterate

    Notes
    -----
    With `alpha` = 0 the step is as long as the linear model likes best, alpha = <e, J J^T e> /
    <J J^T e, J J^T e>. A longer one overshoots, and from twice as long on it makes things worse:
    so a fixed `alpha` is used up to there, and an arm of 15 m takes the one that suits one of 1 m.

    References
    ----------
    Buss (2009), Introduction to Inverse Kinematics with Jacobian Transpose, Pseudoinverse and
    Damped Least Squares methods.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self.pending, self.extra, self.near = False, 0.0, False

    def step(self, progress: Progress) -> None:
        """Take one step."""
        here = self._here
        rows, length = linear_rows(here), here.chain.flat.length
        fixed = here.options.alpha * length * length

        def choose(jacobian: Array, _: Held) -> Array:
            pulled = jacobian.T @ rows.shortfall
            met = jacobian @ pulled
            square = float(met @ met)
            best = float(rows.shortfall @ met) / square if square > 0.0 else 0.0
            return (min(fixed, best) if fixed > 0.0 else best) * pulled

        progress.look(here.move(step_within_bounds(here, rows.jacobian, choose)))


class PseudoInverse:
    """
    Steps J^+ e, singular values below a share of the largest cut off (Buss 2009).

    Parameters
    ----------
    here : Iterate

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._null_space, self.near = NullSpace(here), False

    @property
    def pending(self) -> bool:
        """Say whether joint targets or the rest pose are still to be moved to."""
        return self._null_space.pending

    @property
    def extra(self) -> float:
        """Return how far joint targets and the rest pose are."""
        return self._null_space.distance

    def step(self, progress: Progress) -> None:
        """Step; once all is met, in the null space."""
        here = self._here
        if here.within_tolerance:
            moved = self._null_space.step()
        else:
            rows = linear_rows(here)

            def choose(jacobian: Array, _: Held) -> Array:
                return pseudo_inverse(jacobian) @ rows.shortfall

            moved = here.move(step_within_bounds(here, rows.jacobian, choose))
        progress.look(moved, pending=self.pending, extra=self.extra)
