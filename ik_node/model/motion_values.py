"""The six values of a joint read as a position and an orientation."""

from __future__ import annotations

from ik_node.errors import ShapeError, shown
from ik_node.model.dof import DOF
from ik_node.model.euler import nearest_euler, nearest_turn
from ik_node.model.moving_frame import MovingFrame
from ik_node.model.revision import Revision
from ik_node.model.rotation import matrix_to_euler, pose_matrix, quat_from_euler, quat_to_matrix
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class MotionValues(MovingFrame):
    """
    A moving frame whose values, target and rest pose are read as a pose or modulo full turns.

    Attributes
    ----------
    track_joint_wrap : bool
        True: a target or rest pose is meant as written, turns counted. False: modulo a full turn.

    """

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self.track_joint_wrap = False

    # -- as a pose; an axis it does not have counts as zero

    def get_dof_position(self) -> Array:
        """Return the values of X Y Z [m], shape (3,)."""
        return self.dof_values[:3].copy()

    def get_dof_euler(self) -> Array:
        """Return the values of EX EY EZ [rad], shape (3,)."""
        return self.dof_values[3:].copy()

    def get_dof_quaternion(self) -> Array:
        """Return the orientation (xyzw) of D, shape (4,)."""
        return quat_from_euler(*self.dof_values[3:].tolist())

    def set_dof_quaternion(self, x: float, y: float, z: float, w: float) -> bool:
        """
        Turn D to an orientation, by the Euler angles nearest to the present ones.

        Parameters
        ----------
        x, y, z, w : float
            Normalised.

        Returns
        -------
        bool
            Whether an angle was clamped to its limits.

        Raises
        ------
        OptionError
            If it does not have all of EX EY EZ.

        """
        axes = [self._own(dof) for dof in (DOF.EX, DOF.EY, DOF.EZ)]
        turned = quat_to_matrix(self._unit('quaternion of the values', (x, y, z, w)))
        angles = nearest_euler(
            matrix_to_euler(turned),
            self.dof_values[3:],
            self.min_dof_limit[3:],
            self.max_dof_limit[3:],
        )
        clamped = [self.set_dof_value(*pair) for pair in zip(axes, angles, strict=True)]
        return any(clamped)

    def get_target_position(self) -> Array:
        """Return the wanted values of X Y Z [m], shape (3,)."""
        return self.dof_target[:3].copy()

    def get_target_euler(self) -> Array:
        """Return the wanted values of EX EY EZ [rad], shape (3,)."""
        return self.dof_target[3:].copy()

    def get_target_quaternion(self) -> Array:
        """Return the wanted orientation (xyzw) of D, shape (4,)."""
        return quat_from_euler(*self.dof_target[3:].tolist())

    def get_rest_pose_position(self) -> Array:
        """Return the rest pose's values of X Y Z [m], shape (3,)."""
        return self.dof_rest_pose[:3].copy()

    def get_rest_pose_euler(self) -> Array:
        """Return the rest pose's values of EX EY EZ [rad], shape (3,)."""
        return self.dof_rest_pose[3:].copy()

    def get_rest_pose_quaternion(self) -> Array:
        """Return the rest pose's orientation (xyzw) of D, shape (4,)."""
        return quat_from_euler(*self.dof_rest_pose[3:].tolist())

    # -- modulo full turns

    def nearest_values(self, values: ArrayLike, present: ArrayLike | None = None) -> Array:
        """
        Return a target or rest pose by those equal angles that are nearest to the present ones.

        Parameters
        ----------
        values : array_like, shape (6,)
            As `dof_target` and `dof_rest_pose`, [m] and [rad].
        present : array_like, shape (6,), optional
            What to be near to; None = `dof_values`.

        Returns
        -------
        ndarray, shape (6,)
            Angles of a joint with one or two of EX EY EZ: full turns added. With all three:
            any angles of the same orientation. Within limits where any such angles are. As they
            are with `track_joint_wrap`.

        Raises
        ------
        ShapeError
            If they are not six finite numbers.

        """
        nearest = self._six('values', values)
        now = self.dof_values if present is None else self._six('present values', present)
        if self.track_joint_wrap:
            return nearest
        lower, upper = self.min_dof_limit, self.max_dof_limit
        if self.rotation_dof_count == 3:
            nearest[3:] = nearest_euler(nearest[3:], now[3:], lower[3:], upper[3:])
            return nearest
        for dof in self.dof:
            if dof.is_rotation:
                nearest[dof] = nearest_turn(nearest[dof], now[dof], lower[dof], upper[dof])
        return nearest

    def try_minimize_euler_angles(self) -> None:
        """Write target and rest pose by the angles that are nearest to the present values."""
        self.dof_target[:] = self.nearest_values(self.dof_target)
        self.dof_rest_pose[:] = self.nearest_values(self.dof_rest_pose)
        Revision.count_setting()

    # -- finite differences

    def get_delta_world_matrix(self, dof: int | str, delta: float) -> tuple[Array, bool]:
        """
        Return where the frame would be with one value changed; nothing is changed.

        Parameters
        ----------
        dof : DOF or str
            Which axis.
        delta : float
            [m] or [rad].

        Returns
        -------
        matrix : ndarray, shape (4, 4)
            Pose in the root frame.
        inverted : bool
            Whether the step was taken the other way: it would have crossed a limit, and the
            other side has more room.

        """
        axis = self._own(dof)
        step = float(self._finite('delta', (delta,))[0])
        values = self.dof_values.copy()
        room = self.max_dof_limit[axis] - values[axis], values[axis] - self.min_dof_limit[axis]
        ahead, behind = room if step > 0.0 else room[::-1]
        inverted = bool(abs(step) > ahead and behind > ahead)
        values[axis] += -step if inverted else step
        moved = self.matrix @ pose_matrix(values[:3], quat_from_euler(*values[3:].tolist()))
        return moved if self.parent is None else self.parent.matrix_world @ moved, inverted

    def _six(self, what: str, values: ArrayLike) -> Array:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (6,):
            raise ShapeError(f'{what} of {shown(self.name)}', 'shape (6,)', f'shape {array.shape}')
        return self._finite(what, array)
