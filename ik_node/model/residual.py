"""The rows of a relative pose that must vanish, from the two frames alone."""

from __future__ import annotations

from ik_node.model.rotation import matrix_to_quat, quat_between, quat_to_rotation_vector, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def residual_rows(
    kind: str, axes: str, asked: NDArray[np.bool_], distance: float, frame_a: Array, frame_b: Array
) -> Array:
    """
    Return the rows that `Constraint.get_residual` describes.

    Parameters
    ----------
    kind, axes : str
        As in `Constraint`.
    asked : ndarray of bool, shape (6,)
        Which of X Y Z EX EY EZ take part.
    distance : float
        Wanted [m], kind 'distance' only.
    frame_a, frame_b : ndarray, shape (4, 4)
        Root frame.

    """
    turn_a, turn_b = frame_a[:3, :3], frame_b[:3, :3]
    gap = frame_a[:3, 3] - frame_b[:3, 3]
    if kind == 'distance':
        return np.array([np.sqrt(gap @ gap) - distance])
    if kind == 'universal':
        return np.append(turn_b.T @ gap, turn_a[:, 1] @ turn_b[:, 0])
    if kind == 'look_at':
        x, y, z = turn_a.T @ -gap
        aside = np.hypot(x, y)
        turn: Array = np.array((x, y) if aside > 0.0 else (1.0, 0.0)) / (aside or 1.0)
        looking: Array = turn * np.arctan2(aside, z)
        return looking
    if axes == 'world':
        relative = turn_a @ turn_b.T
    else:
        gap = (turn_b if axes == 'goal' else turn_a).T @ gap
        relative = turn_b.T @ turn_a
    if kind == 'centre_of_mass':
        points: Array = gap[asked[:3]]
        return points
    rows: Array = np.concatenate((gap, _rotation_rows(axes, asked[3:], relative)))
    return rows[asked]


def _rotation_rows(axes: str, asked: NDArray[np.bool_], relative: Array) -> Array:
    if np.count_nonzero(asked) != 2:
        return quat_to_rotation_vector(matrix_to_quat(relative))
    axis = np.eye(3)[int(np.flatnonzero(~asked)[0])]
    if axes == 'link':
        return quat_to_rotation_vector(quat_between(unit(relative.T @ axis), axis))
    return quat_to_rotation_vector(quat_between(axis, unit(relative @ axis)))
