"""Damped least squares in NumPy, as in the JavaScript library closed-chain-ik."""

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

# Least lambda^2: redundant closures make J J^T singular without it.
_LEAST_DAMPING = 1e-12
# Bounds of mu. Above the first one the steps are so short that the solve has stalled; below the
# second one less damping makes no difference.
_MOST_SCALE = 1e10
_LEAST_SCALE = 1e-6


class DampedLeastSquares:
    """
    The method of the step Delta x = -J^T (J J^T + lambda^2 I)^-1 r; J and r have weights W^(1/2).

    With the option `use_svd` it is computed as Delta x = -V diag(sigma / (sigma^2 + lambda^2))
    U^T r; if that fails, by the inverse. With `adaptive_damping` lambda^2 = mu f(x) (Sugihara
    2011), and mu follows the gain ratio rho, theory.md, eq. (8) (Levenberg-Marquardt). Without it
    lambda = `damping_factor`, and every step is accepted until the cost f grows by more than
    `diverge_threshold`. When all goals are met, the steps follow in the null space, see
    `NullSpace`.

    Parameters
    ----------
    here : Iterate
        The chain.

    References
    ----------
    Buss (2009), Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and
    damped least squares methods. Sugihara (2011), see theory.md.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._null_space, self.near = NullSpace(here), False
        self._scale = here.options.damping_factor

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
        met = self._here.within_tolerance
        moved = self._null_space.step() if met else self._reach(progress)
        progress.record(moved, pending=self.pending, extra=self.extra)

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
                here.go_to(x)
                progress.end(Status.DIVERGED)
            return moved
        left = rows.shortfall - rows.jacobian @ step
        predicted = 0.5 * float(rows.shortfall @ rows.shortfall - left @ left)
        if not (gain > 0.0 or here.within_tolerance):
            here.go_to(x)
            self._scale = max(8.0 * self._scale, _LEAST_SCALE)
        elif gain > 0.75 * predicted:
            self._scale = max(0.2 * self._scale, _LEAST_SCALE)
        elif gain < 0.25 * predicted:
            self._scale *= 2.0
        if self._scale > _MOST_SCALE:
            progress.end(Status.STALLED)
        return moved


def _damped(jacobian: Array, shortfall: Array, damping: float, *, by_svd: bool) -> Array:
    # The SVD may not converge, and if rounding hides the damping the system is singular: the other
    # form then mostly works, and otherwise the transpose.
    forms = (_damped_by_svd, _damped_by_inverse)
    for form in forms if by_svd else forms[::-1]:
        with suppress(np.linalg.LinAlgError):
            return form(jacobian, shortfall, damping)
    return np.asarray(jacobian.T @ shortfall / (np.sum(jacobian**2) + damping))


def _damped_by_svd(jacobian: Array, shortfall: Array, damping: float) -> Array:
    u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(vt.T @ (sigma / (sigma * sigma + damping) * (u.T @ shortfall)))


def _damped_by_inverse(jacobian: Array, shortfall: Array, damping: float) -> Array:
    system = jacobian @ jacobian.T
    system[np.diag_indices_from(system)] += damping
    return np.asarray(jacobian.T @ np.linalg.solve(system, shortfall))
