"""Measured joint values, joint-space commands and joint targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.loading import JointRoles, LoadedModel
from ik_node.ros.messages import JointCommand, RefusedInputError
import numpy as np
from numpy.typing import NDArray

# Largest number of joints that are stored before the robot is known.
_MOST_EARLY = 100_000
# Largest number of reported unknown names; the limit bounds the memory that a sender can use.
_MOST_REPORTED = 20_000


class _Measured(NamedTuple):
    """The last measurement of a joint; None = unknown."""

    value: float
    time: float
    arrival: int  # Number of its joint state.
    velocity: float | None
    effort: float | None


class MeasuredState:
    """The last measured positions, from complete and partial joint states, in [rad] and [m]."""

    def __init__(self) -> None:
        # Time of the last joint state [s]; None before the first one.
        self.time: float | None = None
        self.arrivals = 0  # Number of joint states so far.
        self.has_efforts = False  # True if the last joint state had efforts.
        self._joint_names: tuple[str, ...] = ()
        self._known: frozenset[str] | None = None
        self._last: dict[str, _Measured] = {}
        self._reported: set[str] = set()

    def set_joint_names(self, names: Sequence[str]) -> None:
        """Set the joints of the model, and drop the values of all other joints."""
        self._joint_names = tuple(names)
        known = self._known = frozenset(names)
        self._last = {
            name: each._replace(velocity=None, effort=None)
            for name, each in self._last.items()
            if name in known
        }
        self._reported.clear()

    def update(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        time: float,
        velocities: Mapping[str, float] = MappingProxyType({}),
        efforts: Mapping[str, float] = MappingProxyType({}),
    ) -> tuple[str, ...]:
        """
        Store values measured at `time` [s].

        `names` and `positions`: joints and their positions [rad or m]. `time`: time of the
        measurement [s]. `velocities` and `efforts`: velocities [rad/s or m/s] and efforts [N m or
        N] of some of the joints; those of the other joints of the message are unknown from now on.
        Return names that the model does not have, each only the first time, up to 20,000.
        """
        self.time = time
        self.arrivals += 1
        self.has_efforts = bool(efforts)
        known = self._known
        unknown = []
        for name, position in zip(names, positions, strict=True):
            if name in known if known is not None else len(self._last) < _MOST_EARLY:
                self._last[name] = _Measured(
                    position, time, self.arrivals, velocities.get(name), efforts.get(name)
                )
            elif name not in self._reported and len(self._reported) < _MOST_REPORTED:
                self._reported.add(name)
                unknown.append(name)
        return tuple(unknown)

    def rewind(self, now: float) -> None:
        """Limit all times to `now` [s], after the clock has jumped back."""
        if self.time is not None:
            self.time = min(self.time, now)
        last = self._last
        self._last = {n: each._replace(time=min(each.time, now)) for n, each in last.items()}

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """Return the last value of each of these joints, without those never measured."""
        return self.values_since(names, 0)

    def velocities(self, names: Sequence[str]) -> list[float] | None:
        """Return the last velocity of each of these joints; None if one is unknown."""
        return self._all_of('velocity', names)

    def efforts(self, names: Sequence[str]) -> list[float] | None:
        """Return the last effort of each of these joints; None if one is unknown."""
        return self._all_of('effort', names)

    def _all_of(self, part: str, names: Sequence[str]) -> list[float] | None:
        found = [getattr(self._last[name], part) for name in names if name in self._last]
        return found if len(found) == len(names) > 0 and None not in found else None

    def values_since(self, names: Iterable[str], arrivals: int) -> dict[str, float]:
        """Return the values of these joints that arrived after joint state number `arrivals`."""
        last = self._last
        return {n: last[n].value for n in names if n in last and last[n].arrival > arrivals}

    def is_stale(self, now: float, timeout: float) -> bool:
        """
        Return True if the last joint state is older than `timeout` [s].

        Return False if no joint state was received, or if `timeout` is 0.
        """
        return timeout > 0.0 and self.time is not None and now - self.time > timeout

    def stale(self, names: Iterable[str], now: float, timeout: float) -> tuple[str, ...]:
        """Return those of the joints whose own last value is older than `timeout` [s]."""
        if timeout <= 0.0:
            return ()
        last = self._last
        return tuple(name for name in names if name in last and now - last[name].time > timeout)

    def start(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a copy of `q` in which every measured joint has its measured value."""
        measured = q.copy()
        for index, name in enumerate(self._joint_names):
            if name in self._last:
                measured[index] = self._last[name].value
        return measured


class JointTargets:
    """
    The last target of each joint value [rad or m]; kept when the model is replaced.

    Targets come from a parameter, and from messages or services; for each joint the last one
    counts. `flag`: attribute of a joint that is True if it has a target of this kind. `set_value`
    sets the target of one axis and the flag: (joint, axis, value).
    """

    def __init__(
        self,
        flag: Literal['target_set', 'rest_pose_set'] = 'target_set',
        set_value: Callable[[Joint, DOF, float], object] = Joint.set_target_value,
    ) -> None:
        self._flag, self._set_value = flag, set_value
        self._configured: dict[str, float] = {}
        self._received: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """
        Replace the targets of the parameter.

        If they changed, they also replace the received targets of the same joint values, or a
        whole rest pose.
        """
        if dict(values) != self._configured:
            self._configured = dict(values)
            kept = {} if self._flag == 'rest_pose_set' else self._received
            self._received = {n: v for n, v in kept.items() if n not in values}

    def update(self, values: Mapping[str, float]) -> None:
        """Use the targets of a message, or a saved rest pose; the others stay."""
        self._received.update(values)

    def apply(self, robot: Robot) -> None:
        """
        Set them on the joints of a robot, and remove all others of the same kind.

        Names that the robot does not have are ignored. A joint has targets for all of its values
        or for none: the others get their present value as target.
        """
        values = {**self._configured, **self._received}
        for joint in robot.joint_order:
            setattr(joint, self._flag, False)
            if any(name in values for name in joint.value_names):
                for name, dof in zip(joint.value_names, joint.dof, strict=True):
                    self._set_value(joint, dof, values.get(name, joint.dof_values[dof]))

    def forget(self) -> None:
        """Forget all targets but those of the parameter."""
        self._received.clear()


# A command with velocities or efforts is stale after this time if goal_timeout is 0 [s]: nobody
# shall move on because its sender is gone.
VELOCITY_TIMEOUT = 0.5


class JointCommands:
    """The last command on `~/joint_command`, in force until the next command or goal."""

    def __init__(self) -> None:
        self.command: JointCommand | None = None  # None if no command is in force.
        self.time = 0.0  # Time of the command [s].
        self._ranges: dict[str, tuple[float, float]] = {}

    def configure(self, model: LoadedModel, roles: JointRoles) -> None:
        """Accept commands for the joint space of this model, and drop one for other joints."""
        indices = [model.joint_names.index(name) for name in roles.joint_space]
        limits = zip(model.lower[indices].tolist(), model.upper[indices].tolist(), strict=True)
        self._ranges = dict(zip(roles.joint_space, limits, strict=True))
        if self.command is not None and not self._ranges.keys() >= self.command.names:
            self.clear()

    def put(self, command: JointCommand, time: float, topic: str = 'joint_command') -> None:
        """Replace the command by one of `time` [s]; RefusedInputError if it is impossible."""
        for name in command.names:
            if name not in self._ranges:
                known = ', '.join(self._ranges) or 'empty'
                reason = f'it is not among transmission.joints, which are {known}'
                raise RefusedInputError(topic, 'name', name, reason)
        _check_ranges(topic, command.positions, self._ranges)
        self.command, self.time = command, time

    def clear(self) -> None:
        """Drop the command."""
        self.command = None

    def rewind(self, now: float) -> None:
        """Limit the time of the command to `now` [s], after the clock has jumped back."""
        self.time = min(self.time, now)

    def is_stale(self, now: float, timeout: float) -> bool:
        """Return True if the command is older than `timeout` [s]; 0 = never, for positions."""
        if timeout <= 0.0:
            command = self.command
            moves = command is not None and any(
                (*command.velocities.values(), *command.efforts.values())
            )
            timeout = VELOCITY_TIMEOUT if moves else float('inf')
        return now - self.time > timeout


def _check_ranges(
    topic: str, positions: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]
) -> None:
    for name, value in positions.items():
        lower, upper = ranges[name]
        if not lower <= value <= upper:
            reason = f'its limits are {lower:.6g} and {upper:.6g}'
            raise RefusedInputError(topic, f'position of {name}', value, reason)
