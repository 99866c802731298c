"""The columns that move each constraint, the independent chains, and the length of each chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import dist, hypot, inf

from ik_node.model.constraint import Goal
from ik_node.model.link import Link, with_mass
from ik_node.model.request import Request
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CarriedMass:
    """The masses of a link and of all links below it, by the column that carries them."""

    total: float  # Total mass [kg]
    # Column (-1 = root frame) -> mass [kg] and first moment of mass, sum of m_i p_i, shape (3,)
    # [kg m], column frame
    by_column: dict[int, tuple[float, Array]]


def carried_mass(tree: Tree, link: Link) -> CarriedMass:
    """Return the masses of a link and all links below; raise TopologyError if none has one."""
    by_column: dict[int, tuple[float, Array]] = {}
    bodies = with_mass(link.name, link.links_below())
    for body in bodies:
        column, pose = tree.carrier[body]
        mass, moment = by_column.get(column, (0.0, np.zeros(3)))
        place = pose[:3, :3] @ body.centre_of_mass + pose[:3, 3]
        by_column[column] = (mass + body.mass, moment + body.mass * place)
    return CarriedMass(sum(body.mass for body in bodies), by_column)


@dataclass(frozen=True)
class Support:
    """
    The columns that move the two frames of a constraint.

    If the rows are expressed in the axes of A or B, a column that carries both frames is left out,
    because it does not change the rows.
    """

    a_columns: tuple[int, ...]  # Columns that move frame A
    b_columns: tuple[int, ...]  # Columns that move frame B
    mass: CarriedMass | None = None  # The masses of a centre of mass; None for the other kinds
    # Columns that move each of the frames that a goal of a user sees; all are in `a_columns`
    seen: tuple[tuple[int, ...], ...] = ()
    every: bool = False  # True: its rows depend on all variables of the chain

    @property
    def ends(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the number of each end in the kernels, and the columns that move it."""
        return [*enumerate(self.seen, 1)] or [(1, self.a_columns), (-1, self.b_columns)]


@dataclass(frozen=True)
class Chain:
    """Constraints that share free joint values and are therefore solved together."""

    requests: tuple[int, ...]  # Indices of the constraints, closures first
    masters: tuple[int, ...]  # Columns whose values are free, ascending


def ancestors(tree: Tree, column: int) -> list[int]:
    """Return a column and all columns that carry it, from the root outwards."""
    path = []
    while column >= 0:
        path.append(column)
        column = tree.columns[column].parent
    return path[::-1]


def beyond_fork(a: Sequence[int], b: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return two paths from the root without the columns that they share."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    return list(a[shared:]), list(b[shared:])


def with_ancestors(tree: Tree, columns: Iterable[int]) -> set[int]:
    """Return the given columns and all columns that carry them."""
    result: set[int] = set()
    for column in columns:
        while column >= 0 and column not in result:
            result.add(column)
            column = tree.columns[column].parent
    return result


def support_of(tree: Tree, request: Request) -> Support:
    """Return the columns that move frame A and frame B of a constraint."""
    if request.kind == 'avoid':  # by the variables of the whole chain
        return Support((), (), every=True)
    if request.kind == 'coupling':
        masters = (column for column, _ in request.coupling.terms)
        return Support((request.coupling.column, *masters), ())
    if request.seen:
        seen = tuple(tuple(ancestors(tree, tree.carrier[link][0])) for link in request.seen)
        return Support(tuple(sorted({column for path in seen for column in path})), (), None, seen)
    b = [] if request.base is None else ancestors(tree, tree.carrier[request.base][0])
    if request.kind == 'centre_of_mass' and isinstance(request.link, Link):
        mass = carried_mass(tree, request.link)
        moved = with_ancestors(tree, mass.by_column)
        return Support(tuple(sorted(moved)), tuple(b), mass)
    a = ancestors(tree, tree.carrier[request.link][0])
    if request.axes != 'world' or request.kind != 'frame':
        a, b = beyond_fork(a, b)
    return Support(tuple(a), tuple(b))


def find_chains(
    tree: Tree,
    requests: Sequence[Request],
    supports: Sequence[Support],
    together: Sequence[int] | None = None,
) -> list[Chain]:
    """
    Split the constraints into independent chains, see theory.md, section 11.

    Two constraints belong to the same chain if a free joint value moves both (union-find). The
    grouping does not depend on the order of the roots or of the constraints. If `together` is
    given, there is one chain of all constraints, whose free columns include those given.
    """
    leader: dict[int, int] = {}

    def find(master: int) -> int:
        while leader[master] != master:
            leader[master] = leader[leader[master]]
            master = leader[master]
        return master

    moved = [
        sorted({tree.columns[c].master for c in (*s.a_columns, *s.b_columns)}) for s in supports
    ]
    if together is not None:
        free = {*together, *(master for masters in moved for master in masters)}
        order = sorted(range(len(requests)), key=lambda index: requests[index].is_goal)
        return [Chain(tuple(order), tuple(sorted(free)))]
    for masters in moved:
        for master in masters:
            leader.setdefault(master, master)
            leader[find(master)] = find(masters[0])
    groups: dict[int, list[int]] = {}
    for index, masters in enumerate(moved):
        # A constraint that no joint moves is a chain of its own: no solve can change its residual.
        groups.setdefault(find(masters[0]) if masters else -1 - index, []).append(index)
    chains = []
    for key, members in groups.items():
        own = tuple(sorted(m for m in leader if key >= 0 and find(m) == key))
        ordered = sorted(members, key=lambda index: requests[index].is_goal)
        chains.append(Chain(tuple(ordered), own))
    return chains


# -- the characteristic length of a chain, which makes metres and radians comparable

# Lengths below this are rounding errors of zero [m].
_SMALLEST = 1e-12


def characteristic_length(
    tree: Tree, requests: Sequence[Request], supports: Sequence[Support], chain: Chain
) -> float:
    """
    Return the characteristic length of a chain [m].

    It is proportional to the size of the mechanism and does not depend on the joint values, the
    names, the order of joints and constraints, or the position of the mechanism: half of the
    longest path of its closures and goals. If that is zero: half of the longest path to any frame
    of the tree; else the longest finite travel of a prismatic joint; else 1.

    Notes
    -----
    The path of a goal leads from the first joint that moves its link to the link, through the
    origins of all joints in between, with all joint values at zero. The path of a closure leads
    around its loop. Half of the path is the average lever arm of the joints: the distance that
    one radian of a joint moves the end by. See docs/decisions/0015.

    """
    longest = max(
        (_path(tree, requests[index], supports[index]) for index in chain.requests), default=0.0
    )
    if longest < _SMALLEST:
        longest = _longest_path(tree)
    if longest < _SMALLEST:
        travels = (_travel(tree, column) for column in range(len(tree.columns)))
        longest = 2.0 * max(travels, default=0.0)
    return 0.5 * longest if longest >= _SMALLEST else 1.0


def goes_by_travels(tree: Tree) -> bool:
    """Return True if the tree has no lengths, so that limits of prismatic joints set the scale."""
    return _longest_path(tree) < _SMALLEST


def _path(tree: Tree, request: Request, support: Support) -> float:
    """Return the length of the path of a goal, or of the loop of a closure [m]."""
    if request.kind == 'coupling':
        return 0.0
    if support.mass is not None:
        points = [(index, p / m) for index, (m, p) in support.mass.by_column.items()]
    else:
        points = [(index, _place(pose)) for index, pose in (tree.carrier[x] for x in request.seen)]
    if points:
        return max(_length(tree, ancestors(tree, index), point) for index, point in points)
    column, carrier = tree.carrier[request.link]
    place_a = _place(carrier @ request.offset)
    path_a = ancestors(tree, column)
    path_b: list[int] = []
    place_b: Array | None = None
    if request.base is not None:
        column, carrier = tree.carrier[request.base]
        path_b = ancestors(tree, column)
        # The target pose in the base is left out, because it may change from solve to solve.
        place_b = _place(carrier)
    path_a, path_b = beyond_fork(path_a, path_b)
    reach = _length(tree, path_a, place_a)
    if place_b is None or (request.is_goal and not path_b):
        return reach
    ends = [
        _place(tree.columns[path[0]].offset) if path else place
        for path, place in ((path_a, place_a), (path_b, place_b))
    ]
    return reach + _length(tree, path_b, place_b) + dist(*ends)


def _length(tree: Tree, path: Sequence[int], last: Array) -> float:
    """Return the length of a path from its first column to a point in its last column [m]."""
    if not path:
        return 0.0
    return sum(hypot(*_place(tree.columns[index].offset)) for index in path[1:]) + hypot(*last)


def _longest_path(tree: Tree) -> float:
    """Return the longest path from a frame to the first column that carries it [m]."""
    reach = list[float]()
    for column in tree.columns:
        # The offset of the first column is the position of the robot, which does not count.
        own = 0.0 if column.parent < 0 else reach[column.parent] + hypot(*_place(column.offset))
        reach.append(own)
    return max(
        (
            reach[column] + hypot(*_place(carrier))
            for frame, (column, carrier) in tree.carrier.items()
            if column >= 0 and not isinstance(frame, Goal)
        ),
        default=0.0,
    )


def _place(pose: Array) -> Array:
    return pose[:3, 3]


def _travel(tree: Tree, column: int) -> float:
    joint, dof = tree.columns[column].joint, tree.columns[column].dof
    travel = float(joint._max_dof_limit[dof] - joint._min_dof_limit[dof])
    return travel if not dof.is_rotation and travel < inf else 0.0
