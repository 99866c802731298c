# flake8: noqa: E203
"""Rows of closures that imply each other up to the rounding of a description's numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.kernels.external_step import external_step, linearise
from ik_node.kernels.layout import (
    begin_of,
    BLOCK,
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_ROWS,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
    make_workspace,
    SIZES,
)
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.model.redundancy import Redundancy
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Rows disagree, and directions are stiff, by rounding up to this [rad or L] and no more. What is
# coarser is three digits of a small robot, and taken for rounding only where rows disagree at
# once; a stiff direction opens the loops on the way alone.
FINE, COARSE = 1.6e-2, 2.5e-2
AT_ONCE = 0.05
# Loops that close to the last digits where they stand were measured there, or are what they are
# meant to be: only what axes of three digits open them by on the way [rad or L] is rounding.
MEASURED = 6e-3
# Below this [rad or L] nothing was rounded: rows agree to the last digits.
LEAST = 1e-10
# Directions in which closures give way by less than this per unit are looked at.
STIFF = 2.0 * COARSE
# Length of one step of a walk [rad or L], and how many of them are made in each direction.
STEP, STEPS, WALKS = 0.15, 12, 3
# Loops that close this far [rad or L] from where they stand close there.
NEAR = 0.5
# Closing on the way takes few steps, and from where the description stands more.
CORRECTIONS, CLOSINGS = 8, 60
# Where they do not close, starts beside the first one are tried [rad or L].
KICKS = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5)
# Larger chains are closed by the solver at once: it goes by their structure.
LARGE = 20_000
# Stands for loops that do not close.
OPEN = Redundancy(-1, 0.0, {})


class _Walker:
    """
    A configuration of a chain, moved without regard to limits and locks.

    Parameters
    ----------
    chain : ChainProblem
        Closures only.
    q : ndarray, shape (nq,)
        Where to begin [rad or m].
    packed : ndarray
        Options.

    Attributes
    ----------
    residual : ndarray, shape (rows,)
        Of all closures, [rad] and [L].
    jacobian : ndarray, shape (rows, nv)

    """

    def __init__(self, chain: ChainProblem, q: Array, packed: Array) -> None:
        ints, floats = make_workspace(chain.flat.ints)
        joints = np.zeros((JOINT_ROWS, len(q)))
        joints[JOINT_LOWER], joints[JOINT_UPPER] = -np.inf, np.inf
        joints[JOINT_WINDOW] = np.inf
        packed = packed.copy()
        packed[RESTARTS] = 0.0
        at = begin_of(chain.flat.ints, 'constraints')
        floats[at : at + chain.table.size] = np.ravel(chain.table)
        self._chain = chain
        self._arguments = (chain.flat.ints, chain.flat.floats, ints, floats, q.copy())
        self._more = (joints, packed)
        nv = len(chain.flat.var_q)
        self.x, self._step = (self._view(floats, name, nv) for name in ('x', 'step'))
        self._residual = self._view(floats, 'residual', BLOCK * len(chain.names.constraints))
        slots = int(chain.flat.ints[SIZES.index('ns')])
        self._numbers = self._view(floats, 'jac', BLOCK * slots)
        self._errors = self._view(floats, 'error', 2 * len(chain.names.constraints))
        self.usable = linearise(*self._arguments, *self._more) != STATUS_REFUSED

    def _view(self, floats: Array, name: str, count: int) -> Array:
        at = begin_of(self._chain.flat.ints, name)
        return floats[at : at + count]

    @property
    def residual(self) -> Array:
        return np.asarray(self._residual[self._chain.flat.rows])

    @property
    def jacobian(self) -> Array:
        return self._chain.flat.dense(self._numbers)

    @property
    def errors(self) -> Array:
        """How far every closure is open, (nc, 2), [m] and [rad]; a copy."""
        return self._errors.reshape(-1, 2).copy()

    def move(self, step: Array) -> None:
        """Take a step (nv,) [rad or L]."""
        self._step[:] = step
        external_step(*self._arguments, *self._more)

    def go_to(self, x: Array) -> None:
        """Go back to variables (nv,) that were copied before."""
        self.x[:] = x
        self.move(np.zeros_like(x))


@dataclass
class _Found:
    """What walks have shown so far."""

    misfit: Array  # (nc, 2) [m], [rad]
    fine: float  # what counts as rounding [rad or L]
    stiffness: float = 0.0
    disagreement: float = 0.0
    at_home: float = 0.0
    walked: float = 0.0

    @property
    def is_rounding(self) -> bool:
        """Whether what was found is no stiff direction."""
        fine = max(0.5 * self.stiffness, self.disagreement) <= self.fine
        return fine or self.at_home >= AT_ONCE * max(self.stiffness, self.disagreement)


def find_redundancies(loops: Problem, table: JointTable, q: Array) -> tuple[Redundancy, ...]:
    """
    Look at every chain of closures for rows that imply each other up to rounding only.

    Parameters
    ----------
    loops : Problem
        All closures that take part, and nothing else.
    table : JointTable
        Limits, within which the loops are closed first.
    q : ndarray, shape (nq,)
        From where they can be closed [rad or m].

    """
    packed = SolverOptions(restarts=20).packed()
    found = [
        OPEN
        if sum(chain.flat.row_counts) * len(chain.flat.var_q) > LARGE
        else find_redundancy(chain, q, packed)
        for chain in loops.chains
    ]
    if any(each is OPEN for each in found):
        rows, closed = table.rows.copy(), q.copy()
        rows[[JOINT_TARGET_WEIGHT, JOINT_REST_ON]] = 0.0
        loops.run(closed, rows, packed, 0.0)
        found = [
            find_redundancy(chain, closed, packed) if each is OPEN else each
            for chain, each in zip(loops.chains, found, strict=True)
        ]
    return tuple(each for each in found if each is not None and each is not OPEN)


def find_redundancy(chain: ChainProblem, q: Array, packed: Array) -> Redundancy | None:
    """
    Look for rows of a chain's closures that imply each other up to rounding only.

    Parameters
    ----------
    chain : ChainProblem
        Closures only, of one independent chain.
    q : ndarray, shape (nq,)
        From where its loops can be closed [rad or m].
    packed : ndarray
        Options of the solver.

    Returns
    -------
    Redundancy or None
        None where rows are independent, or agree to the last digits; OPEN where the loops do not
        close from there.

    Notes
    -----
    At one configuration rounding cannot be told from a stiff direction or a singular pose: all
    leave a small singular value. So the mechanism is moved along the directions that are stiff by
    no more than rounding, the other rows closed. Where that is rounding, all closures stay closed
    up to rounding however far it goes; where it is not, they open in proportion to the way or its
    square, and the direction is no freedom.

    """
    if not sum(chain.flat.row_counts) or not len(chain.flat.var_q):
        return None
    walker = _Walker(chain, q, packed)
    if not walker.usable:
        return None
    random, start = np.random.default_rng(0), walker.x.copy()
    closed = _close(walker)
    for share in KICKS:
        if not closed:
            # A straight start leads nowhere, and loops that close only beyond some other pose.
            walker.go_to(start + share * random.uniform(-1.0, 1.0, len(start)))
            closed = _close(walker)
    if not closed:
        return OPEN
    closable = len(walker.residual) <= len(walker.x)
    if closable and np.abs(walker.residual).max() <= LEAST:
        return None  # nothing contradicts anything
    before = walker.x.copy()
    everything = min(len(walker.residual), len(walker.x))
    if not _correct(walker, everything) or np.abs(walker.x - before).max() > NEAR:
        walker.go_to(before)  # closing what is stiff, too, leads far away
    values = np.linalg.svd(walker.jacobian, compute_uv=False)
    rank = int(np.sum(values > STIFF))
    if rank == len(walker.residual) or rank == len(walker.x):
        return None
    if _is_exact(walker, rank):
        return None
    while rank < len(walker.x) and rank < len(walker.residual):
        start = walker.x.copy()
        found = _walk(walker, rank, random)
        if found is not None:
            return _summary(chain, rank, found)
        rank += 1
        if not _correct(walker, rank, CLOSINGS):
            walker.go_to(start)
            if not _correct(walker, rank, CLOSINGS):
                return None
    return None


def _is_exact(walker: _Walker, rank: int) -> bool:
    """Return whether redundant rows agree to the last digits, here and in all directions."""
    left, values, _ = np.linalg.svd(walker.jacobian)
    rest = left[:, rank:].T @ walker.residual
    stiff = values[rank:].max(initial=0.0)
    return bool(stiff <= LEAST and np.abs(rest).max(initial=0.0) <= LEAST)


def _close(walker: _Walker) -> bool:
    """Close the loops by the directions that are not stiff; return whether that is rounding."""
    damping = 1e-3
    cost = float(walker.residual @ walker.residual)
    for _ in range(CLOSINGS):
        left, values, right = np.linalg.svd(walker.jacobian, full_matrices=False)
        load = left.T @ walker.residual
        scaled = np.where(
            values > STIFF, values / np.maximum(values**2 + damping * min(cost, 1.0), 1e-300), 0.0
        )
        step = -right.T @ (scaled * load)
        if np.abs(step).max(initial=0.0) <= 1e-11:
            break
        size = np.abs(step).max()
        before = walker.x.copy()
        walker.move(step * min(1.0, 0.5 / size))
        after = float(walker.residual @ walker.residual)
        if after < cost:
            damping, cost = max(0.2 * damping, 1e-6), after
        elif size < 1e-8:
            break
        else:
            damping *= 8.0
            walker.go_to(before)
            if damping > 1e8:
                break
    return bool(np.abs(walker.residual).max(initial=0.0) <= COARSE)


def _correct(walker: _Walker, rank: int, most: int = CORRECTIONS) -> bool:
    """Close the loops by as many directions as the rank; return whether that came to an end."""
    for _ in range(most):
        left, values, right = np.linalg.svd(walker.jacobian, full_matrices=False)
        used = values[:rank] > 1e-9
        load = (left.T @ walker.residual)[:rank]
        step = -right[:rank].T @ np.where(used, load / np.where(used, values[:rank], 1.0), 0.0)
        size = np.abs(step).max(initial=0.0)
        if size <= 1e-11:
            return True
        if not size < 1.0:
            return False
        walker.move(step)
    return bool(size < 1e-6)


def _walk(walker: _Walker, rank: int, random: np.random.Generator) -> _Found | None:
    """Walk to and fro in the freedoms that a rank leaves; None if it is too small."""
    home = walker.x.copy()
    measured = np.abs(walker.residual).max(initial=0.0) <= LEAST
    found = _Found(np.zeros_like(walker.errors), MEASURED if measured else FINE)
    if not _stays(walker, rank, found):
        return None
    found.at_home = _contradiction(walker)
    for _ in range(WALKS):
        walker.go_to(home)
        way = _freedom(walker, rank) @ random.normal(size=len(walker.x) - rank)
        for direction in (way, -way):
            walker.go_to(home)
            for _ in range(STEPS):
                free = _freedom(walker, rank)
                along = free @ (free.T @ direction)
                size = np.abs(along).max()
                if not size > 1e-9:
                    break
                direction = along / size
                before = walker.x.copy()
                walker.move(STEP * direction)
                if not _correct(walker, rank) or np.abs(walker.x - before).max() > 1.0:
                    break  # the end of what the mechanism can do on this way
                if not _stays(walker, rank, found):
                    return None
                found.walked += STEP
    walker.go_to(home)
    return found if found.walked >= 2.0 * STEP and found.is_rounding else None


def _contradiction(walker: _Walker) -> float:
    """Return what no motion at all, stiff or not, takes from the residual [rad or L]."""
    left, values, _ = np.linalg.svd(walker.jacobian)
    rest = left[:, int(np.sum(values > LEAST)) :].T @ walker.residual
    return float(np.abs(rest).max(initial=0.0))


def _freedom(walker: _Walker, rank: int) -> Array:
    """Return the directions (nv, nv - rank) that a rank leaves free."""
    return np.asarray(np.linalg.svd(walker.jacobian)[2][rank:].T)


def _stays(walker: _Walker, rank: int, found: _Found) -> bool:
    """Note what the closures are open by, and return whether that may be rounding."""
    values = np.linalg.svd(walker.jacobian, compute_uv=False)
    stiffness = float(values[rank:].max(initial=0.0))
    disagreement = float(np.abs(walker.residual).max(initial=0.0))
    if stiffness > STIFF or disagreement > COARSE:
        return False
    found.misfit = np.maximum(found.misfit, walker.errors)
    found.stiffness = max(found.stiffness, stiffness)
    found.disagreement = max(found.disagreement, disagreement)
    return True


def _summary(chain: ChainProblem, rank: int, found: _Found) -> Redundancy | None:
    if max(found.stiffness, found.disagreement) <= LEAST:
        return None
    misfit = dict(zip(chain.names.constraints, map(tuple, found.misfit.tolist()), strict=True))
    return Redundancy(rank, max(found.stiffness, found.disagreement), misfit)


def without_rounding(
    jacobian: Array, free: NDArray[np.bool_], redundancy: Redundancy | None
) -> Array:
    """
    Return the columns of free values, without what rounding adds to the rank of rows.

    Parameters
    ----------
    jacobian : ndarray, shape (rows, nv)
        Of the closures of a chain.
    free : ndarray of bool, shape (nv,)
        Which values may move.
    redundancy : Redundancy or None
        Of that chain.

    """
    if redundancy is None:
        return jacobian[:, free]
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    values[redundancy.rank :] = 0.0
    left, values, right = np.linalg.svd((left * values @ right)[:, free], full_matrices=False)
    values[values <= redundancy.slack] = 0.0
    return np.asarray(left * values @ right)
