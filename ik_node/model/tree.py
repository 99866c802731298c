"""
The graph of frames as a tree of elementary motions.

A joint with several DoF is a product of elementary motions, theory.md, eq. (2). Each elementary
motion is one column. The frame of a column is oriented such that the column moves along or about
its own z axis, theory.md, eq. (3), so that all columns share one formula.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ik_node.errors import TopologyError
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Connector
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Coefficients = tuple[float, ...]

# The polynomial of a value that follows no other value.
FREE: Coefficients = (0.0, 1.0)
# Most coefficients of a composed coupling. The degree of a chain of couplings is the product of
# their degrees, so that without a bound a few couplings could fill the memory.
MOST_POWERS = 65

# The order of a joint's elementary motions in D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex).
MOTION_ORDER = (DOF.X, DOF.Y, DOF.Z, DOF.EZ, DOF.EY, DOF.EX)

# Rotations that align the z axis of a column with the axis of motion: cyclic permutations.
_TO_X = np.array(((0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0, 0, 0, 1)))
_TO_Y = np.array(((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0, 0, 0, 1)))
_ALIGN = (_TO_X, _TO_Y, np.eye(4))
_BACK = (_TO_X.T, _TO_Y.T, np.eye(4))
_HERE = np.eye(4)


@dataclass(frozen=True)
class Column:
    """One elementary motion, see theory.md, section 2."""

    joint: Joint  # The joint that moves
    dof: DOF  # The axis of the joint
    parent: int  # The column p(j) that carries this one; -1 = root frame
    # The constant offset O_j (4, 4): its frame before the motion, parent column's frame
    offset: Array
    master: int  # The column whose value it follows; its own index if its value is free
    coefficients: tuple[float, ...]  # c_i of its value, sum_i c_i x_master^i
    ball: int  # 1, 2, 3 for EZ, EY, EX of a joint that has all three of them uncoupled; else 0


@dataclass(frozen=True)
class Sum:
    """
    The coupling of a column with several masters, value = sum_k p_k(value of master k).

    The column's value stays free; the solver keeps the coupling as a row that must vanish.
    """

    column: int  # The column that follows
    terms: tuple[tuple[int, Coefficients], ...]  # Column of each master, and p_k


@dataclass
class Tree:
    """All columns of a graph, and the column that carries each frame."""

    columns: list[Column] = field(default_factory=list)  # Parents before children
    # Frame -> the column that carries it (-1 = root frame) and its pose (4, 4) in the column
    carrier: dict[Frame, tuple[int, Array]] = field(default_factory=dict)
    # Joints, closures and goals that close on a link, in order of discovery
    closers: list[Connector] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # Name of each value of q
    q_of_column: list[int] = field(default_factory=list)  # Index in q of each column's value
    # Joint and DoF of each value of q
    owner: list[tuple[Joint, DOF]] = field(default_factory=list)
    # Couplings with several masters; each follows only sums before it
    sums: list[Sum] = field(default_factory=list)

    @cached_property
    def free(self) -> frozenset[int]:
        """Return `free_values`, without regard to bodies."""
        return frozenset(free_values(self))

    @property
    def max_velocity(self) -> Array:
        """Return the largest speeds, shape (nq,) [rad/s or m/s]; inf = none."""
        return np.array([joint._max_velocity[dof] for joint, dof in self.owner], np.float64)

    @property
    def max_effort(self) -> Array:
        """Return the largest efforts, shape (nq,) [N m or N]; inf = none."""
        return np.array([joint._max_effort[dof] for joint, dof in self.owner], np.float64)


def free_values(tree: Tree, bodies: Collection[str] = ()) -> set[int]:
    """
    Return the indices in q of the values that only place a freely moving body.

    Its joints are in a row from the root at one point, two axes or more slide, and no link of
    `bodies` is between them.
    """
    rows: dict[int, list[int]] = {-1: []}
    result: set[int] = set()
    for index, column in enumerate(tree.columns):
        row = rows.get(column.parent)
        if row is None or len(row) == len(DOF):
            continue
        link, before = column.joint.parent, tree.columns[column.parent].joint
        is_body = column.joint is not before and link is not None and link.name in bodies
        if row and (is_body or column.offset[:3, 3].any()):
            continue
        rows[index] = [*row, index]
        if sum(not tree.columns[each].dof.is_rotation for each in rows[index]) > 1:
            result.update(tree.q_of_column[each] for each in rows[index])
    return result


def build_tree(roots: Iterable[Frame], joint_order: Sequence[Joint] | None = None) -> Tree:
    """
    Return the tree of elementary motions of a graph, which is walked depth first.

    Frames without a name get one: joint, joint_2 and so on. In q, the joints of `joint_order` come
    first, the others in order of discovery. TopologyError is raised if the master of a coupling is
    not in the graph, or two joint values have the same name.
    """
    tree = Tree()
    motions: list[tuple[Joint, DOF, int, Array]] = []
    joints: list[Joint] = []
    stack: list[tuple[Frame, int, Array]] = [(root, -1, _HERE) for root in reversed([*roots])]
    while stack:
        frame, column, pose = stack.pop()
        pose = frame.matrix if pose is _HERE else pose @ frame.matrix
        if isinstance(frame, Connector) and frame.is_closure:
            tree.closers.append(frame)
        if isinstance(frame, Joint) and frame.dof:
            joints.append(frame)
            for dof in MOTION_ORDER:
                if dof in frame.dof:
                    motions.append((frame, dof, column, pose @ _ALIGN[dof % 3]))
                    column, pose = len(motions) - 1, _BACK[dof % 3]
        tree.carrier[frame] = (column, pose)
        # A copy: while another thread removes a child, an iterator over the list ends early.
        stack.extend((child, column, pose) for child in frame.children[::-1])
    _name_unnamed(tree)
    _index_values(tree, joints, joint_order)
    resolved = _resolve(motions)
    value = {(id(joint), dof): index for index, (joint, dof) in enumerate(tree.owner)}
    # An Euler angle with followers must be a variable itself: its joint is not stepped on SO(3).
    followed = {
        id(term.master)
        for joint in joints
        for coupling in joint.couplings.values()
        for term in coupling.terms
        if term.master_dof.is_rotation
    }
    for joint, dof, parent, offset in motions:
        master, coefficients = resolved[id(joint), dof]
        free = not any(d in joint.couplings for d in (DOF.EX, DOF.EY, DOF.EZ))
        ball = MOTION_ORDER.index(dof) - 2 if dof.is_rotation and free else 0
        if not joint._dof_flags[3:].all() or id(joint) in followed:
            ball = 0
        tree.columns.append(Column(joint, dof, parent, offset, master, coefficients, ball))
        tree.q_of_column.append(value[id(joint), dof])
    tree.sums = _sums(motions, tree.columns)
    return tree


def _name_unnamed(tree: Tree) -> None:
    """Give frames without a name the first free one: joint, joint_2, ..."""
    unnamed = [frame for frame in tree.carrier if not frame.name]
    taken = {frame.name for frame in tree.carrier} if unnamed else set()
    for frame in unnamed:
        kind, number = type(frame).__name__.lower(), 1
        while (name := kind if number == 1 else f'{kind}_{number}') in taken:
            number += 1
        taken.add(name)
        frame._name = name  # no change that a solver has to read: it is reading now


def _index_values(tree: Tree, joints: list[Joint], order: Sequence[Joint] | None) -> None:
    """Set the order of q: the joints in `order` first, then the others as discovered."""
    result = {id(joint) for joint in joints}
    listed = [joint for joint in order or () if id(joint) in result]
    first = {id(joint) for joint in listed}
    for joint in [*listed, *(j for j in joints if id(j) not in first)]:
        tree.names.extend(joint.value_names)
        tree.owner.extend((joint, dof) for dof in joint.dof)
    refuse_equal_names(
        'joint values', zip(tree.names, (joint for joint, _ in tree.owner), strict=True)
    )


def refuse_equal_names(kind: str, named: Iterable[tuple[str, Frame]]) -> None:
    """Raise TopologyError if two things of a kind, 'links' and so on, have the same name."""
    seen: dict[str, Frame] = {}
    for name, frame in named:
        first = seen.setdefault(name, frame)
        if first is not frame:
            both = ' and '.join(f'{each!r} {_place(each)}' for each in (first, frame))
            raise TopologyError(
                f'two {kind} are named {name!r}: {both}; rename one, or load one of two '
                "robots with load_robot(..., prefix='left_')"
            )


def _place(frame: Frame) -> str:
    *_, top = frame._ancestors()
    if top is frame:
        return 'at the root'
    return f'under {frame.parent and frame.parent.name!r} of the root {top.name!r}'


def _resolve(
    motions: Sequence[tuple[Joint, DOF, int, Array]],
) -> dict[tuple[int, DOF], tuple[int, Coefficients]]:
    """
    Return the free master of each motion, and the composed polynomial in the master's value.

    TopologyError is raised if a master is not in the graph, or a polynomial has more than
    `MOST_POWERS` coefficients or an infinite one.
    """
    result = {
        (id(joint), dof): (index, FREE)
        for index, (joint, dof, _, _) in enumerate(motions)
        if dof not in joint.couplings or joint.couplings[dof].others
    }
    for first, axis, _, _ in motions:
        joint, dof = first, axis
        path: list[tuple[Joint, DOF]] = []
        while (id(joint), dof) not in result:
            path.append((joint, dof))
            coupling = joint.couplings.get(dof)
            if coupling is None:
                raise _no_master(joint, dof)
            joint, dof = coupling.master, coupling.master_dof
        index, polynomial = result[id(joint), dof]
        for joint, dof in reversed(path):
            polynomial = _compose(joint.couplings[dof].coefficients, polynomial)
            if len(polynomial) > MOST_POWERS or not np.isfinite(polynomial).all():
                raise TopologyError(
                    f'the couplings that joint {joint.name!r} follows amount to a polynomial '
                    f'of degree {len(polynomial) - 1}, or with infinite coefficients; the largest '
                    f'degree allowed is {MOST_POWERS - 1}'
                )
            result[id(joint), dof] = index, polynomial
    return result


def _no_master(joint: Joint, dof: DOF) -> TopologyError:
    return TopologyError(
        f'joint {joint.name!r} drives a coupled joint but is not in the same graph or has no '
        f'{dof.name} axis'
    )


def _sums(
    motions: Sequence[tuple[Joint, DOF, int, Array]], columns: Sequence[Column]
) -> list[Sum]:
    """
    Return the couplings with several masters, each after those that it follows.

    TopologyError is raised if a master is not in the graph.
    """
    place = {(id(joint), dof): index for index, (joint, dof, _, _) in enumerate(motions)}
    waiting: dict[int, Sum] = {}
    for index, (joint, dof, _, _) in enumerate(motions):
        coupling = joint.couplings.get(dof)
        if coupling is None or not coupling.others:
            continue
        terms = []
        for term in coupling.terms:
            if (id(term.master), term.master_dof) not in place:
                raise _no_master(term.master, term.master_dof)
            terms.append((place[id(term.master), term.master_dof], term.coefficients))
        waiting[index] = Sum(index, tuple(terms))
    ordered: list[Sum] = []
    while waiting:
        ready = [
            each
            for each in waiting.values()
            if not any(columns[column].master in waiting for column, _ in each.terms)
        ]
        for each in ready:
            ordered.append(waiting.pop(each.column))
    return ordered


def _compose(outer: Coefficients, inner: Coefficients) -> Coefficients:
    """Return the two or more coefficients of outer(inner(x)) (Horner's rule)."""
    result = np.zeros(1)
    for coefficient in reversed(outer):
        result = np.convolve(result, inner)
        result[0] += coefficient
    used = np.trim_zeros(result, 'b').tolist()
    return tuple(used + [0.0] * (2 - len(used)))
