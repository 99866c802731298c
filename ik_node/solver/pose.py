"""The border where poses come in: shapes, finite numbers, unit quaternions."""

from __future__ import annotations

import math
from typing import Any

from ik_node.errors import ShapeError
from ik_node.kernels.begin import NORMALISED
import numpy as np
from numpy.typing import ArrayLike


def unit_pose(
    name: str, position: ArrayLike, quat_xyzw: ArrayLike
) -> tuple[float, float, float, float, float, float, float]:
    """
    Check a pose and return its seven numbers, the quaternion normalised.

    Raises
    ------
    ShapeError
        If a shape is wrong, a number is not finite, or the quaternion is zero.

    """
    p: Any = position.tolist() if isinstance(position, np.ndarray) else position
    r: Any = quat_xyzw.tolist() if isinstance(quat_xyzw, np.ndarray) else quat_xyzw
    try:
        x, y, z = p
        a, b, c, d = r
        square = a * a + b * b + c * c + d * d
        norm = math.sqrt(square)
        finite = math.isfinite(x + y + z) and math.isfinite(norm)
    except (TypeError, ValueError):
        got = f'shapes {np.shape(position)} and {np.shape(quat_xyzw)}'
        raise ShapeError(f'pose of {name!r}', 'three and four numbers', got) from None
    if not finite:
        raise ShapeError(f'pose of {name!r}', 'finite numbers', f'{p} and {r}')
    if norm < 1e-9:
        raise ShapeError(f'quaternion of {name!r}', 'a rotation, xyzw', f'{r}, which is zero')
    if abs(square - 1.0) <= NORMALISED:
        return x, y, z, a, b, c, d
    return x, y, z, a / norm, b / norm, c / norm, d / norm
