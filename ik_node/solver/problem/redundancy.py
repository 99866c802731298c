"""The search for closure rows that are redundant up to the rounding of a description's numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.kernels.layout import JOINT_LOWER, JOINT_ROWS, JOINT_UPPER, JOINT_WINDOW
from ik_node.model.redundancy import MARGIN, Redundancy, rounding_error
from ik_node.native import bind
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Configuration, Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A loop is open by at most this many times the rounding error of one frame, times the square root
# of the number of frames.
MOST_ERRORS = 4.0
# Largest residual that counts as closed while the loops are closed [rad or L].
COARSE = 2.5e-2
# Deviations below this mean that nothing was rounded: they are floating-point errors [rad or L].
LEAST = 1e-10
# Directions with a singular value below this are candidates for redundancy [rad or L per unit].
STIFF = 2.0 * COARSE
# A walk ends where the smallest singular value of the rows that are kept has this share of that at
# its start.
NEARLY_SINGULAR = 0.2
# Length of a step of a walk [rad or L], steps per direction, and number of walks.
STEP, STEPS, WALKS = 0.15, 12, 3
# If closing the loops moves a variable farther than this, it led elsewhere [rad or L].
NEAR = 0.5
# Most steps to close the loops after a step of a walk, and from where the solver left them.
CORRECTIONS, CLOSINGS = 8, 60
# Random starts with which the solver closes the loops before the search.
CLOSING_STARTS = 6
# Stands for a chain whose loops do not close.
OPEN = Redundancy(-1, 0.0, {}, {})


class _Walker(Configuration):
    """
    A configuration of a chain of closures that can be moved without regard to limits and locks.

    For each closure, `explained` (nc, 2) is as in `Redundancy.explained`, and `limits` has the
    largest residual norms with which a motion is free: the tolerances, or what the digits of the
    description explain [m], [rad].
    """

    def __init__(self, chain: ChainProblem, q: Array, packed: Array) -> None:
        workspace = Workspace.of(chain.flat)
        workspace.constraints[:] = np.ravel(chain.table)
        joints = np.zeros((JOINT_ROWS, len(q)))
        joints[JOINT_LOWER], joints[[JOINT_UPPER, JOINT_WINDOW]] = -np.inf, np.inf
        super().__init__(chain.flat, workspace, bind(*workspace.arrays), q.copy(), joints, packed)
        self.names = chain.names.constraints
        explained = _explained_gaps(chain)
        self.limits = np.maximum(explained, chain.tolerances)
        own = [getattr(each.source, 'tolerance', None) is None for each in chain.requests]
        self.explained = explained * np.array(own)[:, None]


def _explained_gaps(chain: ChainProblem) -> Array:
    """
    Return the residual norms that the digits of the description explain, shape (nc, 2) [m], [rad].

    Errors of positions tilt the parts of a loop, and errors of rotations displace them: both are
    compared through the characteristic length.
    """
    length = chain.flat.length
    first = Workspace(*chain.arrays).slot0
    errors = np.zeros((len(chain.requests), 2))
    for index, request in enumerate(chain.requests):
        rounding = getattr(request.source, 'rounding', None)
        position, rotation = _of_objects(chain) if rounding is None else rounding
        frames = first[index + 1] - first[index] + 2
        size = MOST_ERRORS * frames**0.5 * np.hypot(position / length, rotation)
        errors[index] = length * size, size
    return errors


@dataclass
class _Found:
    """The deviations of redundant rows that the walks have found so far."""

    misfit: Array  # largest residual norms of each closure, shape (nc, 2) [m], [rad]
    stiffness: float = 0.0  # largest singular value of the redundant directions
    disagreement: float = 0.0  # largest residual [rad or L]
    walked: float = 0.0  # distance walked [rad or L]


def find_redundancies(loops: Problem, table: JointTable, q: Array) -> tuple[Redundancy, ...]:
    """
    Return the chains of closures whose rows are redundant up to rounding.

    The loops are closed from the joints' zero without limits, so that the result depends on the
    frames, closures and couplings alone, or else from the configuration q (nq,) [rad or m].
    """
    options = SolverOptions(restarts=CLOSING_STARTS)
    rows = table.without_limits(table.without_preferences(table.rows))
    rows = table.with_window(rows, slice(None), np.inf)
    found: list[Redundancy | None] = [OPEN] * len(loops.chains)
    for start in (np.zeros_like(q), q.copy()):
        table.follow(start)
        for solved in (False, True):
            if solved and any(each is OPEN for each in found):
                loops.run(start, rows, options.packed(), 0.0)
            found = [
                find_redundancy(chain, start, options.packed()) if each is OPEN else each
                for chain, each in zip(loops.chains, found, strict=True)
            ]
    return tuple(each for each in found if each is not None and each is not OPEN)


def find_redundancy(chain: ChainProblem, q: Array, packed: Array) -> Redundancy | None:
    """
    Return the redundancy of a chain's closures up to rounding, near a configuration q (nq,).

    The result is None if the rows are independent, or redundant without any deviation, and OPEN if
    the loops are open at q.

    At a single configuration rounding cannot be told from a stiff direction or a singular pose:
    all of them give a small singular value. Therefore the mechanism is moved along the candidate
    directions while the other rows are kept closed. If the small singular value is due to
    rounding, all closures stay closed up to rounding for any distance. Otherwise they open in
    proportion to the distance or its square, and the direction is not a degree of freedom.
    """
    if not sum(chain.flat.row_counts) or not len(chain.flat.var_q):
        return None
    walker = _Walker(chain, q, packed)
    if not walker.usable:
        return None
    random = np.random.default_rng(0)
    _correct(walker, _rank(walker), CLOSINGS)
    if np.any(walker.errors > walker.limits) and np.abs(walker.residual).max() > COARSE:
        return OPEN
    before = walker.x.copy()
    everything = min(len(walker.residual), len(walker.x))
    if not _correct(walker, everything) or np.abs(walker.x - before).max() > NEAR:
        walker.go_to(before)  # closing the stiff directions as well led to another configuration
    rank = _rank(walker)
    if rank == len(walker.residual) or rank == len(walker.x):
        return None
    if _is_exact(walker, rank, random):
        return None
    while rank < len(walker.x) and rank < len(walker.residual):
        start = walker.x.copy()
        found = _walk(walker, rank, random)
        if found is not None:
            return _summary(walker, rank, found)
        rank += 1
        if not _correct(walker, rank, CLOSINGS):
            walker.go_to(start)
            if not _correct(walker, rank, CLOSINGS):
                return None
    return None


def _rank(walker: _Walker) -> int:
    return int(np.sum(np.linalg.svd(walker.analytic_jacobian(), compute_uv=False) > STIFF))


def _is_exact(walker: _Walker, rank: int, random: np.random.Generator) -> bool:
    """
    Return True if redundant rows agree to the last digits, in value and in derivative.

    They must do so here and after a step: where a file has the loop closed, rounded axes may agree
    exactly, and differ as soon as the loop moves.
    """
    start = walker.x.copy()
    exact = _agrees(walker, rank)
    if exact:
        free = _freedom(walker, rank)
        step = free @ random.normal(size=free.shape[1])
        walker.step_by(STEP / np.abs(step).max() * step)
        exact = _correct(walker, rank) and _agrees(walker, rank)
        walker.go_to(start)
    return exact


def _agrees(walker: _Walker, rank: int) -> bool:
    left, values, _ = np.linalg.svd(walker.analytic_jacobian())
    rest = left[:, rank:].T @ walker.residual
    stiff = values[rank:].max(initial=0.0)
    return bool(stiff <= LEAST and np.abs(rest).max(initial=0.0) <= LEAST)


def _correct(walker: _Walker, rank: int, limit: int = CORRECTIONS) -> bool:
    """Close the loops by Newton steps in the first `rank` directions; return True if converged."""
    for _ in range(limit):
        left, values, right = np.linalg.svd(walker.analytic_jacobian(), full_matrices=False)
        used = values[:rank] > 1e-9
        load = (left.T @ walker.residual)[:rank]
        step = -right[:rank].T @ np.where(used, load / np.where(used, values[:rank], 1.0), 0.0)
        size = np.abs(step).max(initial=0.0)
        if size <= 1e-11:
            return True
        if not size < 1.0:
            return False
        walker.step_by(step)
    return bool(size < 1e-6)


def _walk(walker: _Walker, rank: int, random: np.random.Generator) -> _Found | None:
    """Walk in the null space of a rank in some directions; return None if the rank is wrong."""
    home = walker.x.copy()
    found = _Found(np.zeros_like(walker.errors))
    least = NEARLY_SINGULAR * _smallest(walker, rank)
    if not _stays(walker, rank, found):
        return None
    for walk in range(WALKS):
        walker.go_to(home)
        free = _freedom(walker, rank)
        # The stiffest of the candidates first: a mixture moves little of it.
        ahead = free[:, 0] if walk == 0 else free @ random.normal(size=free.shape[1])
        for direction in (ahead, -ahead):
            walker.go_to(home)
            for _ in range(STEPS):
                free = _freedom(walker, rank)
                along = free @ (free.T @ direction)
                size = np.abs(along).max()
                if not size > 1e-9:
                    break
                direction = along / size
                before = walker.x.copy()
                walker.step_by(STEP * direction)
                if not _correct(walker, rank) or np.abs(walker.x - before).max() > 1.0:
                    break  # the mechanism cannot move any farther in this direction
                if _smallest(walker, rank) < least:
                    break  # beyond a singularity there are other branches
                if not _stays(walker, rank, found):
                    return None
                found.walked += STEP
    walker.go_to(home)
    return found if found.walked >= 2.0 * STEP else None


def _smallest(walker: _Walker, rank: int) -> float:
    """Return the smallest singular value of the rows that are kept closed; 0 without any."""
    return (
        float(np.linalg.svd(walker.analytic_jacobian(), compute_uv=False)[rank - 1])
        if rank
        else 0.0
    )


def _freedom(walker: _Walker, rank: int) -> Array:
    """Return a basis of the null space for a given rank, shape (nv, nv - rank)."""
    return np.asarray(np.linalg.svd(walker.analytic_jacobian())[2][rank:].T)


def _stays(walker: _Walker, rank: int, found: _Found) -> bool:
    """Record the deviations at a configuration; return True if they may be rounding."""
    values = np.linalg.svd(walker.analytic_jacobian(), compute_uv=False)
    stiffness = float(values[rank:].max(initial=0.0))
    disagreement = float(np.abs(walker.residual).max(initial=0.0))
    if stiffness > STIFF or np.any(walker.errors > walker.limits):
        return False
    found.misfit = np.maximum(found.misfit, walker.errors)
    found.stiffness = max(found.stiffness, stiffness)
    found.disagreement = max(found.disagreement, disagreement)
    return True


def _of_objects(chain: ChainProblem) -> tuple[float, float]:
    """Return the rounding error of the joints' positions, which rotations are taken to share."""
    joints = list(dict.fromkeys(joint for joint, _ in chain.tree.owner))
    numbers = [repr(x) for joint in joints for x in joint.position.tolist()]
    error = rounding_error(numbers, max(1, len(joints)))
    return error, error


def _summary(walker: _Walker, rank: int, found: _Found) -> Redundancy | None:
    if max(found.stiffness, found.disagreement) <= LEAST:
        return None
    misfit, explained = (
        dict(zip(walker.names, map(tuple, pairs.tolist()), strict=True))
        for pairs in (found.misfit, walker.explained)
    )
    return Redundancy(rank, max(found.stiffness, found.disagreement), misfit, explained)


def without_rounding(
    jacobian: Array, free: NDArray[np.bool_], redundancy: Redundancy | None
) -> Array:
    """
    Return the columns of free values of a chain's Jacobian whose rank is not raised by rounding.

    `jacobian` (nr, nv) is that of the closures; `free` (nv,) is True for each value that may move.
    The singular values that rounding causes are zero in the result.
    """
    if redundancy is None:
        return jacobian[:, free]
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    # As in the kernels: in another assembly the same rows may be independent.
    values[redundancy.rank :] *= values[redundancy.rank :] > MARGIN * redundancy.slack
    left, values, right = np.linalg.svd((left * values @ right)[:, free], full_matrices=False)
    values[values <= redundancy.slack] = 0.0
    return np.asarray(left * values @ right)
