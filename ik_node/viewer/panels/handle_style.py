"""Which handles goals have, and on which grid they move."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.model.rotation import matrix_to_quat, quat_to_matrix, quat_to_rotation_vector
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# What moves less than this [m or rad] has not been moved.
_STILL = 1e-9


@dataclass(frozen=True)
class HandleStyle:
    """
    How goals are dragged.

    Attributes
    ----------
    move, turn : bool
        Whether goals can be moved, and turned.
    local : bool
        Whether handles lie along the goal's own axes; else along the root frame's.
    step : float
        Positions are multiples of it [m]; 0 = they are as dragged.
    angle : float
        Turns are multiples of it [rad]; 0 = they are as dragged.

    """

    move: bool = True
    turn: bool = True
    local: bool = False
    step: float = 0.0
    angle: float = 0.0

    @property
    def snaps(self) -> bool:
        """Whether there is a grid."""
        return self.step > 0.0 or self.angle > 0.0

    def snapped(self, start: Array, pose: Array, axes: Array) -> Array:
        """
        Return a dragged pose on the grid.

        Along the root frame's axes, what is moved comes to a multiple of the step; along others it
        moves by one. What is not moved stays where it is.

        Parameters
        ----------
        start, pose : ndarray, shape (4, 4)
            Of the goal before the drag and now, root frame.
        axes : ndarray, shape (3, 3)
            Of the handle before the drag, root frame.

        """
        wanted = pose.copy()
        if self.step > 0.0:
            shift = axes.T @ (pose[:3, 3] - start[:3, 3])
            first: Array = np.zeros(3)
            if np.array_equal(axes, np.eye(3)):
                first = start[:3, 3]
            to = self.step * np.round((first + shift) / self.step) - first
            wanted[:3, 3] = start[:3, 3] + axes @ np.where(np.abs(shift) > _STILL, to, shift)
        if self.angle > 0.0:
            turn = pose[:3, :3] @ start[:3, :3].T
            vector = quat_to_rotation_vector(matrix_to_quat(turn))
            full = float(np.sqrt(vector @ vector))
            if full > _STILL:
                half = 0.5 * self.angle * round(full / self.angle)
                quat = np.array((*np.sin(half) * vector / full, np.cos(half)))
                wanted[:3, :3] = quat_to_matrix(quat) @ start[:3, :3]
        return wanted
