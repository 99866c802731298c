"""Modes of a mechanism: the signs of the determinants of its loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any, NamedTuple

from ik_node.errors import OptionError
from ik_node.kernels.layout import BLOCK, JOINT_WINDOW
from ik_node.model.link import Connector, Link
from ik_node.solver.drive import drive_in_parts
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.states import state_draws
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# A square part of the Jacobian of a chain, whose determinant has a sign: its size and where its
# elements are, as `kernels.external_step.determinants` takes them, and a usual determinant.
Block = tuple[ChainProblem, NDArray[np.int64], float]

# A number of a Jacobian that is never larger is zero; a pivot below this share of the largest one
# depends on others; a determinant below this share of its usual size is singular.
STRUCTURAL, DEPENDENT, SINGULAR = 1e-9, 1e-6, 1e-9
# A path keeps a determinant farther from zero than this.
CLEAR = 1e-3
# Configurations of a roadmap, edges from each, and what counts as the same configuration.
ROADMAP, NEIGHBOURS, SAME_PLACE = 600, 10, 1e-3
# Longest part of an edge, and of a drive in a mode [rad or L].
PART = 0.1
# A determinant that varies by a smaller share has no sign to change.
CONSTANT = 1e-6


class Modes:
    """
    The determinants of a mechanism, whose signs are the label of its mode.

    The direct ones are those of the closures by the passive joints: where one vanishes, the motors
    lose control (type II). The inverse ones are those of closures and goals by all joints: where
    one vanishes, the goal loses a direction (type I). A Jacobian splits into blocks that are
    solved one after the other, such as the legs of a platform, and each block has a sign of its
    own (Dulmage & Mendelsohn 1958).

    `problem`: closures and goals, with their poses. `rows`, `packed`: joint table and options.
    `motors`: indices in q of the values with a motor. `references` (n, nq): configurations with
    closed loops, not all of them singular.
    """

    def __init__(
        self,
        problem: Problem,
        rows: Array,
        packed: Array,
        motors: Sequence[int],
        references: Array,
    ) -> None:
        self._rows, self._packed, self.references = rows, packed, references
        self.direct: list[Block] = []
        self.inverse: list[Block] = []
        self.chains = [chain.with_own_workspace() for chain in problem.chains]
        for chain in self.chains:
            found = np.array([chain.linearise_by_size(q, rows, packed)[1] for q in references])
            free = rows[JOINT_WINDOW, chain.flat.var_q] > 0.0
            passive = free & ~np.isin(chain.flat.var_q, motors)
            every = row_groups(chain)
            groups = [group & ~chain.flat.one_sided for group in every]
            if motors and every[0].any():
                self.direct += _blocks(chain, found, groups[:1], passive)
            if not every[0].all():
                self.inverse += _blocks(chain, found, groups, free)

    def values(self, q: Array, blocks: Sequence[Block]) -> Array:
        """Return relative determinants at configurations (n, nq), shape (n, blocks)."""
        values = np.zeros((len(q), len(blocks)))
        for chain in self.chains:
            own = [k for k, block in enumerate(blocks) if block[0] is chain]
            if not own:
                continue
            plans, scales = [blocks[k][1] for k in own], [blocks[k][2] for k in own]
            size, largest = len(q) * len(own), max(int(plan[0]) for plan in plans)
            data = np.concatenate([q.ravel(), np.zeros(size + largest * largest)])
            plan = np.concatenate([[0, data.size, len(own)], *plans])
            plan[0] = plan.size
            # Other threads may use the workspace of the chain.
            kernels = chain.with_own_workspace().kernels
            kernels.determinants(
                np.zeros(q.shape[1]), self._rows, self._packed, plan, data, len(q)
            )
            values[:, own] = data[q.size : q.size + size].reshape(len(q), len(own)) / scales
        return values

    def label(self, q: Array) -> str:
        """Return the label of a configuration (nq,)."""
        return str(self.labels(q[None])[0])

    def labels(self, q: Array) -> NDArray[np.str_]:
        """
        Return the label of each configuration (n, nq): direct signs, '/', inverse signs.

        '0' is a singular block.
        """
        values = self.values(q, self.direct + self.inverse)
        signs = np.where(values > 0.0, '+', '-')
        signs[np.abs(values) < SINGULAR] = '0'
        signs = np.insert(signs, len(self.direct), '/', axis=1)
        return np.array([''.join(row) for row in signs], str)


def row_groups(chain: ChainProblem) -> list[NDArray[np.bool_]]:
    """Return which rows are of closures, and translations and rotations of goals, each (nr,)."""
    constraint = chain.flat.rows // BLOCK
    goal = np.array(chain.names.are_goals)[constraint]
    turned = chain.flat.rows >= Workspace(*chain.arrays).angular[constraint]
    return [~goal, goal & ~turned, goal & turned]


def main_link(links: Mapping[str, Link], closers: Iterable[Connector]) -> str:
    """Return the moving link with most loops, or else the last one; '' = none moves."""
    ends = [end.name for each in closers for end in (each.child, each.parent) if end is not None]
    moving = [name for name, link in links.items() if link.parent is not None]
    return max(moving[::-1], key=ends.count, default='')


class ModeChange(NamedTuple):
    """
    The result of `Solver.change_mode`; it is true if a path was found.

    Attributes
    ----------
    q : ndarray, shape (n, nq)
        Configurations with closed loops on the way, from the start to one in the other mode [rad
        or m]; only the start if no path was found.
    modes : ndarray of str, shape (n,)
        Their labels.
    message : str
        The reason if there is no path, or the length of the path.

    """

    q: Array
    modes: NDArray[np.str_]
    message: str

    def __bool__(self) -> bool:
        return len(self.q) > 1


def path_to_mode(solver: Any, wanted: str, q: Array) -> ModeChange:
    """
    Find a path of closed configurations from q (nq,) to another mode, see `Solver.change_mode`.

    It goes along the edges of a probabilistic roadmap (Kavraki et al. 1996): straight lines of the
    motors between configurations, the shortest ones first (Dijkstra 1959).
    """
    modes, names = solver.modes(), getattr(solver.source, 'actuated', [])
    if not modes.direct:
        raise OptionError('mode', wanted, 'a mode of a robot with loops and motors')
    table, units = solver.refresh().table, solver.problem(()).units
    motors = [index for index in table.places(names) if index not in table.masters]
    own = modes.label(q)
    stay = partial(ModeChange, q[None], np.array([own]))
    direct, aim = (each.partition('/')[0] for each in (own, wanted))
    if wanted == own:
        return stay('the configuration is in that mode')
    if len(wanted) != len(own) or '/' not in wanted:
        raise OptionError('mode', wanted, f'a label such as {own}')
    if aim != direct:
        differ = next(k for k, (a, b) in enumerate(zip(own, wanted, strict=True)) if a != b)
        where = f'a type II singularity, where direct determinant {differ} vanishes,'
        return stay(f'{where} separates {own} from {wanted}')
    draw = state_draws(solver._without_restarts(), names, np.random.default_rng(0), 1)
    nodes = np.concatenate([q[None], draw(ROADMAP)])
    labels = modes.labels(nodes)
    same = np.char.startswith(labels, f'{direct}/')
    nodes, labels = nodes[same], labels[same]
    signs = np.sign(modes.values(q[None], modes.direct))

    def is_clear(_: Array, there: Array) -> bool:
        """Return True if no direct determinant has changed its sign, or nearly."""
        return bool((modes.values(there[None], modes.direct) * signs > CLEAR).all())

    least, waiting = np.full(len(nodes), np.inf), [(0.0, 0, [q[None]])]
    least[0] = 0.0
    while waiting:
        length, at, way = heappop(waiting)
        if length > least[at]:
            continue
        if labels[at] == wanted:
            path = np.concatenate(way)
            text = f'a path of {len(path)} configurations, {length:.3g} rad or m of the motors'
            return ModeChange(path, modes.labels(path), text)
        here = way[-1][-1]
        gaps = table.difference(nodes, here) / units
        # The whole configuration counts, since motor values alone do not tell assemblies apart.
        near = np.argsort(np.linalg.norm(gaps, axis=1))[1 : NEIGHBOURS + 1]
        for other in near.tolist():
            reach = length + float(np.linalg.norm(gaps[other][motors]))
            if reach >= least[other]:
                continue
            there = here + gaps[other] * units
            ends = {index: float(there[index]) for index in motors}
            parts, last = drive_in_parts(
                solver._drive, here, ends, units, PART, is_clear, least=1.0
            )
            arrived = bool(parts) and parts[-1] is last and last.converged
            if arrived and np.abs((last.q - there) / units).max() < SAME_PLACE:
                least[other] = reach
                heappush(waiting, (reach, other, [*way, np.array([each.q for each in parts])]))
    return stay(f'no path from {own} to {wanted} was found along {len(nodes)} configurations')


def _blocks(
    chain: ChainProblem, jacobians: Array, groups: Iterable[NDArray[np.bool_]], free: Array
) -> list[Block]:
    """Return the blocks of a Jacobian (n, nr, nv) whose determinants change."""
    columns = np.flatnonzero(free)
    reference = max(jacobians, key=lambda each: smallest_pivot(each[:, columns]))
    rows = independent_rows(reference[:, columns], map(np.flatnonzero, groups))
    if len(rows) < len(columns):
        chosen = independent_rows(reference[rows][:, columns].T, [range(len(columns))])
        columns = columns[sorted(chosen)]
    pattern = np.abs(jacobians[:, rows][:, :, columns]).max(axis=0) > STRUCTURAL
    # Imported here, because a node that finds no modes needs no SciPy.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    match = maximum_bipartite_matching(csr_array(pattern.astype(np.int8)), perm_type='column')
    if not len(rows) or (match < 0).any():
        return []
    # Row k is solved for the column that it is matched with, and needs the other columns.
    _, group_of = connected_components(csr_array(pattern[:, match]), connection='strong')
    made = []
    elements = 1.0 + np.arange(Workspace(*chain.arrays).jac.size)
    index_of = chain.flat.dense(elements).astype(np.int64) - 1
    for g in sorted(set(group_of.tolist()), key=lambda each: int(min(match[group_of == each]))):
        own = group_of == g
        # Elimination is short if columns with few elements come first.
        order = np.argsort(pattern[own][:, match[own]].sum(axis=0), kind='stable')
        part = np.ix_(np.array(rows)[own], columns[match[own]][order])
        values = np.linalg.det(jacobians[(slice(None), *part)])
        size = float(np.abs(values).max())
        if np.ptp(values) > CONSTANT * size:
            plan = np.concatenate([[len(order)], index_of[part].ravel()])
            made.append((chain, plan, size))
    return made


def independent_rows(matrix: Array, groups: Iterable[Iterable[int]]) -> list[int]:
    """Return rows of a matrix that do not depend on others, by groups, the largest first."""
    left, chosen = matrix.copy(), list[int]()
    largest = np.linalg.norm(matrix, axis=1).max(initial=STRUCTURAL)
    for group in groups:
        among = [int(row) for row in group]
        while among:
            sizes = np.linalg.norm(left[among], axis=1)
            best = int(np.argmax(sizes))
            if sizes[best] <= DEPENDENT * largest:
                break
            chosen.append(among.pop(best))
            axis = left[chosen[-1]] / sizes[best]
            left -= np.outer(left @ axis, axis)
    return chosen


def smallest_pivot(matrix: Array) -> float:
    """Return the rank of a matrix plus its smallest singular value above zero, at most 1."""
    values = np.linalg.svd(matrix, compute_uv=False)
    counted = values[values > DEPENDENT * values.max(initial=STRUCTURAL)]
    return float(len(counted) + counted.min(initial=1.0))
