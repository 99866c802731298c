"""The limits of actuators as bounds on a joint space."""

from __future__ import annotations

from itertools import combinations

from ik_node.solver.problem.chain_problem import null_space, rank_of, zero_of
from ik_node.transmission.state import Polytope
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Components up to which corners are computed.
MOST_COMPONENTS = 3


def velocity_bounds(ratio: Array, limits: Array) -> Polytope:
    """
    Return the velocities J u with |u_a| <= limit_a, for a ratio J (n, m) and limits (m,).

    The set is a zonotope. Its faces are normal to the directions that n - 1 generators leave; with
    as many actuators as components these are the rows of the inverse.
    """
    n = ratio.shape[0]
    normals = _zonotope_normals(ratio)
    high = _support(normals, ratio, limits)
    reach = _support(np.eye(n), ratio, limits)
    corners = None
    if n <= MOST_COMPONENTS and np.isfinite(limits).all():
        corners = _corners(normals, -high, high)
    return Polytope(-reach, reach, normals, -high, high, corners, _inner(normals, high, reach))


def effort_bounds(ratio: Array, limits: Array) -> Polytope:
    """Return the efforts y with |(J^T y)_a| <= limit_a, for a ratio J (n, m) and limits (m,)."""
    n = ratio.shape[0]
    normals = ratio.T.copy()
    corners = _corners(normals, -limits, limits) if n <= MOST_COMPONENTS else None
    reach = np.full(n, np.inf)
    if corners is not None:
        reach = np.abs(corners).max(axis=0, initial=0.0)
    elif rank(ratio) == n:
        reach = _reach(normals, limits)
    return Polytope(
        -reach, reach, normals, -limits, limits, corners, _inner(normals, limits, reach)
    )


def rank(matrix: Array) -> int:
    """Return the rank of a matrix, by the rule for all Jacobians."""
    return rank_of(np.linalg.svd(matrix, compute_uv=False)) if matrix.size else 0


def _support(normals: Array, ratio: Array, limits: Array) -> Array:
    """Return the largest value of each normal over all velocities."""
    shares = np.abs(normals @ ratio)
    with np.errstate(invalid='ignore'):
        parts = np.where(shares > zero_of(shares.ravel()), shares * limits, 0.0)
    total: Array = parts.sum(axis=1)
    return total


def _zonotope_normals(ratio: Array) -> Array:
    """Return the unit normals of the faces of the set of all J u."""
    n, m = ratio.shape
    flat = null_space(ratio.T).T  # normal to all generators: no velocity along these
    found = [*flat]
    for chosen in combinations(range(m), max(n - len(flat) - 1, 0)):
        across = null_space(np.vstack([ratio[:, list(chosen)].T, flat]))
        if across.shape[1] == 1:
            found.append(across[:, 0])
    return np.array(found).reshape(-1, n)


def _corners(normals: Array, low: Array, high: Array) -> Array | None:
    """Return the corners of {y: low <= normals y <= high}; None = it is not bounded."""
    n = normals.shape[1]
    finite = np.isfinite(low) & np.isfinite(high)
    rows, low, high = normals[finite], low[finite], high[finite]
    if rank(rows) < n:
        return None
    slack = 1e-9 * np.maximum(1e-12, np.maximum(np.abs(low), np.abs(high)))
    found: list[Array] = []
    for chosen in combinations(range(len(rows)), n):
        matrix = rows[list(chosen)]
        if rank(matrix) < n:
            continue
        for signs in np.ndindex(*[2] * n):
            wanted = np.where(np.array(signs) == 0, low[list(chosen)], high[list(chosen)])
            corner = np.asarray(np.linalg.solve(matrix, wanted), dtype=float)
            along = rows @ corner
            known = any(np.allclose(corner, other, rtol=1e-9, atol=0.0) for other in found)
            if ((along >= low - slack) & (along <= high + slack)).all() and not known:
                found.append(corner)
    return np.array(found).reshape(-1, n)


def _reach(normals: Array, limits: Array) -> Array:
    """Return the largest value of each component of y with |normals y| <= limits."""
    from scipy.optimize import linprog

    n = normals.shape[1]
    finite = np.isfinite(limits)
    rows, most = normals[finite], limits[finite]
    reach = np.full(n, np.inf)
    for k in range(n):
        found = linprog(
            -np.eye(n)[k],
            np.vstack([rows, -rows]),
            np.concatenate([most, most]),
            bounds=(None, None),
        )
        reach[k] = -found.fun if found.status == 0 else np.inf
    return reach


def _inner(normals: Array, high: Array, reach: Array) -> tuple[Array, Array]:
    """Return the box of the polytope, shrunk about zero until it is inside."""
    finite = np.isfinite(high)
    bound = np.abs(normals[finite]).max(axis=0, initial=0.0) > 0.0
    size = np.where(np.isfinite(reach), reach, np.where(bound, 0.0, np.inf))
    along = np.abs(normals[finite][:, bound]) @ size[bound]
    with np.errstate(divide='ignore', invalid='ignore'):
        share = np.min(np.where(along > 0.0, high[finite] / along, np.inf), initial=1.0)
    size[bound] *= share
    return -size, size
