"""The forms in which callers give poses."""

from __future__ import annotations

from typing import Any

from ik_node.errors import ShapeError, shown
from ik_node.model.given import numbers
from ik_node.model.rotation import matrix_to_quat
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest element of R R^T - I of a matrix R that counts as a rotation. Matrices that were rounded
# to three decimals or stored as 32-bit numbers are within it, scaled or sheared ones are not.
NOT_ORTHONORMAL = 2e-3

PAIR = '(position (3,), quat_xyzw (4,))'


def position_and_quat(
    what: str, pose: Any, *, turns: bool = True, many: bool = False
) -> tuple[Array, Array]:
    """
    Return a pose, or `many` poses, as positions [m] and quaternions xyzw.

    A pose is (position, quat_xyzw), (position, scipy Rotation), a matrix (4, 4) or a scipy
    RigidTransform; of many poses every array has a further first axis. Without `turns`, a position
    alone will do, and its orientation is the identity. Quaternions are as given, or normalised if
    they come from matrices. ShapeError, which calls the pose `what`, is raised for all else, and
    for a matrix that is not a rotation with a translation.
    """
    if hasattr(pose, 'as_matrix'):  # scipy's RigidTransform; a Rotation is refused by its shape
        pose = pose.as_matrix()
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        position, rotation = pose
        quat = rotation.as_quat() if hasattr(rotation, 'as_quat') else rotation
        pair = _array(position), _array(quat)
        if _are_poses(*pair, many=many):
            return pair
    array, axes = _array(pose), 1 if many else 0
    if array.ndim == axes + 2 and array.shape[-2:] == (4, 4):
        return _of_matrices(what, array)
    alone = array.ndim == axes + 1 and array.shape[-1] == 3
    if alone and not turns:
        upright = np.zeros((*array.shape[:-1], 4))
        upright[..., 3] = 1.0
        return array, upright
    raise ShapeError(what, _expected(turns, many), _got(pose, alone))


def _array(values: Any) -> Array:
    """Return values as numbers; an array of shape (0,) if they are none."""
    try:
        return numbers('', values)
    except ShapeError:
        return np.zeros(0)


def _are_poses(positions: Array, quats: Array, *, many: bool) -> bool:
    if many:
        fits = positions.ndim == quats.ndim == 2 and len(positions) == len(quats)
        return fits and (positions.shape[1], quats.shape[1]) == (3, 4)
    return positions.shape == (3,) and quats.shape == (4,)


def _of_matrices(what: str, matrices: Array) -> tuple[Array, Array]:
    """Return positions and quaternions of matrices, shape (4, 4) or (N, 4, 4)."""
    if matrices.ndim == 2:
        if not _is_pose(matrices.tolist()):
            expected = 'a matrix (4, 4) of a rotation and a translation, last row 0 0 0 1'
            raise ShapeError(what, expected, str(matrices.tolist()))
        return matrices[:3, 3].copy(), matrix_to_quat(matrices)
    quats = [_of_matrices(f'{what} in row {row}', each)[1] for row, each in enumerate(matrices)]
    return matrices[:, :3, 3].copy(), np.array(quats).reshape(-1, 4)


def _is_pose(matrix: list[list[float]]) -> bool:
    """Return True if a matrix (4, 4) is a rotation with a translation."""
    (xx, xy, xz, _), (yx, yy, yz, _), (zx, zy, zz, _), (a, b, c, one) = matrix
    gaps = (
        *(xx * xx + xy * xy + xz * xz - 1.0, xx * yx + xy * yy + xz * yz),
        *(yx * yx + yy * yy + yz * yz - 1.0, xx * zx + xy * zy + xz * zz),
        *(zx * zx + zy * zy + zz * zz - 1.0, yx * zx + yy * zy + yz * zz),
    )
    # Comparisons that NaN fails, too.
    turned = all(-NOT_ORTHONORMAL <= gap <= NOT_ORTHONORMAL for gap in gaps)
    lowest = all(-1e-6 <= gap <= 1e-6 for gap in (a, b, c, one - 1.0))
    handed = xx * (yy * zz - yz * zy) + xy * (yz * zx - yx * zz) + xz * (yx * zy - yy * zx) > 0.0
    return turned and lowest and handed


def _expected(turns: bool, many: bool) -> str:
    if many:
        text = 'positions (N, 3) and quaternions xyzw (N, 4), or a Rotation, or matrices (N, 4, 4)'
        return text if turns else f'{text}, or positions (N, 3) alone'
    text = f'{PAIR} or (position, Rotation) or a matrix (4, 4)'
    return text if turns else f'{text} or a position (3,) alone'


def _got(pose: Any, alone: bool) -> str:
    if alone:
        return (
            'a position alone, which is enough only for a goal without orientation: '
            "robot.add_goal(link, dof='X Y Z') makes one"
        )
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        shapes = [_array(part.as_quat() if hasattr(part, 'as_quat') else part) for part in pose]
        if all(part.size and part.ndim for part in shapes):
            return f'shapes {shapes[0].shape} and {shapes[1].shape}'
    array = _array(pose)
    return f'shape {array.shape}' if array.ndim and array.size else shown(pose)
