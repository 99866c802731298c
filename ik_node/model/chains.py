"""Which columns move a request, and which requests are coupled: the independent chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ik_node.errors import shown, TopologyError
from ik_node.model.link import Link
from ik_node.model.request import Request
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CarriedMass:
    """
    The masses below a link, by the column that carries them.

    Attributes
    ----------
    total : float
        [kg]
    by_column : dict of int to (float, ndarray)
        Mass [kg] and mass times place (3,) [kg m] in the column's frame; -1 = root frame.

    """

    total: float
    by_column: dict[int, tuple[float, Array]]


def carried_mass(tree: Tree, link: Link) -> CarriedMass:
    """
    Gather the masses of a link and of all links below it in the tree.

    Raises
    ------
    TopologyError
        If there is none.

    """
    by_column: dict[int, tuple[float, Array]] = {}
    total = 0.0
    for body in link.links_below():
        if body.mass > 0.0:
            column, pose = tree.seat[body]
            mass, moment = by_column.get(column, (0.0, np.zeros(3)))
            place = pose[:3, :3] @ body.centre_of_mass + pose[:3, 3]
            by_column[column] = (mass + body.mass, moment + body.mass * place)
            total += body.mass
    if total == 0.0:
        raise TopologyError(
            f'{shown(link.name)} and the links below it have no mass, so no centre of mass: set '
            f'Link.mass, or give the links of the description an <inertial>'
        )
    return CarriedMass(total, by_column)


@dataclass(frozen=True)
class Support:
    """
    The columns that move a request's two ends.

    Attributes
    ----------
    a_columns, b_columns : tuple of int
        Columns that move frame A, frame B. An ancestor of both is in neither where the rows are
        counted in A's or B's axes: it moves both alike.
    mass : CarriedMass or None
        What a centre of mass is made of.

    """

    a_columns: tuple[int, ...]
    b_columns: tuple[int, ...]
    mass: CarriedMass | None = None


@dataclass(frozen=True)
class Chain:
    """
    Requests that share free joint values, to be solved together.

    Attributes
    ----------
    requests : tuple of int
        Closures first, then goals.
    masters : tuple of int
        Columns whose values are free, ascending.

    """

    requests: tuple[int, ...]
    masters: tuple[int, ...]


def ancestors(tree: Tree, column: int) -> list[int]:
    """Return a column and all that carry it, from the root on."""
    path = []
    while column >= 0:
        path.append(column)
        column = tree.columns[column].parent
    return path[::-1]


def with_ancestors(tree: Tree, columns: Iterable[int]) -> set[int]:
    """Return columns and all that carry them."""
    found: set[int] = set()
    for column in columns:
        while column >= 0 and column not in found:
            found.add(column)
            column = tree.columns[column].parent
    return found


def support_of(tree: Tree, request: Request) -> Support:
    """Find the columns that move frame A and frame B of a request."""
    b = [] if request.base is None else ancestors(tree, tree.seat[request.base][0])
    if request.kind == 'centre_of_mass':
        mass = carried_mass(tree, request.link)
        moved = with_ancestors(tree, mass.by_column)
        return Support(tuple(sorted(moved)), tuple(b), mass)
    a = ancestors(tree, tree.seat[request.link][0])
    if request.axes != 'world' or request.kind != 'frame':
        shared = 0
        while shared < min(len(a), len(b)) and a[shared] == b[shared]:
            shared += 1
        a, b = a[shared:], b[shared:]
    return Support(tuple(a), tuple(b))


def find_chains(
    tree: Tree, requests: Sequence[Request], supports: Sequence[Support]
) -> list[Chain]:
    """
    Split the requests into independent chains: union-find on the values they share.

    The order of roots and requests does not matter for who is coupled with whom.
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
    for masters in moved:
        for master in masters:
            leader.setdefault(master, master)
            leader[find(master)] = find(masters[0])
    groups: dict[int, list[int]] = {}
    for at, masters in enumerate(moved):
        # A request that nothing can move is a chain of its own: it is met, or it never will be.
        groups.setdefault(find(masters[0]) if masters else -1 - at, []).append(at)
    chains = []
    for key, members in groups.items():
        free = tuple(sorted(m for m in leader if key >= 0 and find(m) == key))
        ordered = sorted(members, key=lambda at: requests[at].is_goal)
        chains.append(Chain(tuple(ordered), free))
    return chains
