"""The mobility of a mechanism: its degrees of freedom with the loops closed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

from ik_node.display import printable, public_names
from ik_node.errors import counted, listed
from ik_node.model.request import closure_requests
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import zero_of
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class _Loops(NamedTuple):
    """The closures of one independent chain at one configuration."""

    joint_names: tuple[str, ...]
    closures: tuple[tuple[str, int], ...]  # name and number of rows
    jacobian: Array  # (rows, values of the chain that are free), [m] and [rad]
    by_size: Array  # the same in characteristic lengths, by which ranks are decided


class Mobility(int):
    """
    The number of degrees of freedom at one configuration with the loops closed.

    It is the number of free values less the rank of the closures' Jacobian, as an int with
    additional attributes. Made by `mobility_of` and `Robot.mobility`.

    Attributes
    ----------
    free : int
        Number of values that are neither locked nor coupled.
    closure_rows : int
        Number of rows of all closures.
    chains : list of tuple of str
        Names of the values in each independent chain of the closures, including locked and
        coupled ones.
    singular_values : ndarray, shape (at most closure_rows,)
        Singular values of the closures' Jacobian, rows in [m] and [rad], values in [rad or m];
        descending.

    Examples
    --------
    >>> import ik_node as ik
    >>> mobility = ik.load_robot('fivebar').mobility
    >>> int(mobility)
    2
    >>> mobility.rank, mobility.gruebler, mobility.redundant_rows, mobility.redundant_closures
    (2, -1, 3, {'pin': 3})
    >>> mobility.implied_rows, mobility.frozen, mobility.condition > 1.0, len(mobility.facts())
    ({'pin': (2, 3, 4)}, [], True, 10)
    >>> mobility.report().splitlines()[0]
    'mobility 2: 4 free values, 5 closure rows of rank 2'

    """

    free: int
    closure_rows: int
    chains: list[tuple[str, ...]]
    singular_values: Array
    _loops: tuple[_Loops, ...]
    _zero: float  # singular values by size up to this count as zero

    def __new__(cls, free: int, loops: Iterable[_Loops] = ()) -> Mobility:
        """Return the mobility for a number of free values and the closures of each chain."""
        kept = tuple(loops)
        values, by_size = (
            np.concatenate([np.zeros(0), *(np.linalg.svd(m, compute_uv=False) for m in matrices)])
            for matrices in ([part.jacobian for part in kept], [part.by_size for part in kept])
        )
        zero = float(zero_of(by_size))
        self = super().__new__(cls, free - np.count_nonzero(by_size > zero))
        self.free = int(free)
        self.closure_rows = sum(len(part.jacobian) for part in kept)
        self.chains = [part.joint_names for part in kept if part.joint_names]
        self.singular_values = np.sort(values)[::-1]
        self._loops, self._zero = kept, zero
        return self

    _internal = tuple(name for name in dir(int) if name[0] != '_')
    __dir__ = public_names
    __str__ = int.__repr__

    def __repr__(self) -> str:
        return f'Mobility({self.report().splitlines()[0].removeprefix("mobility ")})'

    def __reduce__(self) -> tuple[Any, ...]:
        return Mobility, (self.free, self._loops)

    @property
    def rank(self) -> int:
        """Return the number of closure rows that are independent here."""
        return self.free - int(self)

    @property
    def gruebler(self) -> int:
        """Return free values less closure rows, the Gruebler-Kutzbach count."""
        return self.free - self.closure_rows

    @property
    def redundant_rows(self) -> int:
        """
        Return the number of closure rows that other rows imply here.

        Examples
        --------
        >>> import ik_node as ik
        >>> ik.load_robot('fivebar').mobility.redundant_rows  # a planar loop in space
        3

        """
        return self.closure_rows - self.rank

    @cached_property
    def redundant_closures(self) -> dict[str, int]:
        """
        Return the number of redundant rows of each closure that has any.

        Notes
        -----
        The rows of a closure that the closures before it imply are redundant: a closure counts by
        how much it raises the rank of all rows so far. The numbers add up to `redundant_rows`.

        """
        result: dict[str, int] = {}
        for part in self._loops:
            end, rank = 0, 0
            for name, rows in part.closures:
                end, before = end + rows, rank
                values = np.linalg.svd(part.by_size[:end], compute_uv=False)
                rank = int(np.sum(values > self._zero))
                if rank - before < rows:
                    result[name] = rows - rank + before
        return result

    @cached_property
    def implied_rows(self) -> dict[str, tuple[int, ...]]:
        """
        Return the indices, within each closure, of the rows that earlier rows imply.

        If a combination of rows is redundant, the last one of them counts as redundant.
        """
        result: dict[str, tuple[int, ...]] = {}
        for part in self._loops:
            names = [(name, row) for name, rows in part.closures for row in range(rows)]
            span = np.zeros((0, part.by_size.shape[1]))
            for (name, row), left in zip(names, part.by_size, strict=True):
                for _ in range(
                    2
                ):  # the second projection removes the rounding errors of the first
                    left = left - (span @ left) @ span
                size = float(np.linalg.norm(left))
                if size > self._zero:
                    span = np.vstack((span, left / size))
                else:
                    result[name] = (*result.get(name, ()), row)
        return result

    @property
    def frozen(self) -> list[tuple[str, ...]]:
        """Return the closures of each chain whose values cannot move at all."""
        return [
            tuple(name for name, _ in part.closures)
            for part in self._loops
            if part.by_size.shape[1]
            and np.linalg.matrix_rank(part.by_size, tol=self._zero) == part.by_size.shape[1]
        ]

    @property
    def condition(self) -> float:
        """Return the ratio of the largest to the smallest nonzero singular value; NaN if none."""
        if not self.rank:
            return float('nan')
        return float(self.singular_values[0] / self.singular_values[self.rank - 1])

    def facts(self) -> dict[str, Any]:
        """Return all attributes in plain types, as for JSON; `condition` is None if it is NaN."""
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
        """
        Return a text of several lines; `str` returns the number alone.

        Examples
        --------
        >>> import ik_node as ik
        >>> print(ik.load_robot('fivebar').mobility.report().splitlines()[0])
        mobility 2: 4 free values, 5 closure rows of rank 2

        """
        lines = [
            f'mobility {int(self)}: {counted(self.free, "free value")}, '
            f'{counted(self.closure_rows, "closure row")} of rank {self.rank}'
        ]
        if self.redundant_rows:
            shares = listed(f'{name} {rows}' for name, rows in self.redundant_closures.items())
            are = 'row is' if self.redundant_rows == 1 else 'rows are'
            lines.append(
                f'the Gruebler count is {self.gruebler}: {self.redundant_rows} {are} redundant '
                f'here ({shares})'
            )
        if self.rank:
            lines.append(
                f'singular values {self.singular_values[0]:.3g} to '
                f'{self.singular_values[self.rank - 1]:.3g}, condition {self.condition:.3g}'
            )
        lines += [f'chain of {len(chain)}: {" ".join(chain)}' for chain in self.chains]
        return printable(lines)


def mobility_of(
    solver: Solver, closure_order: Iterable[str] = (), q: Array | None = None
) -> Mobility:
    """
    Return the mobility of a graph.

    `closure_order`: names of closures. Of redundant rows, those of the closures later in this
    order count as redundant. Closures that are not named follow in order of discovery. `q` (nq,):
    configuration [rad or m]; None = the joints' present values.

    Notes
    -----
    Joint limits are not considered: a value at its limit is free. Rows that are redundant up to
    rounding count as redundant, see `Solver.redundancies`.

    """
    tree = solver.tree
    place = {name: index for index, name in enumerate(closure_order)}
    requests = closure_requests(tree)
    requests.sort(key=lambda request: place.get(request.name, len(place)))
    problem, options = Problem(tree, requests, redundancies=solver.redundancies), SolverOptions()
    problem.refresh(options)
    table = JointTable(tree)
    # Without limits the columns of every unlocked ball joint are rotations about the axes of its
    # turned frame, which are independent even in gimbal lock.
    rows, free = table.without_limits(table.rows), ~table.locked
    free[[follower for follower, _, _ in table.followers]] = False
    if q is None:
        q = np.array([joint._dof_values[dof] for joint, dof in tree.owner])
    loops = []
    for chain in problem.chains:
        moves = free[chain.flat.var_q]
        _, by_size, _ = chain.linearise_by_size(q, rows, options.packed())
        by_size = by_size[:, moves]
        if chain.slack > 0.0:
            left, values, right = np.linalg.svd(by_size, full_matrices=False)
            by_size = left * np.where(values > chain.slack, values, 0.0) @ right
        moved = set(chain.flat.var_q.tolist())
        moved |= {follower for follower, master in table.masters.items() if master in moved}
        loops.append(
            _Loops(
                tuple(tree.names[index] for index in sorted(moved)),
                tuple(zip(chain.names.constraints, chain.flat.row_counts, strict=True)),
                by_size * chain.flat.row_units[:, None] / chain.flat.units[moves],
                by_size,
            )
        )
    return Mobility(int(np.count_nonzero(free)), loops)
