"""The order in which a step eliminates its unknowns, planned once per structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations_with_replacement

from ik_node.kernels.layout import BLOCK

# A node of the elimination graph: a constraint, or a group of variables, named by the constraints
# that all of them touch.
Node = tuple[int, ...] | int


def plan_elimination(
    slots: Sequence[Sequence[int]], row_counts: Sequence[int], variable_count: int
) -> dict[str, Sequence[int]]:
    """
    Plan the elimination of the system of a step, theory.md, eq. (7), in blocks.

    Given are the variables and the number of rows of each constraint, and the number of variables.
    Return the fields of `kernels.layout.Solve` that `kernels.factor` follows.
    """
    plan = _Plan(slots, variable_count)
    nodes = plan.order()
    blocks: list[tuple[int, list[int]]] = []  # constraint or -1, variables
    block_of: dict[int, int] = {}  # constraint -> block
    place = [-1] * variable_count
    for node in nodes:
        if isinstance(node, int):
            block_of[node] = len(blocks)
            blocks.append((node, []))
        elif node not in plan.diagonal:
            variables = plan.groups[node]
            for first in range(0, len(variables), BLOCK):
                for k, v in enumerate(variables[first : first + BLOCK]):
                    place[v] = BLOCK * len(blocks) + k
                blocks.append((-1, variables[first : first + BLOCK]))
    slot0 = starts([len(own) for own in slots])
    slot_of = {(c, v): slot0[c] + k for c, own in enumerate(slots) for k, v in enumerate(own)}
    adjacent: list[set[int]] = [set() for _ in blocks]

    def touch(one: int, other: int) -> None:
        if one != other:
            adjacent[min(one, other)].add(max(one, other))

    parts: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    links: list[tuple[int, int, int, int]] = []  # row block, column block, variable, slot
    for touched, variables in plan.groups.items():
        if touched in plan.diagonal:
            ordered = sorted(touched, key=block_of.__getitem__)
            for one, other in combinations_with_replacement(ordered, 2):
                pair = (block_of[one], block_of[other])
                touch(*pair)
                parts.setdefault(pair, []).extend(
                    (slot_of[one, v], slot_of[other, v], v) for v in variables
                )
        else:
            for c in touched:
                for v in variables:
                    touch(place[v] // BLOCK, block_of[c])
                    links.append((place[v] // BLOCK, block_of[c], v, slot_of[c, v]))
    for index in range(len(blocks)):
        for one in adjacent[index]:
            for other in adjacent[index]:
                touch(one, other)
    edges = [sorted(later) for later in adjacent]
    edge0 = starts([len(later) for later in edges])
    stored = {(index, index): index for index in range(len(blocks))}
    for index, later in enumerate(edges):
        stored |= {(index, to): len(blocks) + edge0[index] + k for k, to in enumerate(later)}
    every = [part for own in parts.values() for part in own]
    return {
        'block_constraint': [c for c, _ in blocks],
        'block_size': [row_counts[c] if c >= 0 else len(own) for c, own in blocks],
        'block_var': [v for _, own in blocks for v in [*own, *[-1] * (BLOCK - len(own))]],
        'var_place': place,
        'edge0': edge0,
        'edge_to': [to for later in edges for to in later],
        'update_at': [
            stored[pair] for later in edges for pair in combinations_with_replacement(later, 2)
        ],
        'pair_at': [stored[pair] for pair in parts],
        'part0': starts([len(own) for own in parts.values()]),
        'part_a': [a for a, _, _ in every],
        'part_b': [b for _, b, _ in every],
        'part_var': [v for _, _, v in every],
        'link_at': [
            BLOCK * BLOCK * stored[min(one, other), max(one, other)]
            + place[v] % BLOCK * (BLOCK if one < other else 1)
            for one, other, v, _ in links
        ],
        'link_stride': [1 if one < other else BLOCK for one, other, _, _ in links],
        'link_slot': [slot for _, _, _, slot in links],
    }


def starts(counts: Iterable[int]) -> list[int]:
    """Return where each of some parts begins, and the end of the last."""
    return [0, *accumulate(counts)]


class _Plan:
    """
    The graph of constraints and groups of variables, and its order of elimination.

    The order follows from a greedy minimum-cost heuristic, as in minimum-degree orderings of
    sparse matrices: the node that is cheapest to eliminate goes first. `groups` has the variables
    that touch exactly the constraints in its key; `diagonal` has the groups that are eliminated
    while their part of the system is still diagonal.
    """

    def __init__(self, slots: Sequence[Sequence[int]], variable_count: int) -> None:
        touched: list[list[int]] = [[] for _ in range(variable_count)]
        for c, own in enumerate(slots):
            for v in own:
                touched[v].append(c)
        self.groups: dict[tuple[int, ...], list[int]] = {}
        for v, constraints in enumerate(touched):
            self.groups.setdefault(tuple(constraints), []).append(v)
        self.diagonal: set[tuple[int, ...]] = set()
        self._filled: set[Node] = set()
        self._adjacent: dict[Node, set[Node]] = {c: set() for c in range(len(slots))}
        for group in self.groups:
            self._adjacent[group] = set(group)
            for c in group:
                self._adjacent[c].add(group)

    def order(self) -> list[Node]:
        """Return all nodes in the order of elimination: least operations first at each step."""
        order: list[Node] = []
        cost = {node: self._cost(node) for node in self._adjacent}
        while cost:
            best = min(cost, key=cost.__getitem__)
            order.append(best)
            del cost[best]
            reached = self._adjacent.pop(best)
            if isinstance(best, tuple) and best not in self._filled:
                self.diagonal.add(best)
            for node in reached:
                self._adjacent[node] |= reached
                self._adjacent[node] -= {node, best}
                self._filled.add(node)
            for node in reached:
                cost[node] = self._cost(node)
        return order

    def _blocks(self, node: Node) -> int:
        return 1 if isinstance(node, int) else -(-len(self.groups[node]) // BLOCK)

    def _cost(self, node: Node) -> int:
        """Return the number of row operations that the elimination of a node takes."""
        beyond = sum(self._blocks(other) for other in self._adjacent[node])
        pairs = beyond * (beyond + 1) // 2
        if isinstance(node, tuple) and node not in self._filled:
            return len(self.groups[node]) * BLOCK * pairs
        count = self._blocks(node)
        return count * (15 * (count + beyond) + 36 * (pairs + count * beyond))
