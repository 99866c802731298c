"""The joint: a frame whose child link moves along and about up to six axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
import math
from typing import Any

from ik_node.errors import OptionError, ShapeError, TopologyError
from ik_node.model.attributes import counted, fixed, FixedDict, open_array
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.frame import Frame, frame_of
from ik_node.model.given import number, numbers, switch
from ik_node.model.link import Connector
from ik_node.model.rotation import (
    matrix_to_euler,
    matrix_to_quat,
    motion_matrix,
    nearest_euler,
    nearest_turn,
    pose_inverse,
    quat_conjugate,
    quat_from_euler,
    quat_multiply,
    quat_to_matrix,
)
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Programs write such numbers, the largest of some type, where a joint has no limit.
NO_LIMIT = 1e12


@dataclass(frozen=True)
class Coupling:
    """
    The coupling q = sum_i c_i q_master**i; for a mimic joint c = (offset, multiplier).

    With several masters, q is the sum of such polynomials, one for each of `terms`.

    Attributes
    ----------
    master : Joint
        The joint that this axis follows.
    master_dof : DOF
        The axis of the master.
    coefficients : tuple of float
        c_0, c_1, ...; c_i in [unit of q / unit of q_master**i].
    others : tuple of Coupling
        The terms of the further masters.

    """

    master: Joint
    master_dof: DOF
    coefficients: tuple[float, ...]
    others: tuple[Coupling, ...] = ()

    @property
    def terms(self) -> tuple[Coupling, ...]:
        """Return the polynomial of each master, each as a coupling with one master."""
        first = Coupling(self.master, self.master_dof, self.coefficients)
        return (first, *self.others)

    def value(self, *master_values: float) -> float:
        """Return q for the values of the masters, in the order of `terms` (Horner's rule)."""
        total = 0.0
        for term, value in zip(self.terms, master_values, strict=True):
            part = 0.0
            for coefficient in reversed(term.coefficients):
                part = part * value + coefficient
            total += part
        return total


def _setting(name: str, doc: str) -> Any:
    return open_array(name, lambda joint: joint.revision.count_setting(), doc)


def _switch(name: str, doc: str) -> Any:
    return counted(name, lambda joint: joint.revision.count_setting(), switch, doc)


def _largest_angle(what: str, value: Any) -> float:
    angle = number(value)
    if not angle >= 0.0:
        raise OptionError(what, value, 'a number of 0 or more [rad], or inf')
    return angle


class Joint(Connector):
    """
    A frame that moves its child link by D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex), theory.md, eq. (2).

    Its `matrix_world` is the parent's times T(position, quaternion) times D. A joint whose child
    is elsewhere in the tree is a closure: its moved frame must coincide with that link's frame.

    Parameters
    ----------
    name : str
        Name in messages and results.

    Examples
    --------
    >>> import ik_node as ik
    >>> joint = ik.Joint('shoulder')
    >>> joint.set_dof('EZ')
    >>> joint.set_min_limits(-2.0)
    False
    >>> joint.set_dof_values(0.3)
    False
    >>> joint.lock()
    >>> joint.unlock()

    Target and rest pose, which the solver draws the joint to, and limits:

    >>> joint.set_target_values(0.5), joint.set_rest_pose_values(0.2), joint.set_max_limits(1.0)
    (False, False, False)
    >>> joint.set_max_limit('EZ', 2.0), joint.get_max_limit('EZ'), joint.get_min_limit('EZ')
    (False, 2.0, -2.0)
    >>> joint.get_dof_value('EZ'), joint.get_target_value('EZ'), joint.get_rest_pose_value('EZ')
    (0.3, 0.5, 0.2)
    >>> joint.target_set, joint.rest_pose_set
    (True, True)
    >>> joint.track_joint_wrap = True  # full turns of targets count

    Arrays for all six axes may be written to as well:

    >>> joint.dof_values[5] = 0.4
    >>> joint.dof_target[5], joint.dof_rest_pose[5] = 0.6, 0.1
    >>> joint.min_dof_limit[5], joint.max_dof_limit[5] = -1.0, 1.5
    >>> joint.max_velocity[5], joint.max_effort[5] = 3.0, 20.0

    The same numbers as positions, Euler angles and quaternions:

    >>> joint.get_dof_euler().tolist(), joint.get_dof_position().tolist(), joint.matrix_dof.shape
    ([0.0, 0.0, 0.4], [0.0, 0.0, 0.0], (4, 4))
    >>> joint.get_target_euler().tolist(), joint.get_target_position().tolist()
    ([0.0, 0.0, 0.6], [0.0, 0.0, 0.0])
    >>> joint.get_rest_pose_euler().tolist(), joint.get_rest_pose_position().tolist()
    ([0.0, 0.0, 0.1], [0.0, 0.0, 0.0])
    >>> joint.get_dof_quaternion().round(4).tolist(), joint.get_target_quaternion().shape
    ([0.0, 0.0, 0.1987, 0.9801], (4,))
    >>> joint.get_rest_pose_quaternion().round(4).tolist()
    [0.0, 0.0, 0.05, 0.9988]

    Its axes, the largest angles of a ball joint, and a rigid joint:

    >>> joint.dof, joint.dof_flags[5].item(), joint.rotation_dof_count, joint.translation_dof_count
    ([<DOF.EZ: 5>], True, 1, 0)
    >>> joint.max_turn, joint.max_swing
    (inf, inf)
    >>> joint.clear_dof()

    """

    dof_values: Array = open_array(
        'dof_values',
        lambda joint: joint.set_matrix_dof_needs_update(),
        'Values, shape (6,): X Y Z [m], EX EY EZ [rad].',
    )
    dof_target: Array = _setting('dof_target', 'Targets, shape (6,): X Y Z [m], EX EY EZ [rad].')
    dof_rest_pose: Array = _setting(
        'dof_rest_pose', 'Rest pose, shape (6,): X Y Z [m], EX EY EZ [rad].'
    )
    min_dof_limit: Array = _setting(
        'min_dof_limit', 'Lower limits, shape (6,) [m] and [rad]; -inf = none.'
    )
    max_dof_limit: Array = _setting(
        'max_dof_limit', 'Upper limits, shape (6,) [m] and [rad]; inf = none.'
    )
    max_velocity: Array = _setting(
        'max_velocity', 'Largest speeds, shape (6,) [m/s] and [rad/s]; inf = none.'
    )
    max_effort: Array = _setting(
        'max_effort', 'Largest efforts of a motor, shape (6,) [N] and [N m]; inf = none.'
    )
    locked: NDArray[np.bool_] = _setting(
        'locked', 'True for each axis that the solver must not move, shape (6,), bool.'
    )
    target_set: bool = _switch(
        'target_set', 'True if the solver draws the joint towards `dof_target`.'
    )
    rest_pose_set: bool = _switch(
        'rest_pose_set', 'True if the solver draws the joint towards `dof_rest_pose`.'
    )
    track_joint_wrap: bool = _switch(
        'track_joint_wrap',
        'True: full turns of a target or rest pose count. False: they are taken modulo a full '
        'turn.',
    )
    max_turn: float = counted(
        'max_turn',
        lambda joint: joint._count_graph_edit(),
        _largest_angle,
        'Largest angle of the rotation of a ball joint, about any axis [rad]; inf = none.',
    )
    max_swing: float = counted(
        'max_swing',
        lambda joint: joint._count_graph_edit(),
        _largest_angle,
        'Largest angle between the z axes of a ball joint, which may twist [rad]; inf = none.',
    )
    couplings: dict[DOF, Coupling] = fixed(
        'couplings', 'couple and uncouple', 'Axes that follow another joint, as DOF: Coupling.'
    )
    _internal = (
        *(*Connector._internal, 'describe_value', 'matrix_dof_needs_update'),
        *('set_matrix_dof_needs_update', 'update_dof_matrix', 'value_name'),
    )

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._dof_values, self._dof_target, self._dof_rest_pose = np.zeros((3, 6))
        self._min_dof_limit, self._max_dof_limit = np.empty((2, 6))
        self._max_velocity, self._max_effort = np.empty((2, 6))
        self._locked = np.zeros(6, dtype=bool)
        self._track_joint_wrap = False
        self._reset()
        self._couplings: dict[DOF, Coupling] = FixedDict('couple and uncouple')
        self._followed = False
        self._matrix_dof = np.eye(4)
        self._matrix_dof.setflags(write=False)
        self.matrix_dof_needs_update = False

    def _reset(self) -> None:
        """Set values, target and rest pose to zero, without limits and locks."""
        for array in (self._dof_values, self._dof_target, self._dof_rest_pose, self._locked):
            array.fill(0)
        self._min_dof_limit.fill(-np.inf)
        for array in (self._max_dof_limit, self._max_velocity, self._max_effort):
            array.fill(np.inf)
        self._max_turn = self._max_swing = math.inf
        self._target_set = self._rest_pose_set = False

    def _facts(self) -> list[str]:
        facts = [] if self.child is None else [f'to {self.child.name!r}']
        return facts + [self.describe_value(dof) for dof in self.dof]

    def describe_value(self, dof: DOF) -> str:
        """Return an axis as text: value with unit, limits, the joint it follows, and locked."""
        unit = 'rad' if dof.is_rotation else 'm'
        text = f'{dof.name} {self._dof_values[dof]:.4g} {unit}'
        lower, upper = self._min_dof_limit[dof], self._max_dof_limit[dof]
        if np.isfinite((lower, upper)).any():
            text += f' in [{lower:.4g}, {upper:.4g}]'
        if dof in self._couplings:
            names = [repr(term.master.name) for term in self._couplings[dof].terms]
            text += f', follows {", ".join(names)}'
        return f'{text}, locked' if self._locked[dof] else text

    # -- degrees of freedom

    def set_dof(self, *dofs: int | str) -> None:
        """
        Choose the axes; values, targets, rest pose, limits, locks and couplings are reset.

        Raises
        ------
        OptionError
            If the axes are not in the order X Y Z EX EY EZ, or one occurs twice.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.Joint('leg')
        >>> joint.set_dof('X', 'EZ')
        >>> joint.value_names
        ('leg.X', 'leg.EZ')

        """
        parsed = parse_dofs(dofs)
        given = [_axis(dof) for dof in dofs]
        if list(parsed) != given:
            raise OptionError('dof', [d.name for d in given], 'the order X Y Z EX EY EZ')
        self._reset()
        dict.clear(self._couplings)
        self.set_matrix_dof_needs_update()
        self.revision.count_setting()
        self._choose(given)

    def clear_dof(self) -> None:
        """Remove all axes, so that the joint is rigid."""
        self.set_dof()

    @property
    def translation_dof_count(self) -> int:
        """Return the number of translation axes."""
        return int(np.count_nonzero(self._dof_flags[:3]))

    @property
    def rotation_dof_count(self) -> int:
        """Return the number of rotation axes."""
        return int(np.count_nonzero(self._dof_flags[3:]))

    @property
    def value_names(self) -> tuple[str, ...]:
        """
        Return the name of each value: NAME for one DoF, else NAME.X, NAME.EZ and so on.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.Joint('wrist')
        >>> joint.set_dof('EX', 'EY')
        >>> joint.value_names
        ('wrist.EX', 'wrist.EY')

        """
        return tuple(map(self.value_name, self.dof))

    def value_name(self, dof: DOF) -> str:
        """Return the name of the value of an axis, see `value_names`."""
        return self.name if len(self.dof) == 1 else f'{self.name}.{DOF_NAMES[dof]}'

    def lock(self, dof: int | str | None = None) -> None:
        """
        Lock an axis (None = all axes), so that the solver does not move it.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.lock()  # or joint.lock('EZ')
        >>> joint.locked.tolist()
        [False, False, False, False, False, True]

        """
        self._set_locked(dof, True)

    def unlock(self, dof: int | str | None = None) -> None:
        """
        Unlock an axis (None = all axes).

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j2']
        >>> joint.lock()
        >>> joint.unlock()
        >>> joint.locked.tolist().count(True)
        0

        """
        self._set_locked(dof, False)

    def _set_locked(self, dof: int | str | None, locked: bool) -> None:
        for axis in self.dof if dof is None else [dof]:
            self._locked[self._own(axis)] = locked
        self.revision.count_setting()

    # -- values, [m] for X Y Z and [rad] for EX EY EZ

    def set_dof_values(self, *values: float) -> bool:
        """
        Set all values, one per DoF in order; return True if one was clamped to its limits.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_dof_values(0.5), joint.set_dof_values(9.0)
        (False, True)

        """
        return self._set_all(self._dof_values, 'values', values)

    def set_dof_value(self, dof: int | str, value: float) -> bool:
        """
        Set one value; return True if it was clamped to its limits.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_dof_value('EZ', 0.5)
        False
        >>> joint.get_dof_value('EZ')
        0.5

        """
        return self._set_one(self._dof_values, 'value', dof, value)

    def get_dof_value(self, dof: int | str) -> float:
        """
        Return one value; 0 for an axis that the joint does not have.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j2']
        >>> joint.set_dof_values(0.5)
        False
        >>> joint.get_dof_value('EY'), joint.get_dof_value('X')
        (0.5, 0.0)

        """
        return float(self._dof_values[_axis(dof)])

    def set_target_values(self, *values: float) -> bool:
        """Set all targets, one per DoF in order; return True if one was clamped."""
        clamped = self._set_all(self._dof_target, 'target values', values)
        self.target_set = True
        return clamped

    def set_target_value(self, dof: int | str, value: float) -> bool:
        """
        Set the target of one axis, and return True if it was clamped to its limits.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_target_value('EZ', 0.5)
        False
        >>> joint.get_target_value('EZ')
        0.5

        """
        clamped = self._set_one(self._dof_target, 'target value', dof, value)
        self.target_set = True
        return clamped

    def get_target_value(self, dof: int | str) -> float:
        """Return one target; 0 for an axis that the joint does not have."""
        return float(self._dof_target[_axis(dof)])

    def set_rest_pose_values(self, *values: float) -> bool:
        """
        Set the rest pose, one value per DoF in order; return True if one was clamped.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')  # its solver drifts to 0.3 where the goal leaves j2 free
        >>> robot.joints['j2'].set_rest_pose_values(0.3)
        False

        """
        clamped = self._set_all(self._dof_rest_pose, 'rest pose values', values)
        self.rest_pose_set = True
        return clamped

    def set_rest_pose_value(self, dof: int | str, value: float) -> bool:
        """
        Set one value of the rest pose; return True if it was clamped to its limits.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_rest_pose_value('EZ', 0.5)
        False
        >>> joint.get_rest_pose_value('EZ')
        0.5

        """
        clamped = self._set_one(self._dof_rest_pose, 'rest pose value', dof, value)
        self.rest_pose_set = True
        return clamped

    def get_rest_pose_value(self, dof: int | str) -> float:
        """Return one value of the rest pose; 0 for an axis that the joint does not have."""
        return float(self._dof_rest_pose[_axis(dof)])

    # -- values as a pose; an axis that the joint does not have counts as zero

    def get_dof_position(self) -> Array:
        """Return the values of X Y Z [m], shape (3,)."""
        return self._dof_values[:3].copy()

    def get_dof_euler(self) -> Array:
        """Return the values of EX EY EZ [rad], shape (3,)."""
        return self._dof_values[3:].copy()

    def get_dof_quaternion(self) -> Array:
        """Return the orientation (xyzw) of D, shape (4,)."""
        return quat_from_euler(*self._dof_values[3:].tolist())

    def set_dof_quaternion(self, x: float, y: float, z: float, w: float) -> bool:
        """
        Set the orientation of D, by the Euler angles that are nearest to the present ones.

        Parameters
        ----------
        x, y, z, w : float
            Quaternion; it is normalised.

        Returns
        -------
        bool
            True if an angle was clamped to its limits.

        Raises
        ------
        OptionError
            If the joint does not have all of EX EY EZ.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.Joint('ball')
        >>> joint.set_dof('EX', 'EY', 'EZ')
        >>> joint.set_dof_quaternion(0, 0, 1, 1)
        False
        >>> joint.get_dof_euler().round(4).tolist()
        [0.0, 0.0, 1.5708]

        """
        axes = [self._own(dof) for dof in (DOF.EX, DOF.EY, DOF.EZ)]
        turned = quat_to_matrix(self._unit('quaternion of the values', (x, y, z, w)))
        angles = nearest_euler(
            matrix_to_euler(turned),
            self._dof_values[3:],
            self._min_dof_limit[3:],
            self._max_dof_limit[3:],
        )
        clamped = [self.set_dof_value(*pair) for pair in zip(axes, angles, strict=True)]
        return any(clamped)

    def get_target_position(self) -> Array:
        """Return the targets of X Y Z [m], shape (3,)."""
        return self._dof_target[:3].copy()

    def get_target_euler(self) -> Array:
        """Return the target values of the axes EX EY EZ [rad], shape (3,), see `dof_target`."""
        return self._dof_target[3:].copy()

    def get_target_quaternion(self) -> Array:
        """Return the target values of EX EY EZ as a quaternion (xyzw), shape (4,)."""
        return quat_from_euler(*self._dof_target[3:].tolist())

    def get_rest_pose_position(self) -> Array:
        """Return the rest pose's values of X Y Z [m], shape (3,)."""
        return self._dof_rest_pose[:3].copy()

    def get_rest_pose_euler(self) -> Array:
        """Return the rest pose's values of EX EY EZ [rad], shape (3,)."""
        return self._dof_rest_pose[3:].copy()

    def get_rest_pose_quaternion(self) -> Array:
        """Return the rest pose's orientation (xyzw) of D, shape (4,)."""
        return quat_from_euler(*self._dof_rest_pose[3:].tolist())

    # -- modulo full turns

    def nearest_values(self, values: ArrayLike, present: ArrayLike | None = None) -> Array:
        """
        Return values with their angles replaced by the equivalent ones nearest to present values.

        Parameters
        ----------
        values : array_like, shape (6,)
            A target or rest pose: X Y Z [m], EX EY EZ [rad].
        present : array_like, shape (6,), optional
            Values to be near to; None = `dof_values`.

        Returns
        -------
        ndarray, shape (6,)
            For a joint with one or two of EX EY EZ, full turns are added to the angles. For a
            joint with all three, the result is any triple with the same orientation. It is within
            the limits if an equivalent is. With `track_joint_wrap` the values are unchanged.

        Raises
        ------
        ShapeError
            If the values are not six finite numbers.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.Joint('wheel')
        >>> joint.set_dof('EZ')
        >>> joint.nearest_values([0, 0, 0, 0, 0, 6.0]).round(4).tolist()  # 6 - 2 pi
        [0.0, 0.0, 0.0, 0.0, 0.0, -0.2832]
        >>> joint.set_target_value('EZ', 6.0)
        False
        >>> joint.try_minimize_euler_angles()  # of target and rest pose

        """
        nearest = self._finite('values', values, 6)
        now = self._dof_values if present is None else self._finite('present values', present, 6)
        if self.track_joint_wrap:
            return nearest
        lower, upper = self._min_dof_limit, self._max_dof_limit
        if self.rotation_dof_count == 3:
            nearest[3:] = nearest_euler(nearest[3:], now[3:], lower[3:], upper[3:])
            return nearest
        for dof in self.dof:
            if dof.is_rotation:
                nearest[dof] = nearest_turn(nearest[dof], now[dof], lower[dof], upper[dof])
        return nearest

    def try_minimize_euler_angles(self) -> None:
        """Replace target and rest pose by the equivalent angles nearest to the present values."""
        self._dof_target[:] = self.nearest_values(self._dof_target)
        self._dof_rest_pose[:] = self.nearest_values(self._dof_rest_pose)
        self.revision.count_setting()

    # -- limits

    def set_min_limits(self, *values: float) -> bool:
        """Set all lower limits, one per DoF (inf = none); return True if a value was clamped."""
        self._counted('lower limits', values)
        clamped = [self.set_min_limit(*pair) for pair in zip(self.dof, values, strict=True)]
        return any(clamped)

    def set_max_limits(self, *values: float) -> bool:
        """Set all upper limits, one per DoF (inf = none); return True if a value was clamped."""
        self._counted('upper limits', values)
        clamped = [self.set_max_limit(*pair) for pair in zip(self.dof, values, strict=True)]
        return any(clamped)

    def set_min_limit(self, dof: int | str, value: float) -> bool:
        """
        Set one lower limit (inf = none); return True if the value was clamped to it.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_min_limit('EZ', 0.2)  # its value was 0
        True
        >>> joint.get_dof_value('EZ')
        0.2

        """
        return self.set_limits(dof, value, self._max_dof_limit[_axis(dof)])

    def set_max_limit(self, dof: int | str, value: float) -> bool:
        """
        Set one upper limit (inf = none); return True if the value was clamped to it.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.joints['j2'].set_max_limit('EY', 0.5)
        False
        >>> float(robot.upper[1])
        0.5

        """
        return self.set_limits(dof, self._min_dof_limit[_axis(dof)], value)

    def set_limits(self, dof: int | str, lower: float, upper: float) -> bool:
        """
        Set both limits of an axis; value, target and rest pose are clamped to them.

        Parameters
        ----------
        dof : DOF or str
            The axis.
        lower, upper : float
            Limits [m] or [rad]. Infinity of either sign, and numbers of 1e12 or more, = no limit
            on that side; the two must not be the same infinity.

        Returns
        -------
        bool
            True if the value was clamped.

        Raises
        ------
        OptionError
            If lower is above upper, or both are the same infinity.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.load_robot('arm6').joints['j1']
        >>> joint.set_limits('EZ', -0.5, 0.5)
        False
        >>> joint.get_min_limit('EZ'), joint.get_max_limit('EZ')
        (-0.5, 0.5)

        """
        axis = self._own(dof)
        bounds = lower, upper = number(lower), number(upper)
        if np.isnan(bounds).any():
            raise ShapeError(f'limits of {self.name!r}', 'numbers', str(list(bounds)))
        if lower == upper and np.isinf(lower):
            raise OptionError(
                f'limits of {self.name!r} on {axis.name}',
                (lower, upper),
                'a number in between; -inf and inf for none',
            )
        lower = -np.inf if abs(lower) >= NO_LIMIT else lower
        upper = np.inf if abs(upper) >= NO_LIMIT else upper
        if lower > upper:
            raise OptionError(
                f'limits of {self.name!r} on {axis.name}',
                (lower, upper),
                'lower <= upper (set_limits changes both at once)',
            )
        self._min_dof_limit[axis], self._max_dof_limit[axis] = lower, upper
        self.revision.count_setting()
        for array in (self._dof_target, self._dof_rest_pose):
            self._write(array, axis, array[axis])
        return self._write(self._dof_values, axis, self._dof_values[axis])

    def get_min_limit(self, dof: int | str) -> float:
        """Return one lower limit [m or rad]; -inf = none."""
        return float(self._min_dof_limit[_axis(dof)])

    def get_max_limit(self, dof: int | str) -> float:
        """Return one upper limit [m or rad]; inf = none."""
        return float(self._max_dof_limit[_axis(dof)])

    # -- couplings

    def couple(
        self, dof: int | str, master: Joint, master_dof: int | str, coefficients: ArrayLike
    ) -> None:
        """
        Make an axis follow an axis of another joint: q = sum_i c_i q_master**i.

        Parameters
        ----------
        dof : DOF or str
            The axis that follows.
        master : Joint
            The joint that it follows.
        master_dof : DOF or str
            The axis of the master.
        coefficients : array_like
            c_0, c_1, ...; c_i in [unit of q / unit of q_master**i].

        Raises
        ------
        TopologyError
            If the master follows this axis, directly or through others.
        ShapeError
            If there is no coefficient, or one is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> master, finger = ik.Joint('master'), ik.Joint('finger')
        >>> master.set_dof('EZ')
        >>> finger.set_dof('EZ')
        >>> finger.couple('EZ', master, 'EZ', [0.0, -1.0])  # q = -q_master

        """
        self.couple_sum(dof, [(master, master_dof, coefficients)])

    def couple_sum(
        self,
        dof: int | str,
        terms: Iterable[tuple[Joint, int | str, ArrayLike]],
        offset: float = 0.0,
    ) -> None:
        """
        Make an axis follow several joints: q = offset + sum_k c_k q_k.

        Differential wrists, planetary gears and CoreXY drives are such couplings. The solver keeps
        them exactly, with the limits of all joints, and any of the joints can be driven.

        Parameters
        ----------
        dof : DOF or str
            The axis that follows.
        terms : iterable of (Joint, DOF or str, float or array_like)
            A joint that it follows, the axis of that joint, and c_k [unit of q / unit of q_k], or
            the coefficients of a polynomial of q_k, as for `couple`.
        offset : float
            Its value when all masters are zero [rad or m].

        Raises
        ------
        TopologyError
            If a master follows this axis, directly or through others.
        ShapeError
            If there is no term or coefficient, or one is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> motor = ik.Joint('left motor')
        >>> motor.set_dof('EZ')
        >>> pitch, roll = ik.Joint('pitch'), ik.Joint('roll')
        >>> pitch.set_dof('EY'), roll.set_dof('EX')
        (None, None)
        >>> motor.couple_sum('EZ', [(pitch, 'EY', 1.0), (roll, 'EX', -1.0)])
        >>> motor.couplings[ik.DOF.EZ].value(0.5, 0.2)
        0.3

        """
        what = f'coefficients of the coupling of {self.name!r}'
        axis = self._own(dof)
        result: dict[tuple[Joint, DOF], list[float]] = {}
        for master, master_dof, coefficients in terms:
            if not isinstance(master, Joint):
                raise OptionError(f'master of {self.name!r}', master, 'a joint')
            key = master, master._own(master_dof)
            given = numbers(what, coefficients)
            if given.ndim == 0:
                given = np.array((0.0, float(given)))
            if given.ndim != 1 or not given.size or not np.isfinite(given).all():
                raise ShapeError(what, 'one or more finite numbers', str(given.tolist()))
            both = zip_longest(result.get(key, ()), given.tolist(), fillvalue=0.0)
            result[key] = [sum(pair) for pair in both]
        if not result:
            raise ShapeError(f'masters of {self.name!r}', 'one or more joints', 'none')
        next(iter(result.values()))[0] += self._finite('offset', offset, 1).item()
        for master, master_axis in result:
            # A joint that no joint follows cannot close a circle. Without this shortcut building a
            # long chain of couplings would take quadratic time.
            if self._followed or master is self:
                self._check_circle(axis, master, master_axis)
            master._followed = True
        first, *others = (Coupling(*key, tuple(given)) for key, given in result.items())
        dict.__setitem__(self._couplings, axis, replace(first, others=tuple(others)))
        self.revision.count_setting()
        self._count_graph_edit()

    def _check_circle(self, axis: DOF, master: Joint, master_axis: DOF) -> None:
        waiting = [(master, master_axis, [self, master])]
        seen: set[tuple[Joint, DOF]] = set()
        while waiting:
            joint, index, path = waiting.pop()
            if joint is self and index == axis:
                names = [f'{each.name!r}' for each in path]
                raise TopologyError('coupling in a circle: ' + ' follows '.join(names))
            following = joint._couplings.get(index)
            if following is not None and (joint, index) not in seen:
                waiting += [(t.master, t.master_dof, [*path, t.master]) for t in following.terms]
            seen.add((joint, index))

    def uncouple(self, dof: int | str) -> None:
        """
        Remove the coupling of an axis.

        Examples
        --------
        >>> import ik_node as ik
        >>> master, finger = ik.Joint('master'), ik.Joint('finger')
        >>> master.set_dof('EZ')
        >>> finger.set_dof('EZ')
        >>> finger.couple('EZ', master, 'EZ', [0.0, -1.0])
        >>> finger.uncouple('EZ')
        >>> finger.couplings
        {}

        """
        dict.pop(self._couplings, parse_dofs([dof])[0], None)
        self.revision.count_setting()
        self._count_graph_edit()

    # -- the child

    def add_child(self, child: Frame) -> None:
        """
        Make a link the only child of this joint.

        Raises
        ------
        TopologyError
            If the child is not a link, or the joint already carries or closes on a link.

        Examples
        --------
        >>> import ik_node as ik
        >>> hinge, arm = ik.Joint('hinge'), ik.Link('arm')
        >>> hinge.add_child(arm)
        >>> hinge.child
        Link('arm', on 'hinge')

        """
        link = self._possible_child(child)
        super().add_child(link)
        self._child, self._is_closure = link, False
        self._count_graph_edit()

    # -- matrices

    @property
    def matrix_dof(self) -> Array:
        """Return the motion D, shape (4, 4), read-only."""
        self.update_dof_matrix()
        return self._matrix_dof

    def set_matrix_dof_needs_update(self) -> None:
        """Mark the matrices as out of date."""
        self.matrix_dof_needs_update = True
        self.set_matrix_world_needs_update()
        self.revision.values += 1

    def update_dof_matrix(self) -> None:
        """Update `matrix_dof` if it is out of date."""
        if self.revision.lent:
            self.revision.look()
        if self.matrix_dof_needs_update:
            self._matrix_dof = motion_matrix(self._dof_values)
            self._matrix_dof.setflags(write=False)
            self.matrix_dof_needs_update = False

    def set_world_position(self, x: float, y: float, z: float) -> None:
        """Place the joint so that its moved frame's origin is at (x, y, z) [m], root frame."""
        offset = quat_to_matrix(self.quaternion) @ self.matrix_dof[:3, 3]
        super().set_world_position(x, y, z)
        self.set_position(*(self.position - offset))

    def set_world_quaternion(self, x: float, y: float, z: float, w: float) -> None:
        """Orient the joint so that its moved frame has this orientation, root frame."""
        super().set_world_quaternion(x, y, z, w)
        turned = quat_conjugate(matrix_to_quat(self.matrix_dof))
        self.set_quaternion(*quat_multiply(self.quaternion, turned))

    def _forget_matrices(self) -> None:
        super()._forget_matrices()
        self._matrix_dof = self._matrix
        self.matrix_dof_needs_update = True

    def _moved_matrix(self) -> Array:
        moved = self._matrix @ self.matrix_dof
        moved.setflags(write=False)
        return moved

    def _set_world_matrix(self, matrix: Array) -> None:
        super()._set_world_matrix(matrix @ pose_inverse(self.matrix_dof))

    def get_delta_world_matrix(self, dof: int | str, delta: float) -> tuple[Array, bool]:
        """
        Return the pose of the moved frame for one changed value; the joint stays unchanged.

        Parameters
        ----------
        dof : DOF or str
            The axis.
        delta : float
            Change of the value [m] or [rad].

        Returns
        -------
        matrix : ndarray, shape (4, 4)
            Pose, root frame.
        inverted : bool
            True if `delta` was negated: it would have crossed a limit, and the other limit is
            farther away.

        Examples
        --------
        >>> import ik_node as ik
        >>> joint = ik.Joint('slider')
        >>> joint.set_dof('X')
        >>> matrix, inverted = joint.get_delta_world_matrix('X', 0.1)
        >>> matrix[:3, 3].tolist(), inverted
        ([0.1, 0.0, 0.0], False)

        """
        axis = self._own(dof)
        step = self._finite('delta', delta, 1).item()
        values = self._dof_values.copy()
        room = self._max_dof_limit[axis] - values[axis], values[axis] - self._min_dof_limit[axis]
        ahead, behind = room if step > 0.0 else room[::-1]
        inverted = bool(abs(step) > ahead and behind > ahead)
        values[axis] += -step if inverted else step
        moved = self.matrix @ motion_matrix(values)
        return moved if self.parent is None else self.parent.matrix_world @ moved, inverted

    # -- checks

    def _own(self, dof: int | str) -> DOF:
        axis = _axis(dof)
        if not self._dof_flags[axis]:
            raise OptionError(
                f'dof of {self.name!r}',
                axis.name,
                ' '.join(DOF_NAMES[d] for d in self.dof) or 'none: it is rigid',
            )
        return axis

    def _counted(self, what: str, values: Sequence[float]) -> None:
        if len(values) != len(self.dof):
            names = ' '.join(DOF_NAMES[dof] for dof in self.dof) or 'none'
            raise ShapeError(
                f'{what} of {self.name!r}', f'{len(self.dof)} ({names})', f'{len(values)}'
            )

    def _set_all(self, array: Array, what: str, values: Sequence[float]) -> bool:
        self._counted(what, values)
        checked = self._finite(what, values, len(values)).tolist()  # before one is written
        clamped = [self._write(array, *pair) for pair in zip(self.dof, checked, strict=True)]
        return any(clamped)

    def _set_one(self, array: Array, what: str, dof: int | str, value: float) -> bool:
        return self._write(array, self._own(dof), self._finite(what, value, 1).item())

    def _write(self, array: Array, axis: DOF, target: float) -> bool:
        """Write a value within the limits; return True if it was clamped to them."""
        allowed = min(max(target, self._min_dof_limit[axis]), self._max_dof_limit[axis])
        array[axis] = allowed
        if array is self._dof_values:
            self.set_matrix_dof_needs_update()
        else:
            self.revision.count_setting()
        return bool(allowed != target)


def _axis(dof: int | str) -> DOF:
    return parse_dofs([dof])[0]


def save_rest_pose(root: Frame) -> None:
    """
    Set the rest pose of every joint under a root to the joint's present values.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> ik.save_rest_pose(robot.root)
    >>> robot.joints['j1'].rest_pose_set
    True

    """
    for frame in frame_of(root)._walk():
        if isinstance(frame, Joint) and frame.dof:
            frame._dof_rest_pose[:] = frame._dof_values
            frame.rest_pose_set = True  # counts the change
