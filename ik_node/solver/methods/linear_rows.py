# flake8: noqa: E203
"""The weighted residual and Jacobian of the linear methods, and their steps within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ik_node.solver.methods.iterate import Block, Iterate
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Singular values below this share of the largest count as zero in a step: their inverses would
# make the step too long.
CUT = 1e-4
# The same for the rank of rows, which only has to exclude rounding errors.
RANK_CUT = 1e-7


def pseudo_inverse(jacobian: Array) -> Array:
    """Return J^+ = V diag(1 / sigma) U^T, shape (nv, nr), without small singular values."""
    return np.asarray(np.linalg.pinv(jacobian, rcond=CUT), dtype=np.float64)


def range_basis(jacobian: Array) -> Array:
    """Return an orthonormal basis of the range of a Jacobian, shape (nr, rank)."""
    if jacobian.size == 0:
        return np.zeros((jacobian.shape[0], 0))
    u, sigma, _ = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(u[:, sigma > RANK_CUT * max(float(sigma[0]), 1e-300)])


Held = NDArray[np.bool_]


class LinearRows(NamedTuple):
    """
    The weighted rows of a step.

    Attributes
    ----------
    shortfall : ndarray, shape (nr,)
        e = -W^(1/2) r, where the rows of each constraint are scaled down to the error clamps.
    jacobian : ndarray, shape (nr, nv)
        W^(1/2) J.
    blocks : tuple of Block
        The rows by constraint and unit.

    """

    shortfall: Array
    jacobian: Array
    blocks: tuple[Block, ...]


def linear_rows(here: Iterate) -> LinearRows:
    """Return weighted rows and Jacobian at an iterate."""
    shortfall = -here.residual
    options = here.options
    for block in here.blocks:
        most = options.rotation_error_clamp
        if not block.is_rotation:
            most = options.translation_error_clamp / here.chain.flat.length
        length = float(np.linalg.norm(shortfall[block.first : block.last]))
        if length > most:
            shortfall[block.first : block.last] *= most / length
    share = np.sqrt(here.weight)
    return LinearRows(share * shortfall, share[:, None] * here.jacobian(), here.blocks)


def step_within_bounds(
    here: Iterate,
    jacobian: Array,
    choose: Callable[[Array, Held], Array],
    held: Held | None = None,
) -> Array:
    """
    Return a step that does not push variables at a bound beyond it.

    A variable that is at a bound and would leave it is fixed, and the step is computed again for
    the others. Each step starts with all variables, so that a variable is released as soon as the
    step points inwards.

    Parameters
    ----------
    here : Iterate
        The chain.
    jacobian : ndarray, shape (nr, nv)
        Jacobian of the rows that the step reduces.
    choose : callable
        Function of some columns of the Jacobian, and of the mask (nv,) of their variables, that
        returns the step of these variables.
    held : ndarray of bool, shape (nv,), optional
        Variables that stay fixed; None = only the locked ones.

    Returns
    -------
    ndarray, shape (nv,)
        The step [rad or L]. `Iterate.move` clamps variables that it takes past a bound.

    """
    free: Held = ~here.locked if held is None else ~(here.locked | held)
    at_lower = (here.x <= here.lower) & (here.free_ball == 0)
    at_upper = (here.x >= here.upper) & (here.free_ball == 0)
    step = np.zeros(here.variable_count)
    while free.any():
        step[:] = 0.0
        step[free] = choose(jacobian[:, free], free)
        outward = free & ((at_lower & (step < 0.0)) | (at_upper & (step > 0.0)))
        if not outward.any():
            return step
        free = free & ~outward
    return np.zeros(here.variable_count)
