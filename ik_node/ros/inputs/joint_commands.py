"""Joint-space commands and joint targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import JointCommand, RefusedInputError


def apply_joint_values(
    robot: Robot,
    values: Mapping[str, float],
    flag: Literal['target_set', 'rest_pose_set'],
    set_value: Callable[[Joint, DOF, float], object],
) -> None:
    """
    Set joint targets or the rest pose of a robot, and remove all others of the same kind.

    Names that the robot does not have are ignored. If `values` names some of the values of a
    joint, its other values get their present value as target. `robot`: the robot whose joints are
    changed. `values`: name of a joint value to its target [rad or m]. `flag`: attribute of a joint
    that is True if the joint has a target of this kind. `set_value` sets the target of one axis:
    (joint, axis, value); also sets the flag.
    """
    for joint in robot.joint_order:
        setattr(joint, flag, False)
        if any(name in values for name in joint.value_names):
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                # A joint has targets for all of its values or for none.
                set_value(joint, dof, values.get(name, joint.dof_values[dof]))


class JointTargets:
    """
    The last target of each joint value [rad or m]; kept when the model is replaced.

    Targets come from a parameter and from messages; for each joint the last one counts.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._received: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """
        Replace the targets of the parameter.

        If they changed, they also replace the received targets of the same joint values.
        """
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._received = {n: v for n, v in self._received.items() if n not in values}

    def update(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Use the targets of a message; the others stay."""
        self._received.update(zip(names, positions, strict=True))

    def apply(self, robot: Robot) -> None:
        """Set them on the joints of a robot; names that the robot does not have are ignored."""
        values = {**self._configured, **self._received}
        apply_joint_values(robot, values, 'target_set', Joint.set_target_value)

    def clear(self, robot: Robot) -> None:
        """Forget the targets that came in messages."""
        self._received.clear()
        self.apply(robot)


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
        """
        Replace the command by one of `time` [s], which arrived on a topic.

        Raise RefusedInputError if a joint is not in the joint space, or a position is beyond its
        limits.
        """
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
