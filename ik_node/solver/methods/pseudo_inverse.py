"""The methods of the pseudo-inverse and of the transpose of the Jacobian."""

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
    The method of the step Delta x = alpha J^T e, with e = -r, both weighted by W^(1/2).

    Parameters
    ----------
    here : Iterate
        The chain.

    Notes
    -----
    With the option `alpha` = 0 the step minimises the linear model of the cost,
    alpha = <e, J J^T e> / <J J^T e, J J^T e>. Longer steps overshoot, and steps of more than twice
    the length raise the cost, so that a fixed `alpha` is limited to this value.

    References
    ----------
    Buss (2009), Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and
    damped least squares methods.

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

        progress.record(here.move(step_within_bounds(here, rows.jacobian, choose)))


class PseudoInverse:
    """
    The method of the step Delta x = -J^+ r, J and r weighted by W^(1/2).

    Singular values below the share `CUT` of the largest count as zero. When all goals are met, the
    steps follow in the null space, see `NullSpace`.

    Parameters
    ----------
    here : Iterate
        The chain.

    References
    ----------
    Buss (2009), as for `JacobianTranspose`.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._null_space, self.near = NullSpace(here), False

    @property
    def pending(self) -> bool:
        """Return True while joint targets or the rest pose may be approached further."""
        return self._null_space.pending

    @property
    def extra(self) -> float:
        """Return the cost of joint targets and rest pose."""
        return self._null_space.distance

    def step(self, progress: Progress) -> None:
        """Take one step; in the null space if all goals are met."""
        here = self._here
        if here.within_tolerance:
            moved = self._null_space.step()
        else:
            rows = linear_rows(here)

            def choose(jacobian: Array, _: Held) -> Array:
                return pseudo_inverse(jacobian) @ rows.shortfall

            moved = here.move(step_within_bounds(here, rows.jacobian, choose))
        progress.record(moved, pending=self.pending, extra=self.extra)
