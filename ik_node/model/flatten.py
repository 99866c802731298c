"""The packed arrays of one chain that the kernels take, built once per structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ik_node.kernels.distance import ENDLESS
from ik_node.kernels.kinds import KIND_CONE, KINDS
from ik_node.kernels.layout import (
    AXES_A,
    AXES_B,
    AXES_WORLD,
    begin_of,
    BLOCK,
    FIELDS,
    pack_model,
    SIZES,
)
from ik_node.model.chains import Chain, characteristic_length, Support, with_ancestors
from ik_node.model.elimination import plan_elimination, starts
from ik_node.model.frame import Frame
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import Request
from ik_node.model.tree import Column, FREE, Tree
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Fields = dict[str, Any]  # by name, as lists or arrays

NUMBERS = {name: number for number, name in enumerate(KINDS)}
AXES = {'goal': AXES_B, 'world': AXES_WORLD, 'link': AXES_A}


@dataclass(frozen=True)
class FlatChain:
    """A chain as packed arrays."""

    ints: Ints  # The packed model, see `kernels.layout`
    floats: Floats  # The same
    requests: tuple[int, ...]  # Indices of the constraints, in the order of the rows
    var_q: Ints  # Index in q of each variable, shape (nv,)
    row_counts: tuple[int, ...]  # Number of rows of each constraint
    # Index of each row, shape (nr,), in the kernels' arrays, which have BLOCK rows per constraint
    rows: Ints

    @property
    def length(self) -> float:
        """Return the characteristic length [m], the unit of length of the kernels."""
        return float(self.floats[begin_of(self.ints, 'length')])

    @cached_property
    def units(self) -> Floats:
        """Return the unit of each variable, shape (nv,): that length [m] or 1 [rad]."""
        index = begin_of(self.ints, 'unit')
        return self.floats[index : index + len(self.var_q)]

    @cached_property
    def row_units(self) -> Floats:
        """Return the unit of each row, shape (nr,): the characteristic length [m] or 1 [rad]."""
        index = begin_of(self.ints, 'angular')
        angular = self.ints[index : index + len(self.row_counts)]
        return np.where(self.rows < angular[self.rows // BLOCK], self.length, 1.0)

    @cached_property
    def one_sided(self) -> NDArray[np.bool_]:
        """Return True for each row, shape (nr,), that counts only above 0: inequalities."""
        index = begin_of(self.ints, 'kind')
        kinds = self.ints[index : index + len(self.row_counts)]
        return np.asarray(kinds[self.rows // BLOCK] >= KIND_CONE)

    def dense(self, numbers: Floats) -> Floats:
        """Return the dense Jacobian, shape (nr, nv), of the kernels' blocks, stored by slot."""
        slot0, slot_var = begin_of(self.ints, 'slot0'), begin_of(self.ints, 'slot_var')
        columns = numbers.reshape(-1, BLOCK)
        dense = np.zeros((BLOCK * len(self.row_counts), len(self.var_q)))
        for c in range(len(self.row_counts)):
            first, last = int(self.ints[slot0 + c]), int(self.ints[slot0 + c + 1])
            variables = self.ints[slot_var + first : slot_var + last]
            dense[BLOCK * c : BLOCK * (c + 1), variables] = columns[first:last].T
        chosen: Floats = dense[self.rows]
        return chosen


class FlatBodies(NamedTuple):
    """Convex bodies and the pairs of them whose distance counts, lengths in metres."""

    # Column of the tree that carries each body, (n,); -1 = the root frame
    columns: Ints = np.zeros(0, np.int64)
    shapes: Ints = np.zeros(0, np.int64)  # (n,), see `kernels.distance`
    frames: Floats = np.zeros((0, 12))  # Frame of each body in its column, (n, 12)
    sizes: Floats = np.zeros((0, 5))  # (n, 5), see `kernels.distance` [m]
    points: Sequence[Floats] = ()  # Points of each hull in its body's frame, (p, 3) [m]; else none
    pairs: Ints = np.zeros((0, 2), np.int64)  # Bodies of each pair, (m, 2)


NO_BODIES = FlatBodies()


def _bodies(bodies: FlatBodies, length: float, local: Mapping[int, int]) -> Fields:
    """Return the fields of bodies; `local` maps columns of the tree to those packed."""
    sizes = bodies.sizes / length
    sizes[bodies.sizes[:, 4] >= ENDLESS, 4] = ENDLESS
    return {
        'body_column': [local[column] for column in bodies.columns.tolist()],
        'body_shape': bodies.shapes,
        'body_point0': starts(map(len, bodies.points)),
        'check_a': bodies.pairs[:, 0],
        'check_b': bodies.pairs[:, 1],
        'body_offset': _in_length(bodies.frames, length),
        'body_size': sizes,
        'hull_point': np.concatenate([np.zeros((0, 3)), *bodies.points]) / length,
    }


def write_body_frames(ints: Ints, floats: Floats, bodies: FlatBodies, length: float) -> None:
    """Write the frames of bodies, some of which have moved, to a packed model."""
    frames = _in_length(bodies.frames, length).ravel()
    begin = begin_of(ints, 'body_offset')
    floats[begin : begin + frames.size] = frames


def frame12(matrix: Floats) -> Floats:
    """Return a (4, 4) pose as twelve numbers: the rotation row by row, then the position."""
    return np.concatenate((matrix[:3, :3].ravel(), matrix[:3, 3]))


def flatten(
    tree: Tree,
    requests: Sequence[Request],
    supports: Sequence[Support],
    chain: Chain,
    length: float = 0.0,
    redundancies: Sequence[Redundancy] = (),
    bodies: FlatBodies = NO_BODIES,
) -> FlatChain:
    """
    Return one chain, which selects some of the requests, as packed arrays.

    `length` is the characteristic length [m]; 0 = it is computed from the chain. `redundancies`
    are those among the chain's closures.
    """
    if length == 0.0:
        length = characteristic_length(tree, requests, supports, chain)
    chosen = [requests[index] for index in chain.requests]
    moved = [supports[index] for index in chain.requests]
    variable = {master: index for index, master in enumerate(chain.masters)}
    ends = [tree.carrier[end][0] for r in chosen for end in (r.link, r.base) if end is not None]
    seen = [tree.carrier[link] for r in chosen for link in r.seen]
    followers = [index for index, c in enumerate(tree.columns) if c.master in variable]
    carriers = [column for s in moved for column in s.a_columns]
    needed = sorted(with_ancestors(tree, (*ends, *followers, *carriers, *bodies.columns.tolist())))
    local = {column: index for index, column in enumerate(needed)} | {-1: -1}
    columns = [tree.columns[index] for index in needed]
    terms = [term for request in chosen for term in _terms(tree, request, length)]
    polynomials = [c.coefficients for c in columns if c.master in variable]
    width = max([2, *map(len, polynomials), *map(len, terms)])
    row_counts = tuple(r.row_count for r in chosen)
    blocks, slots = _blocks(tree, moved, variable, local)
    carried = [needed[index] for index in blocks['entry_column']]
    first_rows = BLOCK * np.arange(len(chosen))
    bases = [(-1, np.eye(4)) if r.base is None else tree.carrier[r.base] for r in chosen]
    fields: Fields = {
        'parent': [local[c.parent] for c in columns],
        'prismatic': [not c.dof.is_rotation for c in columns],
        'column_q': [tree.q_of_column[index] for index in needed],
        'var': [variable.get(c.master, -1) for c in columns],
        'ball': [c.ball if c.master in variable else 0 for c in columns],
        'var_q': [tree.q_of_column[index] for index in chain.masters],
        'angle': [_is_angle(tree, master) for master in chain.masters],
        'a_column': [local[tree.carrier[r.link][0]] for r in chosen],
        'b_column': [local[column] for column, _ in bases],
        'kind': [NUMBERS[r.kind] for r in chosen],
        'axes': [AXES[r.axes] for r in chosen],
        'mask': [r.mask for r in chosen],
        'row_end': first_rows + np.array(row_counts, np.int64),
        'turning': first_rows + np.array([r.translation_row_count for r in chosen], np.int64),
        'angular': first_rows + np.array([r.metre_row_count for r in chosen], np.int64),
        'term0': starts(len(r.coupling.terms) + bool(r.coupling.terms) for r in chosen)[:-1],
        'term': [_padded(term, width) for term in terms],
        'offset': _frames((c.offset for c in columns), length),
        'coefficients': [
            _padded(_in_units(c.coefficients[:width], tree.columns[c.master], c, length), width)
            for c in columns
        ],
        'a_offset': _frames((tree.carrier[r.link][1] @ r.offset for r in chosen), length),
        'b_offset': _frames((pose for _, pose in bases), length),
        'length': [length],
        'unit': [_unit(tree.columns[master], length) for master in chain.masters],
        'seen0': starts(len(r.seen) for r in chosen),
        'seen_column': [local[column] for column, _ in seen],
        'seen_offset': _frames((pose for _, pose in seen), length),
        **blocks,
        **_masses(tree, moved, carried, length),
        **_groups(chosen, row_counts, redundancies),
        **plan_elimination(slots, row_counts, len(variable)),
        **_bodies(bodies, length, local),
    }
    arrays = {name: np.asarray(values) for name, values in fields.items()}
    sizes = {FIELDS[name][1]: array.size for name, array in arrays.items()}
    sizes = {name: size for name, size in sizes.items() if name in SIZES}
    sizes |= {
        'nq': len(tree.names),
        'nr': BLOCK * len(chosen),
        'nm': sizes['nb'] + sizes['edges'],
        'width': width,
        'nt': len(terms),
        'hull_points': arrays['hull_point'].size // 3,
        'solid': min(sizes['bodies'], 1),
    }
    ints, floats = pack_model(sizes, arrays)
    rows = [BLOCK * c + k for c, count in enumerate(row_counts) for k in range(count)]
    return FlatChain(
        ints,
        floats,
        chain.requests,
        np.array(fields['var_q'], np.int64),
        row_counts,
        np.array(rows, np.int64),
    )


def flatten_links(
    tree: Tree, links: Sequence[Frame], bodies: FlatBodies = NO_BODIES
) -> tuple[Ints, Floats]:
    """
    Return the packed model of some links for their forward kinematics, see `kernels.links`.

    Each link is frame A of a constraint without rows. There are no variables, because every joint
    value is given; lengths are in metres.
    """
    ends = [Request('', link, mask=0) for link in links]
    still = [Support((), ())] * len(ends)
    flat = flatten(tree, ends, still, Chain(tuple(range(len(ends))), ()), 1.0, bodies=bodies)
    return flat.ints, flat.floats


def _is_angle(tree: Tree, master: int) -> bool:
    """Return True if a full turn of a variable changes no pose, and no value."""
    counted = {c for each in tree.sums for c in (each.column, *(index for index, _ in each.terms))}
    if any(tree.columns[column].master == master for column in counted):
        return False
    moved = [c for c in tree.columns if c.master == master]
    return all(c.dof.is_rotation and tuple(c.coefficients) == (0.0, 1.0) for c in moved)


def _unit(column: Column, length: float) -> float:
    """Return the unit of a column's value in the kernels: 1 [rad] or the given length [m]."""
    return 1.0 if column.dof.is_rotation else length


def _frames(poses: Iterable[Floats], length: float) -> Floats:
    return _in_length(np.array([frame12(pose) for pose in poses]).reshape(-1, 12), length)


def _in_length(frames: Floats, length: float) -> Floats:
    """Return frames (n, 12) with their positions in a length."""
    scaled = frames.copy()
    scaled[:, 9:] /= length
    return scaled


def _terms(tree: Tree, request: Request, length: float) -> list[Floats]:
    """Return the terms of a coupling's row, follower less masters, in the kernels' units."""
    if not request.coupling.terms:
        return []
    follower = tree.columns[request.coupling.column]
    terms = [
        -_in_units(polynomial, tree.columns[column], follower, length)
        for column, polynomial in request.coupling.terms
    ]
    return [np.array(FREE), *terms]


def _in_units(
    polynomial: Sequence[float], master: Column, follower: Column, length: float
) -> Floats:
    """Return a polynomial in the kernels' units: c_p unit(master)^p / unit(follower)."""
    powers = _unit(master, length) ** np.arange(len(polynomial))
    return np.asarray(np.array(polynomial) * powers / _unit(follower, length))


def _padded(polynomial: Floats, width: int) -> Floats:
    return np.pad(polynomial, (0, width - len(polynomial)))


def _blocks(
    tree: Tree, moved: Sequence[Support], variable: dict[int, int], local: dict[int, int]
) -> tuple[Fields, list[list[int]]]:
    """
    Return the columns and variables that move each constraint.

    The fields are those of `kernels.layout.Solve` that describe the blocks of the Jacobian; the
    lists are the variables of the slots of each constraint.
    """
    flat: list[tuple[int, int, int]] = []  # column, end as in `Support.ends`, slot
    counts: list[int] = []
    slots: list[list[int]] = []
    for support in moved:
        own: dict[int, int] = {}
        first = len(flat)
        for end, path in support.ends:
            for column in path:
                var = variable[tree.columns[column].master]
                flat.append((local[column], end, own.setdefault(var, len(own))))
        counts.append(len(flat) - first)
        slots.append(list(range(len(variable))) if support.every else list(own))
    fields: Fields = {
        'entry_column': [column for column, _, _ in flat],
        'entry_side': [end for _, end, _ in flat],
        'entry_slot': [slot for _, _, slot in flat],
        'slot_var': [v for own in slots for v in own],
        'entry0': starts(counts),
        'slot0': starts(len(own) for own in slots),
    }
    return fields, slots


def _masses(tree: Tree, moved: Sequence[Support], columns: Sequence[int], length: float) -> Fields:
    """Return the mass and moment that each entry of a centre of mass carries, and its parent."""
    up: list[int] = []
    masses: list[float] = []
    moments: list[Floats] = []
    still, totals = [], []
    for support in moved:
        first = len(up)
        count = sum(len(path) for _, path in support.ends)
        own = {} if support.mass is None else support.mass.by_column
        counted = () if support.mass is None else support.a_columns
        place = {column: first + index for index, column in enumerate(counted)}
        for column in columns[first : first + count]:
            up.append(place.get(tree.columns[column].parent, -1))
            mass, moment = own.get(column, (0.0, np.zeros(3)))
            masses.append(mass)
            moments.append(moment)
        still.append(own.get(-1, (0.0, np.zeros(3)))[1])
        totals.append(1.0 if support.mass is None else support.mass.total)
    return {
        'entry_up': up,
        'entry_mass': masses,
        'entry_moment': np.array(moments) / length,
        'moment': np.array(still) / length,
        'mass': totals,
    }


def _groups(
    chosen: Sequence[Request], row_counts: Sequence[int], redundancies: Sequence[Redundancy]
) -> Fields:
    """Return the groups of redundant rows and their ranks, theory.md, section 10."""
    rows = [
        [
            BLOCK * c + k
            for c, request in enumerate(chosen)
            if not request.is_goal and request.name in redundancy.misfit
            for k in range(row_counts[c])
        ]
        for redundancy in redundancies
    ]
    return {
        'group0': starts(len(own) for own in rows),
        'group_rank': [redundancy.rank for redundancy in redundancies],
        'dense_row': [row for own in rows for row in own],
        'group_slack': [redundancy.slack for redundancy in redundancies],
    }
