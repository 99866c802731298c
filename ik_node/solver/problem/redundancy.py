"""The search for closure rows that are redundant up to the rounding of a description's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ik_node.model.redundancy import Redundancy, rounding_error
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, Configuration
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.workspace import Workspace
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
# Most steps to close the loops after a step of a walk, and from where the solver left them.
CORRECTIONS, CLOSINGS = 8, 60
# Safety factor on the measured deviations, which may be larger at other configurations.
MARGIN = 4.0
# Random starts with which the solver closes the loops before the search.
CLOSING_STARTS = 6


class _Walker(Configuration):
    """
    A configuration of a chain of closures, to be moved without regard to limits and locks.

    `values` and `directions` (nv, nv) are the singular values and vectors of its Jacobian, where
    `close` saw it last.
    """

    def rank(self) -> int:
        """Return the number of directions that are no candidates for redundancy."""
        return int(np.sum(np.linalg.svd(self.analytic_jacobian(), compute_uv=False) > STIFF))

    def close(self, rank: int, limit: int = CORRECTIONS) -> bool:
        """Close the loops by Newton steps in the first `rank` directions; True if converged."""
        for _ in range(limit):
            left, self.values, self.directions = np.linalg.svd(self.analytic_jacobian())
            count = np.sum(self.values[:rank] > 1e-9)
            load = (left.T @ self.residual)[:count] / self.values[:count]
            step = -self.directions[:count].T @ load
            size = np.abs(step).max(initial=0.0)
            if size <= 1e-11:
                return True
            if not size < 1.0:
                return False
            self.step_by(step)
        return bool(size < 1e-6)

    def walk(self, rank: int, random: np.random.Generator) -> Iterator[None]:
        """Move in the null space of a rank in some directions, and yield here and at each step."""
        yield
        home, free = self.x.copy(), self.directions[rank:].T
        least = NEARLY_SINGULAR * self.values[:rank].min(initial=np.inf)
        mixed = [free @ random.normal(size=free.shape[1]) for _ in range(WALKS - 1)]
        # In a mixture all that moves takes part, but the stiffest candidate moves little.
        for ahead in (*mixed, free[:, 0]):
            for direction in (ahead, -ahead):
                self.go_to(home)
                across = free
                for _ in range(STEPS):
                    direction = across @ (across.T @ direction)
                    direction /= np.abs(direction).max()
                    before = self.x.copy()
                    self.step_by(STEP * direction)
                    if not self.close(rank) or np.abs(self.x - before).max() > 1.0:
                        break  # the mechanism cannot move any farther in this direction
                    if self.values[:rank].min(initial=np.inf) < least:
                        break  # beyond a singularity there are other branches
                    yield
                    across = self.directions[rank:].T


def _explained_gaps(chain: ChainProblem) -> Array:
    """
    Return the residual norms that the digits of the description explain, shape (nc, 2) [m], [rad].

    Errors of positions tilt the parts of a loop, and errors of rotations displace them: both are
    compared through the characteristic length. Without digits of a file, those of the joints'
    positions count for rotations as well.
    """
    length = chain.flat.length
    frames = np.diff(Workspace(*chain.arrays).slot0) + 2
    joints = list(dict.fromkeys(joint for joint, _ in chain.tree.owner))
    numbers = [repr(x) for joint in joints for x in joint.position.tolist()]
    objects = [rounding_error(numbers, max(1, len(joints)))] * 2
    given = [getattr(request.source, 'rounding', None) for request in chain.requests]
    errors = np.array([objects if each is None else each for each in given]) / (length, 1.0)
    size = MOST_ERRORS * np.sqrt(frames) * np.hypot(*errors.T)
    return np.asarray(size[:, None] * (length, 1.0))


def _closed(chain: ChainProblem, limits: Array, table: JointTable, q: Array) -> _Walker | None:
    """
    Return a chain with loops that are open by no more than the limits; None if they stay open.

    They are closed from the joints' zero without limits, so that the result depends on the frames,
    closures and couplings alone, or else from the configuration q.
    """
    packed = SolverOptions(restarts=CLOSING_STARTS).packed()
    rows = table.without_limits(table.without_preferences(table.rows))
    rows = table.with_window(rows, slice(None), np.inf)
    for start in (np.zeros_like(q), q.copy()):
        table.follow(start)
        for is_solved in (False, True):
            if is_solved:
                chain.solve(start, rows, packed)
            walker = _Walker(chain.with_own_workspace(), start.copy(), rows, packed)
            if not walker.usable:
                return None
            walker.close(walker.rank(), CLOSINGS)
            if np.all(walker.errors <= limits) or np.abs(walker.residual).max() <= COARSE:
                return walker
    return None


def find_redundancy(chain: ChainProblem, table: JointTable, q: Array) -> Redundancy | None:
    """
    Return the redundancy of a chain's closures up to rounding.

    There is none if the rows are independent, or redundant without any deviation, or if the loops
    cannot be closed, also from q (nq,) [rad or m].

    At a single configuration rounding cannot be told from a stiff direction or a singular pose:
    all of them give a small singular value. Therefore the mechanism is moved along the candidate
    directions while the other rows are kept closed. If the small singular value is due to
    rounding, all closures stay closed up to rounding for any distance. Otherwise they open in
    proportion to the distance or its square, and the direction is not a degree of freedom.

    Rows are exact if they agree to the last digits, in value and in derivative, both here and
    after a step: where a file has the loop closed, rounded axes may agree exactly, and differ as
    soon as the loop moves.
    """
    if not sum(chain.flat.row_counts) or not len(chain.flat.var_q):
        return None
    explained = _explained_gaps(chain)
    limits = np.maximum(explained, chain.tolerances)
    walker = _closed(chain, limits, table, q)
    if walker is None:
        return None
    random = np.random.default_rng(0)
    home = walker.x.copy()
    for rank in range(walker.rank(), min(len(walker.residual), len(home))):
        walker.go_to(home)
        if not walker.close(rank, CLOSINGS):
            break
        slack, misfit, seen = 0.0, np.zeros_like(limits), 0
        for seen, _ in enumerate(walker.walk(rank, random)):
            stiffness = walker.values[rank:].max(initial=0.0)
            if stiffness > STIFF or np.any(walker.errors > limits):
                break  # the rank is larger
            slack = max(slack, stiffness, np.abs(walker.residual).max())
            misfit = np.maximum(misfit, walker.errors)
            if seen == 1 and slack <= LEAST:
                return None
        else:
            if seen > 1:
                own = [getattr(each.source, 'tolerance', None) is None for each in chain.requests]
                allowance = np.minimum(MARGIN * misfit, explained * np.array(own)[:, None])
                by_name = (
                    dict(zip(chain.names.constraints, map(tuple, pairs.tolist()), strict=True))
                    for pairs in (misfit, allowance)
                )
                return Redundancy(rank, MARGIN * slack, *by_name)
    return None
