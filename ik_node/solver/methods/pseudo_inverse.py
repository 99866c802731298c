"""Pseudo-inverse: the shortest step that the linear model wants, however long that is."""

from __future__ import annotations

from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import Held, linear_rows, step_within_bounds
from ik_node.solver.methods.null_space import NullSpace
from ik_node.solver.methods.progress import Progress
from ik_node.solver.methods.singular_values import pseudo_inverse
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
