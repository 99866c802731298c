"""Conversion of Denavit-Hartenberg tables to a model graph."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.description.description import Description
from ik_node.description.tree import hang_tree
from ik_node.errors import OptionError, ShapeError
from ik_node.model.dof import DOF
from ik_node.model.given import numbers, one_of
from ik_node.model.joint import Joint, NO_LIMIT
from ik_node.model.link import Link
from ik_node.model.rotation import quat_conjugate, quat_from_euler, quat_multiply
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

PARAMETERS = ('d', 'a', 'alpha', 'theta')
CONVENTIONS = ('standard', 'modified')
MOTIONS = {'R': DOF.EZ, 'P': DOF.Z}
HALF_TURN = np.array((1.0, 0.0, 0.0, 0.0))  # about x, as a quaternion xyzw


def read_dh(
    rows: ArrayLike,
    *,
    convention: str = 'standard',
    order: str | Sequence[str] = 'd a alpha theta',
    degrees: bool = False,
    limits: ArrayLike | None = None,
    joints: str | None = None,
    signs: ArrayLike | None = None,
) -> Description:
    """
    Build the open chain of a Denavit-Hartenberg table; `robot.from_dh` describes the table.

    Notes
    -----
    standard: T = Rz(theta) Tz(d) Tx(a) Rx(alpha) (Denavit & Hartenberg 1955).
    modified: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) (Craig 1986).

    """
    one_of('convention', convention, CONVENTIONS)
    columns = order.replace(',', ' ').split() if isinstance(order, str) else [*map(str, order)]
    if sorted(columns) != sorted(PARAMETERS):
        raise OptionError('order', order, 'd a alpha theta, each once, in any order')
    table = _numbers('rows', rows, 4, f'(n, 4), n >= 1, a row a joint: {" ".join(columns)}')
    if not len(table) or not np.isfinite(table).all():
        raise ShapeError('rows', 'one row a joint or more, of finite numbers', str(table.tolist()))
    count = len(table)
    kinds = 'R' * count if joints is None else joints
    if len(kinds) != count or set(kinds) - set(MOTIONS):
        allowed = f'R (revolute) or P (prismatic) for each of the {count} rows'
        raise OptionError('joints', joints, allowed)
    senses = np.ones(count) if signs is None else numbers('signs', signs)
    if senses.shape != (count,) or not (np.abs(senses) == 1.0).all():
        raise OptionError('signs', signs, f'1 or -1 for each of the {count} rows')
    bounds = np.tile((-np.inf, np.inf), (count, 1))
    if limits is not None:
        expected = f'({count}, 2) without NaN, a row a joint: lower, upper'
        bounds = _numbers('limits', limits, 2, expected)
        if len(bounds) != count or np.isnan(bounds).any():
            raise ShapeError('limits', f'shape {expected}', str(bounds.tolist()))
    table = table[:, [columns.index(name) for name in PARAMETERS]]
    if degrees:
        table[:, 2:] = np.radians(table[:, 2:])
        turns = [kind == 'R' for kind in kinds]
        bounds[turns] = np.radians(bounds[turns])
    description = Description('dh', 'DH table', dialect=f'DH table, {convention}')
    description.links['link0'] = Link('link0')
    ends = {}
    rows_of_joints = zip(table, kinds, bounds, senses.tolist(), strict=True)
    for i, (row, kind, bound, sense) in enumerate(rows_of_joints, 1):
        joint, link = Joint(f'joint{i}'), Link(f'link{i}')
        joint.set_dof(MOTIONS[kind])
        joint.set_limits(MOTIONS[kind], *bound)
        beyond = [f'{limit:g}' for limit in bound if NO_LIMIT <= abs(limit) < np.inf]
        if beyond:
            description.notes.append(
                f'joint {joint.name!r}: {", ".join(beyond)}: taken as no limit, as it is '
                'beyond 1e12'
            )
        _place(joint, link, row, convention == 'standard')
        if sense < 0.0:
            # Rx(pi) Rz(q) Rx(pi)^-1 = Rz(-q), and so for Tz; Rx moves no point of the x axis.
            joint.set_quaternion(*quat_multiply(joint.quaternion, HALF_TURN))
            link.set_quaternion(*quat_multiply(quat_conjugate(HALF_TURN), link.quaternion))
        description.joints[joint.name], description.links[link.name] = joint, link
        ends[joint.name] = (f'link{i - 1}', link.name)
    hang_tree(description, ends)
    return description


def _place(joint: Joint, link: Link, row: Array, standard: bool) -> None:
    """
    Write the transforms before the motion to the joint's pose, those after it to the link's pose.

    Rotation and translation along the same axis commute, so that the joint's pose takes both
    offsets, whichever of the two moves.
    """
    d, a, alpha, theta = row.tolist()
    rotation, twist = quat_from_euler(0.0, 0.0, theta), quat_from_euler(alpha, 0.0, 0.0)
    if standard:
        joint.set_position(0.0, 0.0, d)
        joint.set_quaternion(*rotation)
        link.set_position(a, 0.0, 0.0)
        link.set_quaternion(*twist)
    else:
        joint.set_position(a, -np.sin(alpha) * d, np.cos(alpha) * d)
        joint.set_quaternion(*quat_multiply(twist, rotation))


def _numbers(name: str, values: ArrayLike, width: int, expected: str) -> Array:
    """Return a copy of a table of numbers as an array."""
    array = numbers(name, values)
    if array.ndim != 2 or array.shape[1] != width:
        raise ShapeError(name, f'shape {expected}', f'shape {array.shape}')
    return array
