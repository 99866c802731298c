"""How a mechanism can move with its loops closed, and what its closures take from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from ik_node.errors import plain
from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER, JOINT_WINDOW
from ik_node.model.goal import Goal
from ik_node.model.request import request_of
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class _Loops(NamedTuple):
    """The closures of one independent chain at one configuration."""

    joint_names: tuple[str, ...]
    closures: tuple[tuple[str, int], ...]  # name and number of rows
    jacobian: Array  # (rows, values of the chain that are free), [m] and [rad]
    by_size: Array  # the same with lengths in characteristic lengths: what has which rank


class Mobility(int):
    """
    Degrees of freedom at one configuration, loops closed: free values less the closures' rank.

    A number like any other, with what it is made of. Made by `mobility_of` and `Robot.mobility`.

    Attributes
    ----------
    free : int
        Values that are neither locked nor coupled.
    closure_rows : int
        Scalar rows of all closures.
    chains : list of tuple of str
        Names of the values in each independent chain of the closures; locked and coupled ones
        included.
    singular_values : ndarray, shape (at most closure_rows,)
        Of the closures' Jacobian, descending; [m] and [rad] alike, per [rad or m].

    """

    free: int
    closure_rows: int
    chains: list[tuple[str, ...]]
    singular_values: Array
    _loops: tuple[_Loops, ...]

    def __new__(cls, free: int, loops: Iterable[_Loops] = ()) -> Mobility:
        """Work it out, chain by chain."""
        kept = tuple(loops)
        values = [np.linalg.svd(part.jacobian, compute_uv=False) for part in kept]
        found = np.sort(np.concatenate([np.zeros(0), *values]))[::-1]
        by_size = _singular_values(kept)
        rank = int(np.sum(by_size > _zero(by_size)))
        self = super().__new__(cls, free - rank)
        self.free = int(free)
        self.closure_rows = sum(len(part.jacobian) for part in kept)
        self.chains = [part.joint_names for part in kept if part.joint_names]
        self.singular_values = found
        self._loops = kept
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Mobility, (self.free, self._loops)

    @property
    def rank(self) -> int:
        """Return the number of closure rows that are independent here."""
        return self.free - int(self)

    @property
    def gruebler(self) -> int:
        """Return what counting says (Gruebler-Kutzbach): free values less closure rows."""
        return self.free - self.closure_rows

    @property
    def redundant_rows(self) -> int:
        """Return the number of closure rows that others imply here."""
        return self.closure_rows - self.rank

    @cached_property
    def redundant_closures(self) -> dict[str, int]:
        """
        How many rows of each closure those before it imply; closures without any are left out.

        Notes
        -----
        Earlier closures keep their rows: those of each are counted by what is left of them when
        the span of all before is taken out. The numbers add up to `redundant_rows`.

        """
        zero = _zero(_singular_values(self._loops))
        found = _redundant(self._loops, _ranks_by_elimination, zero)
        if sum(found.values()) != self.redundant_rows:  # on the brink of a singularity
            found = _redundant(self._loops, _ranks_by_prefix, zero)
        return found

    @cached_property
    def implied_rows(self) -> dict[str, tuple[int, ...]]:
        """
        Which rows of each closure those before it imply, counted within the closure.

        Where a combination of rows is redundant, the last of them stands for it.
        """
        zero = _zero(_singular_values(self._loops))
        found: dict[str, tuple[int, ...]] = {}
        for part in self._loops:
            names = [(name, row) for name, rows in part.closures for row in range(rows)]
            blocks = np.split(part.by_size, len(part.by_size))
            for (name, row), rank in zip(names, _ranks_by_elimination(blocks, zero), strict=True):
                if rank == 0:
                    found[name] = (*found.get(name, ()), row)
        return found

    @property
    def frozen(self) -> list[tuple[str, ...]]:
        """Closures of every chain whose values cannot move at all."""
        zero = _zero(_singular_values(self._loops))
        return [
            tuple(name for name, _ in part.closures)
            for part in self._loops
            if part.by_size.shape[1]
            and np.linalg.matrix_rank(part.by_size, tol=zero) == part.by_size.shape[1]
        ]

    @property
    def condition(self) -> float:
        """Return the largest over the smallest singular value that is not zero; NaN if none is."""
        if not self.rank:
            return float('nan')
        return float(self.singular_values[0] / self.singular_values[self.rank - 1])

    def facts(self) -> dict[str, Any]:
        """Return all of it in plain types; the condition is None where there is none."""
        return {
            'mobility': int(self),
            'free': self.free,
            'closure_rows': self.closure_rows,
            'rank': self.rank,
            'gruebler': self.gruebler,
            'redundant_rows': self.redundant_rows,
            'redundant_closures': dict(self.redundant_closures),
            'chains': [list(chain) for chain in self.chains],
            'singular_values': self.singular_values.tolist(),
            'condition': self.condition if self.rank else None,
        }

    def report(self) -> str:
        """Say it in lines for a reader; `str` gives the number alone."""
        lines = [
            f'mobility {int(self)}: {self.free} free values, {self.closure_rows} closure rows of '
            f'rank {self.rank}'
        ]
        if self.redundant_rows:
            shares = ', '.join(
                f'{plain(name)} {rows}' for name, rows in self.redundant_closures.items()
            )
            lines.append(
                f'counting alone says {self.gruebler}: {self.redundant_rows} rows are redundant '
                f'here ({shares})'
            )
        if self.rank:
            lines.append(
                f'singular values {self.singular_values[0]:.3g} to '
                f'{self.singular_values[self.rank - 1]:.3g}, condition {self.condition:.3g}'
            )
        lines += [f'chain of {len(chain)}: {" ".join(map(plain, chain))}' for chain in self.chains]
        return '\n'.join(lines)


def mobility_of(
    solver: Solver, closure_order: Iterable[str] = (), q: Array | None = None
) -> Mobility:
    """
    Return the mobility of a graph.

    Parameters
    ----------
    solver : Solver
        Of the graph.
    closure_order : iterable of str
        Names of closures: which keep their rows where some are redundant. Those not named follow
        in order of discovery.
    q : ndarray, shape (nq,), optional
        Configuration [rad or m]; None = the joints' present values.

    Notes
    -----
    Joint limits play no part: a value at its limit is free. Rows that are redundant but for the
    rounding of the description count as redundant, see `Solver.redundancies`.

    """
    tree = solver.tree
    place = {name: at for at, name in enumerate(closure_order)}
    closures = (request_of(joint) for joint in tree.closers if not isinstance(joint, Goal))
    requests = [request for request in closures if request.takes_part]
    requests.sort(key=lambda request: place.get(request.name, len(place)))
    problem, options = Problem(tree, requests), SolverOptions()
    problem.refresh(options)
    table = JointTable(tree)
    # Without limits every ball joint that is not locked has its columns per turn, which are
    # independent even where its Euler angles are not.
    rows = table.rows.copy()
    rows[JOINT_LOWER], rows[JOINT_UPPER] = -np.inf, np.inf
    free = rows[JOINT_WINDOW] > 0.0
    free[[follower for follower, _, _ in table.followers]] = False
    if q is None:
        q = np.array([joint.dof_values[dof] for joint, dof in tree.owner])
    loops = []
    redundancies = {frozenset(each.closures): each for each in solver.redundancies}
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise(q, rows, options.packed())
        _, by_size, _ = chain.linearise_by_size(q, rows, options.packed())
        redundancy = redundancies.get(frozenset(chain.names.constraints))
        jacobian = jacobian[:, free[chain.flat.var_q]]
        by_size = without_rounding(by_size, free[chain.flat.var_q], redundancy)
        if redundancy is not None:
            columns = chain.flat.units[free[chain.flat.var_q]]
            jacobian = by_size * chain.flat.row_units[:, None] / columns
        moved = set(chain.flat.var_q.tolist())
        moved |= {follower for follower, master in table.masters.items() if master in moved}
        loops.append(
            _Loops(
                tuple(tree.names[at] for at in sorted(moved)),
                tuple(zip(chain.names.constraints, chain.flat.row_counts, strict=True)),
                jacobian,
                by_size,
            )
        )
    return Mobility(int(np.count_nonzero(free)), loops)


def _redundant(
    loops: Iterable[_Loops], ranks: Callable[[list[Array], float], list[int]], zero: float
) -> dict[str, int]:
    """Return the closures that have redundant rows, and how many."""
    found: dict[str, int] = {}
    for part in loops:
        ends = np.cumsum([rows for _, rows in part.closures])
        blocks = np.split(part.by_size, ends[:-1])
        for (name, rows), rank in zip(part.closures, ranks(blocks, zero), strict=True):
            if rank < rows:
                found[name] = rows - rank
    return found


def _ranks_by_elimination(blocks: list[Array], zero: float) -> list[int]:
    """Return how many rows each block adds to the span of those before, by projecting on it."""
    span, ranks = np.zeros((0, blocks[0].shape[1])), []
    for block in blocks:
        left = block
        for _ in range(2):  # the second time takes out what rounding left
            left = left - (left @ span.T) @ span
        _, values, directions = np.linalg.svd(left, full_matrices=False)
        new = directions[values > zero]
        span = np.vstack((span, new))
        ranks.append(len(new))
    return ranks


def _ranks_by_prefix(blocks: list[Array], zero: float) -> list[int]:
    """Return the same by the rank of all rows so far: slower, but it adds up to that of all."""
    ranks = [0]
    for count in range(1, len(blocks) + 1):
        values = np.linalg.svd(np.vstack(blocks[:count]), compute_uv=False)
        ranks.append(int(np.sum(values > zero)))
    return [after - before for before, after in pairwise(ranks)]


def _singular_values(loops: Iterable[_Loops]) -> Array:
    """Return those that ranks go by, of all chains."""
    values = [np.linalg.svd(part.by_size, compute_uv=False) for part in loops]
    return np.concatenate([np.zeros(0), *values])


def _zero(singular_values: Array) -> float:
    """
    Return up to what a singular value counts as zero.

    The floor keeps the rounding of lengths of some metres from counting where nothing else is.
    """
    return RANK_TOLERANCE * float(max(singular_values.max(initial=0.0), 1e-6))
