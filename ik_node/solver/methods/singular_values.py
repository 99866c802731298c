"""What singular values say of a Jacobian, in one place for all who ask."""

from __future__ import annotations

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
