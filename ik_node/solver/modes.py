"""Modes of a mechanism: the signs of the determinants of its loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ik_node.errors import OptionError
from ik_node.kernels.layout import BLOCK, JOINT_WINDOW
from ik_node.model.link import Connector, Link
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import bind_chain, Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# A number of a Jacobian that is never larger is zero; a pivot below this share of the largest one
# depends on others; a determinant below this share of its usual size is singular.
STRUCTURAL, DEPENDENT, SINGULAR = 1e-9, 1e-6, 1e-9
# A path keeps a determinant farther from zero than this.
CLEAR = 1e-3
# Edges from each configuration of a roadmap.
NEIGHBOURS = 10
# A determinant that varies by a smaller share has no sign to change.
CONSTANT = 1e-6


class Block(NamedTuple):
    """
    A square part of the Jacobian of one chain, whose determinant has a sign.

    `plan`: its size and where its elements are, as `kernels.external_step.determinants` takes it.
    """

    chain: ChainProblem
    plan: Ints
    scale: float


class Modes:
    """
    The determinants of a mechanism, whose signs are the label of its mode.

    The direct ones are those of the closures by the passive joints: where one vanishes, the motors
    lose control (type II). The inverse ones are those of closures and goals by all joints: where
    one vanishes, the goal loses a direction (type I). A Jacobian splits into blocks that are
    solved one after the other, such as the legs of a platform, and each block has a sign of its
    own (Dulmage & Mendelsohn 1958).

    Parameters
    ----------
    problem : Problem
        Closures and goals, with their poses.
    rows, packed : ndarray
        Joint table and options.
    motors : sequence of int
        Indices in q of the values with a motor.
    references : ndarray, shape (n, nq)
        Configurations with closed loops, not all of them singular.

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
            found = self._jacobian(chain, references)
            free = rows[JOINT_WINDOW, chain.flat.var_q] > 0.0
            passive = free & ~np.isin(chain.flat.var_q, motors)
            every = row_groups(chain)
            groups = [group & ~chain.flat.one_sided for group in every]
            if motors and every[0].any():
                self.direct += _blocks(chain, found, groups[:1], passive)
            if not every[0].all():
                self.inverse += _blocks(chain, found, groups, free)

    def _jacobian(self, chain: ChainProblem, q: Array) -> Array:
        return np.array([chain.linearise_by_size(each, self._rows, self._packed)[1] for each in q])

    def values(self, q: Array, *, direct: bool = True, inverse: bool = True) -> Array:
        """Return all relative determinants at configurations (n, nq), shape (n, blocks)."""
        blocks = [*self.direct * direct, *self.inverse * inverse]
        values = np.zeros((len(q), len(blocks)))
        for chain in self.chains:
            own = [k for k, block in enumerate(blocks) if block.chain is chain]
            found = _determinants(
                chain, q, self._rows, self._packed, [blocks[k].plan for k in own]
            )
            values[:, own] = found / [blocks[k].scale for k in own]
        return values

    def direct_values(self, q: Array) -> Array:
        """Return the relative direct determinants at a configuration (nq,), shape (blocks,)."""
        return np.asarray(self.values(q[None], inverse=False)[0])

    def label(self, q: Array) -> str:
        """Return the label of a configuration (nq,)."""
        return str(self.labels(q[None])[0])

    def labels(self, q: Array) -> NDArray[np.str_]:
        """
        Return the label of each configuration (n, nq): direct signs, '/', inverse signs.

        '0' is a singular block.
        """
        values = self.values(q)
        signs = np.where(values > 0.0, '+', '-')
        signs[np.abs(values) < SINGULAR] = '0'
        middle = len(self.direct)
        return np.array([''.join(row[:middle]) + '/' + ''.join(row[middle:]) for row in signs])


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
    return max(moving, key=lambda name: (ends.count(name), moving.index(name)), default='')


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


def path_to_mode(
    modes: Modes,
    states: Array,
    q: Array,
    wanted: str,
    motors: Sequence[int],
    units: Array,
    table: JointTable,
    drive: Callable[[Array, Array], Array | None],
) -> ModeChange:
    """
    Find a path of closed configurations to another mode on which no direct determinant vanishes.

    It goes along the edges of a probabilistic roadmap (Kavraki et al. 1996): straight lines of the
    motors between configurations, the shortest ones first (Dijkstra 1959).

    `states` (n, nq): configurations with closed loops. `drive`: function of a configuration and of
    another one to whose motor values the mechanism is driven without a singularity; None = it does
    not get there.
    """
    own = modes.label(q)
    direct = own.partition('/')[0]
    if wanted == own:
        return ModeChange(q[None], np.array([own]), 'the configuration is in that mode')
    aim = wanted.partition('/')[0]
    if len(wanted) != len(own) or '/' not in wanted:
        raise OptionError('mode', wanted, f'a label such as {own}')
    if aim != direct:
        differ = [k for k, (a, b) in enumerate(zip(direct, aim, strict=False)) if a != b]
        where = f'a type II singularity, where direct determinant {differ[0]} vanishes,'
        return ModeChange(q[None], np.array([own]), f'{where} separates {own} from {wanted}')
    nodes = np.concatenate([q[None], states])
    labels = modes.labels(nodes)
    same = np.array([label.partition('/')[0] == direct for label in labels.tolist()])
    nodes, labels = nodes[same], labels[same]
    cost, before = {0: 0.0}, {0: (-1, q[None])}
    waiting, done = [(0.0, 0)], set()
    while waiting:
        length, at = heappop(waiting)
        if at in done:
            continue
        done.add(at)
        here = before[at][1][-1]
        if labels[at] == wanted:
            parts: list[Array] = []
            while at >= 0:
                at, part = before[at]
                parts.append(part)
            path = np.concatenate(parts[::-1])
            text = f'a path of {len(path)} configurations, {length:.3g} rad or m of the motors'
            return ModeChange(path, modes.labels(path), text)
        ways = table.difference(nodes, here) / units
        # The whole configuration counts, since motor values alone do not tell assemblies apart.
        near = np.argsort(np.linalg.norm(ways, axis=1))[1 : NEIGHBOURS + 1]
        for other in near.tolist():
            reach = length + float(np.linalg.norm(ways[other][motors]))
            if other in done or reach >= cost.get(other, np.inf):
                continue
            way = drive(here, here + ways[other] * units)
            if way is None:
                continue
            cost[other], before[other] = reach, (at, way)
            heappush(waiting, (reach, other))
    reason = f'no path from {own} to {wanted} was found along {len(nodes)} configurations'
    return ModeChange(q[None], np.array([own]), reason)


def _determinants(
    chain: ChainProblem, q: Array, rows: Array, packed: Array, plans: Sequence[Ints]
) -> Array:
    """Return determinants at configurations (n, nq), shape (n, plans), in an own workspace."""
    if not plans:
        return np.zeros((len(q), 0))
    space = Workspace.of(chain.flat)
    space.constraints[:] = chain.table.ravel()
    size, largest = len(q) * len(plans), max(int(plan[0]) for plan in plans)
    data = np.concatenate([q.ravel(), np.zeros(size + largest * largest)])
    plan = np.concatenate([[0, data.size, len(plans)], *plans]).astype(np.int64)
    plan[0] = plan.size
    kernels = bind_chain(chain.flat, chain.requests, *space.arrays[2:])
    kernels.determinants(np.zeros(q.shape[1]), rows, packed, plan, data, len(q))
    return data[q.size : q.size + size].reshape(len(q), len(plans))


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
    first = {g: min(match[group_of == g]) for g in set(group_of.tolist())}
    made = []
    elements = 1.0 + np.arange(Workspace(*chain.arrays).jac.size)
    index_of = chain.flat.dense(elements).astype(np.int64) - 1
    for g in sorted(first, key=lambda each: int(first[each])):
        own = group_of == g
        # Elimination is short if columns with few elements come first.
        order = np.argsort(pattern[own][:, match[own]].sum(axis=0), kind='stable')
        part = np.ix_(np.array(rows)[own], columns[match[own]][order])
        values = np.linalg.det(jacobians[(slice(None), *part)])
        size = float(np.abs(values).max())
        if np.ptp(values) > CONSTANT * size:
            plan = np.concatenate([[len(order)], index_of[part].ravel()])
            made.append(Block(chain, plan, size))
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
