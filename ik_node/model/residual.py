"""Residual rows of a constraint, from the poses of its two frames."""

from __future__ import annotations

from ik_node.model.rotation import matrix_to_quat, quat_between, quat_to_rotation_vector, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def residual_rows(
    kind: str, axes: str, used: NDArray[np.bool_], distance: float, frame_a: Array, frame_b: Array
) -> Array:
    """
    Return the residual rows of a constraint, which are zero when it is met, [m] before [rad].

    With frame A at p_A, R_A and frame B at p_B, R_B, poses (4, 4) in the root frame, and the
    `used` ones of the components X Y Z EX EY EZ:

    - frame: the used components of p = p_A - p_B [m], in the chosen axes, and of the rotation
      vector log(R) [rad], where R = R_A R_B^T in world axes and R_B^T R_A in the axes of B or A.
      If exactly two rotational components are used, R is the smallest rotation that takes the
      third axis of B onto that of A.
    - centre_of_mass: the used components of p only.
    - universal: R_B^T p and y_A . x_B.
    - distance: |p| - distance.
    - cylinder: the distance of p_A from the z axis of B, less `distance`.
    - look_at: the angle between z_A and the direction to p_B, times the unit vector of that
      direction in A's xy plane.
    """
    turn_a, turn_b = frame_a[:3, :3], frame_b[:3, :3]
    gap = frame_a[:3, 3] - frame_b[:3, 3]
    if kind == 'distance':
        return np.array([np.sqrt(gap @ gap) - distance])
    if kind == 'cylinder':
        return np.array([np.hypot(*(turn_b.T @ gap)[:2]) - distance])
    if kind == 'universal':
        return np.append(turn_b.T @ gap, turn_a[:, 1] @ turn_b[:, 0])
    if kind == 'look_at':
        x, y, z = turn_a.T @ -gap
        aside = np.hypot(x, y)
        direction: Array = np.array((x, y) if aside > 0.0 else (1.0, 0.0)) / (aside or 1.0)
        looking: Array = direction * np.arctan2(aside, z)
        return looking
    if axes == 'world':
        relative = turn_a @ turn_b.T
    else:
        gap = (turn_b if axes == 'goal' else turn_a).T @ gap
        relative = turn_b.T @ turn_a
    if kind == 'centre_of_mass':
        points: Array = gap[used[:3]]
        return points
    rows: Array = np.concatenate((gap, _rotation_rows(axes, used[3:], relative)))
    return rows[used]


def _rotation_rows(axes: str, used: NDArray[np.bool_], relative: Array) -> Array:
    if np.count_nonzero(used) != 2:
        return quat_to_rotation_vector(matrix_to_quat(relative))
    axis = np.eye(3)[int(np.flatnonzero(~used)[0])]
    if axes == 'link':
        return quat_to_rotation_vector(quat_between(unit(relative.T @ axis), axis))
    return quat_to_rotation_vector(quat_between(axis, unit(relative @ axis)))
