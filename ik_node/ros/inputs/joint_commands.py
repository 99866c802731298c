"""The last joint-space command: positions, velocities and efforts of the joint space."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import JointCommand
from ik_node.ros.messages.refusals import RefusedInputError

# A command with velocities or efforts is stale after this time if goal_timeout is 0 [s]: nobody
# shall move on because its sender is gone.
VELOCITY_TIMEOUT = 0.5


class JointCommands:
    """
    The last command on `~/joint_command`, in force until the next command or goal.

    Attributes
    ----------
    command : JointCommand or None
        None if no command is in force.
    time : float
        Time of the command [s].

    """

    def __init__(self) -> None:
        self.command: JointCommand | None = None
        self.time = 0.0
        self._ranges: dict[str, tuple[float, float]] = {}

    def configure(self, model: LoadedModel, roles: JointRoles) -> None:
        """Accept commands for the joint space of this model, and drop one for other joints."""
        at = [model.joint_names.index(name) for name in roles.joint_space]
        limits = zip(model.lower[at].tolist(), model.upper[at].tolist(), strict=True)
        self._ranges = dict(zip(roles.joint_space, limits, strict=True))
        if self.command is not None and not self._ranges.keys() >= self.command.names:
            self.clear()

    def put(self, command: JointCommand, time: float, topic: str = 'joint_command') -> None:
        """
        Replace the command by one of `time` [s], which arrived on a topic.

        Raises
        ------
        RefusedInputError
            If a joint is not in the joint space, or a position is beyond its limits.

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
