# flake8: noqa: E203
"""The search for closure rows that are redundant up to the rounding of a description's numbers."""

from __future__ import annotations

from dataclasses import dataclass

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
from ik_node.model.redundancy import MARGIN, Redundancy, rounding_error
from ik_node.native import bind
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import tolerances_in
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
# Most steps to close the loops after a step of a walk, and from the start [steps].
CORRECTIONS, CLOSINGS = 8, 60
# Largest random offsets from the start that are tried if the loops do not close [rad or L].
KICKS = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5)
# Chains with more rows times variables are first closed by the solver, whose steps use the
# sparsity of the chain, while the dense steps here would be slow.
LARGE = 20_000
# Stands for a chain whose loops do not close.
OPEN = Redundancy(-1, 0.0, {}, {})


class _Walker:
    """
    A configuration of a chain that can be moved without regard to limits and locks.

    Parameters
    ----------
    chain : ChainProblem
        A chain of closures only.
    q : ndarray, shape (nq,)
        Start [rad or m].
    packed : ndarray
        Packed options.

    Attributes
    ----------
    x : ndarray, shape (nv,)
        Variables [rad or L].
    residual : ndarray, shape (nr,)
        Residual of all closures [rad or L].
    jacobian : ndarray, shape (nr, nv)
        Its derivatives by the variables.
    usable : bool
        False if the kernel refused q.
    names : tuple of str
        Names of the closures.
    explained : ndarray, shape (nc, 2)
        As in `Redundancy.explained`.
    most : ndarray, shape (nc, 2)
        Largest residual norms with which a motion is free: the tolerances, or what the digits of
        the description explain [m], [rad].

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
        self._kernels = bind(chain.flat.ints, chain.flat.floats, ints, floats)
        self._arguments = (q.copy(), joints, packed)
        nv = len(chain.flat.var_q)
        self.x, self._step = (self._view(floats, name, nv) for name in ('x', 'step'))
        self._residual = self._view(floats, 'residual', BLOCK * len(chain.names.constraints))
        slots = int(chain.flat.ints[SIZES.index('ns')])
        self._numbers = self._view(floats, 'jac', BLOCK * slots)
        self._errors = self._view(floats, 'error', 2 * len(chain.names.constraints))
        self.usable = self._kernels.linearise(*self._arguments) != STATUS_REFUSED
        self.names = chain.names.constraints
        explained = _explained_gaps(chain)
        self.most = np.maximum(explained, tolerances_in(chain.table))
        own = [getattr(each.source, 'tolerance', None) is None for each in chain.requests]
        self.explained = explained * np.array(own)[:, None]

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
        """Return a copy of the residual norms of every closure, shape (nc, 2) [m], [rad]."""
        return self._errors.reshape(-1, 2).copy()

    def move(self, step: Array) -> None:
        """Take a step, shape (nv,) [rad or L]."""
        self._step[:] = step
        self._kernels.external_step(*self._arguments)

    def go_to(self, x: Array) -> None:
        """Set the variables, shape (nv,) [rad or L]."""
        self.x[:] = x
        self.move(np.zeros_like(x))


def _explained_gaps(chain: ChainProblem) -> Array:
    """
    Return the residual norms that the digits of the description explain, shape (nc, 2) [m], [rad].

    Errors of positions tilt the parts of a loop, and errors of rotations displace them: both are
    compared through the characteristic length.
    """
    length = chain.flat.length
    first = chain.flat.ints[begin_of(chain.flat.ints, 'slot0') :]
    errors = np.zeros((len(chain.requests), 2))
    for at, request in enumerate(chain.requests):
        rounding = getattr(request.source, 'rounding', None)
        position, rotation = _of_objects(chain) if rounding is None else rounding
        frames = first[at + 1] - first[at] + 2
        size = MOST_ERRORS * frames**0.5 * np.hypot(position / length, rotation)
        errors[at] = length * size, size
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

    Parameters
    ----------
    loops : Problem
        All closures that take part, without goals.
    table : JointTable
        Couplings, for the solver, which closes loops that the search itself cannot close.
    q : ndarray, shape (nq,)
        Configuration from which the loops can be closed [rad or m]; it is used only if they do
        not close from the joints' zero without limits, so that the result depends on the frames,
        closures and couplings alone.

    """
    packed = SolverOptions(restarts=20).packed()
    rows = table.rows.copy()
    rows[[JOINT_TARGET_WEIGHT, JOINT_REST_ON]] = 0.0
    rows[JOINT_LOWER], rows[[JOINT_UPPER, JOINT_WINDOW]] = -np.inf, np.inf
    found: list[Redundancy | None] = [OPEN] * len(loops.chains)
    for start in (np.zeros_like(q), q.copy()):
        table.follow(start)
        for solved in (False, True):
            if solved and any(each is OPEN for each in found):
                loops.run(start, rows, packed, 0.0)
            found = [
                find_redundancy(chain, start, packed)
                if each is OPEN and (solved or _size(chain) <= LARGE)
                else each
                for chain, each in zip(loops.chains, found, strict=True)
            ]
    return tuple(each for each in found if each is not None and each is not OPEN)


def _size(chain: ChainProblem) -> int:
    return sum(chain.flat.row_counts) * len(chain.flat.var_q)


def find_redundancy(chain: ChainProblem, q: Array, packed: Array) -> Redundancy | None:
    """
    Return the redundancy of a chain's closures up to rounding.

    Parameters
    ----------
    chain : ChainProblem
        One independent chain of closures only.
    q : ndarray, shape (nq,)
        Configuration from which its loops can be closed [rad or m].
    packed : ndarray
        Packed options of the solver.

    Returns
    -------
    Redundancy or None
        None if the rows are independent, or redundant without any deviation; OPEN if the loops do
        not close from q.

    Notes
    -----
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
    random, start = np.random.default_rng(0), walker.x.copy()
    closed = _close(walker)
    for share in KICKS:
        if not closed:
            # From a singular start, such as a stretched arm, or from behind another local
            # minimum the loops do not close; from a random offset they may.
            walker.go_to(start + share * random.uniform(-1.0, 1.0, len(start)))
            closed = _close(walker)
    if not closed:
        return OPEN
    before = walker.x.copy()
    everything = min(len(walker.residual), len(walker.x))
    if not _correct(walker, everything) or np.abs(walker.x - before).max() > NEAR:
        walker.go_to(before)  # closing the stiff directions as well led to another configuration
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
            return _summary(walker, rank, found)
        rank += 1
        if not _correct(walker, rank, CLOSINGS):
            walker.go_to(start)
            if not _correct(walker, rank, CLOSINGS):
                return None
    return None


def _is_exact(walker: _Walker, rank: int) -> bool:
    """Return True if redundant rows agree to the last digits, in value and in derivative."""
    left, values, _ = np.linalg.svd(walker.jacobian)
    rest = left[:, rank:].T @ walker.residual
    stiff = values[rank:].max(initial=0.0)
    return bool(stiff <= LEAST and np.abs(rest).max(initial=0.0) <= LEAST)


def _close(walker: _Walker) -> bool:
    """
    Close the loops in the directions that are not stiff.

    Return True if the residual that remains is small enough to be rounding. The steps are damped
    least squares on the singular values above `STIFF`, with the damping of Madsen et al. (2004).
    """
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
    explained = np.all(walker.errors <= walker.most)
    return bool(explained or np.abs(walker.residual).max(initial=0.0) <= COARSE)


def _correct(walker: _Walker, rank: int, most: int = CORRECTIONS) -> bool:
    """Close the loops by Newton steps in the first `rank` directions; return True if converged."""
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
                walker.move(STEP * direction)
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
    return float(np.linalg.svd(walker.jacobian, compute_uv=False)[rank - 1]) if rank else 0.0


def _freedom(walker: _Walker, rank: int) -> Array:
    """Return a basis of the null space for a given rank, shape (nv, nv - rank)."""
    return np.asarray(np.linalg.svd(walker.jacobian)[2][rank:].T)


def _stays(walker: _Walker, rank: int, found: _Found) -> bool:
    """Record the deviations at a configuration; return True if they may be rounding."""
    values = np.linalg.svd(walker.jacobian, compute_uv=False)
    stiffness = float(values[rank:].max(initial=0.0))
    disagreement = float(np.abs(walker.residual).max(initial=0.0))
    if stiffness > STIFF or np.any(walker.errors > walker.most):
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
    Return the columns of free values of a Jacobian whose rank is not raised by rounding.

    Parameters
    ----------
    jacobian : ndarray, shape (nr, nv)
        Jacobian of the closures of a chain.
    free : ndarray of bool, shape (nv,)
        True for each value that may move.
    redundancy : Redundancy or None
        Redundancy of that chain.

    Returns
    -------
    ndarray, shape (nr, number of free values)
        The columns, with the singular values that rounding causes set to zero.

    """
    if redundancy is None:
        return jacobian[:, free]
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    # As in the kernels: in another assembly the same rows may be independent.
    values[redundancy.rank :] *= values[redundancy.rank :] > MARGIN * redundancy.slack
    left, values, right = np.linalg.svd((left * values @ right)[:, free], full_matrices=False)
    values[values <= redundancy.slack] = 0.0
    return np.asarray(left * values @ right)
