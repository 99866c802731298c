"""
The graph of frames as a tree of elementary motions.

A joint with several DoF is a product of elementary motions, each with its own axis at the current
configuration. Every elementary motion is one column: its frame is turned so that it moves along or
about its own z axis, which makes forward kinematics one case and its Jacobian exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ik_node.errors import shown, TopologyError
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Connector
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Coefficients = tuple[float, ...]

# The polynomial of a value that follows none, and the most coefficients of one that does.
FREE: Coefficients = (0.0, 1.0)
MOST_POWERS = 65

# The order in which a joint's motions act, D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex).
MOTION_ORDER = (DOF.X, DOF.Y, DOF.Z, DOF.EZ, DOF.EY, DOF.EX)

# Turns that lay a frame's z axis onto the axis of motion; all are right-handed permutations.
_TO_X = np.array(((0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0, 0, 0, 1)))
_TO_Y = np.array(((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0, 0, 0, 1)))
_ALIGN = (_TO_X, _TO_Y, np.eye(4))
_BACK = (_TO_X.T, _TO_Y.T, np.eye(4))
_HERE = np.eye(4)


@dataclass(frozen=True)
class Column:
    """
    One elementary motion.

    Attributes
    ----------
    joint, dof : Joint, DOF
        What moves.
    parent : int
        Column that carries it, -1 = root frame.
    offset : ndarray, shape (4, 4)
        Its frame before the motion, in the parent column's frame.
    master : int
        Column whose value decides, itself when it is free.
    coefficients : tuple of float
        value = sum_i c_i master^i.
    ball : int
        1, 2, 3 for EZ, EY, EX of a joint that has all three, uncoupled; else 0.

    """

    joint: Joint
    dof: DOF
    parent: int
    offset: Array
    master: int
    coefficients: tuple[float, ...]
    ball: int


@dataclass
class Tree:
    """
    All columns of the graph below some roots, and where every frame hangs.

    Attributes
    ----------
    columns : list of Column
        Parents before children.
    seat : dict of Frame to (int, ndarray)
        For every frame the column that carries it (-1 = root frame) and its (4, 4) pose there.
    closers : list of Connector
        Joints, closures and goals that close on a link, in order of discovery.
    names : list of str
        Name of every value, in the order of q.
    q_of_column : list of int
        Place of every column's value in q.
    owner : list of (Joint, DOF)
        The joint and DoF of every value, in the order of q.

    """

    columns: list[Column] = field(default_factory=list)
    seat: dict[Frame, tuple[int, Array]] = field(default_factory=dict)
    closers: list[Connector] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    q_of_column: list[int] = field(default_factory=list)
    owner: list[tuple[Joint, DOF]] = field(default_factory=list)


def same_motions(one: Tree, other: Tree) -> bool:
    """Return whether two trees have the same columns, at the same places of q."""
    if one.names != other.names or len(one.columns) != len(other.columns):
        return False
    for a, b in zip(one.columns, other.columns, strict=True):
        if (a.joint, a.dof, a.parent, a.master, a.coefficients, a.ball) != (
            b.joint,
            b.dof,
            b.parent,
            b.master,
            b.coefficients,
            b.ball,
        ):
            return False
    mine, theirs = ([column.offset for column in tree.columns] for tree in (one, other))
    return one.q_of_column == other.q_of_column and np.array_equal(mine, theirs)


def build_tree(roots: Iterable[Frame], joint_order: Sequence[Joint] | None = None) -> Tree:
    """
    Walk the graph depth first from its roots.

    Parameters
    ----------
    roots : iterable of Frame
        Roots of all trees of the graph.
    joint_order : sequence of Joint, optional
        Order of q; joints it does not name follow in order of discovery.

    Raises
    ------
    TopologyError
        If a coupling's master is not in the graph, or couplings go round in a circle.

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
        tree.seat[frame] = (column, pose)
        stack.extend((child, column, pose) for child in reversed(frame.children))
    _index_values(tree, joints, joint_order)
    resolved = _resolve(motions)
    value = {(id(joint), dof): at for at, (joint, dof) in enumerate(tree.owner)}
    # An Euler angle that others follow must be a variable itself.
    followed = {
        id(c.master) for j in joints for c in j.couplings.values() if c.master_dof.is_rotation
    }
    for joint, dof, parent, offset in motions:
        master, coefficients = resolved[id(joint), dof]
        free = not any(d in joint.couplings for d in (DOF.EX, DOF.EY, DOF.EZ))
        ball = MOTION_ORDER.index(dof) - 2 if dof.is_rotation and free else 0
        if not joint.dof_flags[3:].all() or id(joint) in followed:
            ball = 0
        tree.columns.append(Column(joint, dof, parent, offset, master, coefficients, ball))
        tree.q_of_column.append(value[id(joint), dof])
    return tree


def _index_values(tree: Tree, joints: list[Joint], order: Sequence[Joint] | None) -> None:
    """Fix the order of q once; everything else goes by it."""
    found = {id(joint) for joint in joints}
    listed = [joint for joint in order or () if id(joint) in found]
    first = {id(joint) for joint in listed}
    for joint in [*listed, *(j for j in joints if id(j) not in first)]:
        tree.names.extend(joint.value_names)
        tree.owner.extend((joint, dof) for dof in joint.dof)


def _resolve(
    motions: Sequence[tuple[Joint, DOF, int, Array]],
) -> dict[tuple[int, DOF], tuple[int, Coefficients]]:
    """
    Follow couplings to their free masters, composing their polynomials.

    Returns
    -------
    dict of (id of joint, DOF) to (int, tuple of float)
        The column of the free master of every motion, and the polynomial in its value.

    Raises
    ------
    TopologyError
        If a master is not in the graph, couplings go round in a circle, or their composition is
        not a polynomial of a moderate degree with finite coefficients.

    """
    found = {
        (id(joint), dof): (at, FREE)
        for at, (joint, dof, _, _) in enumerate(motions)
        if dof not in joint.couplings
    }
    for first, axis, _, _ in motions:
        joint, dof = first, axis
        path: dict[tuple[int, DOF], tuple[Joint, DOF]] = {}
        while (id(joint), dof) not in found:
            if (id(joint), dof) in path:
                raise TopologyError(
                    f'the couplings of joint {shown(joint.name)} go round in a circle'
                )
            path[id(joint), dof] = joint, dof
            coupling = joint.couplings.get(dof)
            if coupling is None:
                raise TopologyError(
                    f'joint {shown(joint.name)} drives a coupled joint but is not in the same '
                    f'graph or has no {dof.name} axis'
                )
            joint, dof = coupling.master, coupling.master_dof
        at, polynomial = found[id(joint), dof]
        for key, (joint, dof) in reversed(path.items()):
            polynomial = _compose(joint.couplings[dof].coefficients, polynomial)
            if len(polynomial) > MOST_POWERS or not np.isfinite(polynomial).all():
                raise TopologyError(
                    f'the couplings that joint {shown(joint.name)} follows amount to a polynomial '
                    f'of degree {len(polynomial) - 1}, or with infinite coefficients; at most '
                    f'degree {MOST_POWERS - 1} is solved'
                )
            found[key] = at, polynomial
    return found


def _compose(outer: Coefficients, inner: Coefficients) -> Coefficients:
    """Return the coefficients of outer(inner(x)), two or more, by Horner's rule."""
    while len(outer) > 1 and outer[-1] == 0.0:
        outer = outer[:-1]
    result = [outer[-1]]
    for coefficient in reversed(outer[:-1]):
        product = [0.0] * (len(result) + len(inner) - 1)
        for i, factor in enumerate(result):
            for k, other in enumerate(inner):
                product[i + k] += factor * other
        product[0] += coefficient
        result = product
    while len(result) > 2 and result[-1] == 0.0:
        result.pop()
    return tuple(result + [0.0] * (2 - len(result)))
