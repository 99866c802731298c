# flake8: noqa: E203
"""Rows and Jacobian as the step of a linear method takes them, and the step within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ik_node.solver.methods.iterate import Block, Iterate
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Singular values below this share of the largest count as zero in a step.
CUT = 1e-4
# The same where rows are counted: what is left must be independent, and no more.
RANK_CUT = 1e-7


def pseudo_inverse(jacobian: Array) -> Array:
    """Return V diag(1 / sigma) U^T, small singular values cut off, shape (columns, rows)."""
    return np.asarray(np.linalg.pinv(jacobian, rcond=CUT), dtype=np.float64)


def range_basis(jacobian: Array) -> Array:
    """Return orthonormal combinations of the rows that are independent, shape (rows, rank)."""
    if jacobian.size == 0:
        return np.zeros((jacobian.shape[0], 0))
    u, sigma, _ = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(u[:, sigma > RANK_CUT * max(float(sigma[0]), 1e-300)])


Held = NDArray[np.bool_]


class LinearRows(NamedTuple):
    """
    What is short of zero, and how the variables change it.

    Attributes
    ----------
    shortfall : ndarray, shape (nr,)
        Minus the residual, shortened to the error clamps, times the rows' weights.
    jacobian : ndarray, shape (nr, nv)
        Times the rows' weights.
    blocks : tuple of Block

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
    Choose a step with the variables that can follow it.

    A variable on a bound that the step pushes outwards is left out, and the step is chosen again
    for the others, who take over its share. Every step begins with all of them, so that a
    variable is released as soon as the step points inwards.

    Parameters
    ----------
    here : Iterate
        Where the step begins.
    jacobian : ndarray, shape (nr, nv)
        Of the rows that the step is to bring nearer zero.
    choose : callable
        The Jacobian's columns that take part, and which they are -> step of those variables.
    held : ndarray of bool, shape (nv,), optional
        Variables that are to stay.

    Returns
    -------
    ndarray, shape (nv,)
        What leads past a bound from within is clamped where the step is taken.

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
