"""Conversion of Denavit-Hartenberg tables to a model graph."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.description.description import Description
from ik_node.description.joint_spec import JointSpec, Limits
from ik_node.description.tree import hang_joints
from ik_node.errors import OptionError, ShapeError
from ik_node.model.given import numbers, one_of
from ik_node.model.joint import NO_LIMIT
from ik_node.model.link import Link
from ik_node.model.rotation import quat_conjugate, quat_from_euler, quat_multiply
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

PARAMETERS = ('d', 'a', 'alpha', 'theta')
CONVENTIONS = ('standard', 'modified')
MOTIONS = {'R': 'revolute', 'P': 'prismatic'}
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
    specs = []
    rows_of_joints = zip(table, kinds, bounds, senses.tolist(), strict=True)
    for i, (row, kind, bound, sense) in enumerate(rows_of_joints, 1):
        name, link = f'joint{i}', f'link{i}'
        beyond = [f'{limit:g}' for limit in bound if NO_LIMIT <= abs(limit) < np.inf]
        if beyond:
            description.notes.append(
                f'joint {name!r}: {", ".join(beyond)}: taken as no limit, as it is beyond 1e12'
            )
        description.links[link] = Link(link)
        spec = JointSpec(name, MOTIONS[kind], f'link{i - 1}', link, limits=Limits(*bound))
        spec.axis = np.array((0.0, 0.0, 1.0))
        _place(spec, row, convention == 'standard')
        if sense < 0.0:
            # Rx(pi) Rz(q) Rx(pi)^-1 = Rz(-q), and so for Tz; Rx moves no point of the x axis.
            spec.quat_xyzw = quat_multiply(spec.quat_xyzw, HALF_TURN)
            spec.child_quat_xyzw = quat_multiply(quat_conjugate(HALF_TURN), spec.child_quat_xyzw)
        specs.append(spec)
    hang_joints(description, specs)
    return description


def _place(spec: JointSpec, row: Array, standard: bool) -> None:
    """
    Write the transforms before the motion to the joint's pose, those after it to the link's pose.

    Rotation and translation along the same axis commute, so that the joint's pose takes both
    offsets, whichever of the two moves.
    """
    d, a, alpha, theta = row.tolist()
    rotation, twist = quat_from_euler(0.0, 0.0, theta), quat_from_euler(alpha, 0.0, 0.0)
    if standard:
        spec.position, spec.quat_xyzw = np.array((0.0, 0.0, d)), rotation
        spec.child_position, spec.child_quat_xyzw = np.array((a, 0.0, 0.0)), twist
    else:
        spec.position = np.array((a, -np.sin(alpha) * d, np.cos(alpha) * d))
        spec.quat_xyzw = quat_multiply(twist, rotation)


def _numbers(name: str, values: ArrayLike, width: int, expected: str) -> Array:
    """Return a copy of a table of numbers as an array."""
    array = numbers(name, values)
    if array.ndim != 2 or array.shape[1] != width:
        raise ShapeError(name, f'shape {expected}', f'shape {array.shape}')
    return array
