"""Damped least squares, in plain sight: the reference library's algorithm, step by step."""

from __future__ import annotations

from contextlib import suppress

from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import Held, linear_rows, step_within_bounds
from ik_node.solver.methods.null_space import NullSpace
from ik_node.solver.methods.progress import Progress
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# So that redundant closures keep their pivots.
_LEAST_DAMPING = 1e-12
_MOST_SCALE = 1e10
_LEAST_SCALE = 1e-6


class DampedLeastSquares:
    """
    Steps J^T (J J^T + lambda^2 I)^-1 e, or the same by singular values (Buss 2009).

    With `adaptive_damping` lambda^2 goes with the cost, more of it after a step that did not help
    (Levenberg-Marquardt); without it lambda is `damping_factor`, and every step is kept until the
    cost grows by more than `diverge_threshold`.

    Parameters
    ----------
    here : Iterate

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._null_space, self.near = NullSpace(here), False
        self._scale = here.options.damping_factor

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
        met = self._here.within_tolerance
        moved = self._null_space.step() if met else self._reach(progress)
        progress.look(moved, pending=self.pending, extra=self.extra)

    def _reach(self, progress: Progress) -> float:
        here, options = self._here, self._here.options
        rows, x, before = linear_rows(here), here.x.copy(), here.cost
        damping = options.damping_factor**2
        if options.adaptive_damping:
            damping = self._scale * before
        damping = max(damping, _LEAST_DAMPING)

        def choose(jacobian: Array, _: Held) -> Array:
            return _damped(jacobian, rows.shortfall, damping, by_svd=options.use_svd)

        step = step_within_bounds(here, rows.jacobian, choose)
        moved = here.move(step)
        gain = before - here.cost
        if not options.adaptive_damping:
            if not gain >= -options.diverge_threshold:
                here.place(x)
                progress.end(Status.DIVERGED)
            return moved
        left = rows.shortfall - rows.jacobian @ step
        predicted = 0.5 * float(rows.shortfall @ rows.shortfall - left @ left)
        if not (gain > 0.0 or here.within_tolerance):
            here.place(x)
            self._scale = max(8.0 * self._scale, _LEAST_SCALE)
        elif gain > 0.75 * predicted:
            self._scale = max(0.2 * self._scale, _LEAST_SCALE)
        elif gain < 0.25 * predicted:
            self._scale *= 2.0
        if self._scale > _MOST_SCALE:
            progress.end(Status.STALLED)
        return moved


def _damped(jacobian: Array, shortfall: Array, damping: float, *, by_svd: bool) -> Array:
    if not by_svd:
        system = jacobian @ jacobian.T
        system[np.diag_indices_from(system)] += damping
        # Where rounding hides the damping the system is singular; the other way knows none.
        with suppress(np.linalg.LinAlgError):
            return np.asarray(jacobian.T @ np.linalg.solve(system, shortfall))
    u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(vt.T @ (sigma / (sigma * sigma + damping) * (u.T @ shortfall)))
