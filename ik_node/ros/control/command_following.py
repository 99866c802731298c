"""Joint-space commands: the configuration of each tick, and the efforts of the motors."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.ros.control.joint_space import JointSpace
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.joint_commands import JointCommands
from ik_node.ros.inputs.measured_state import MeasuredState
from ik_node.ros.messages.convert import JointCommand
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A joint that is farther from its command than this has not reached it [rad or m].
_REACHED = 1e-6


class CommandFollowing:
    """
    The mode in which a joint-space command leads the robot.

    A position is approached, a velocity moves the position, and a joint of the joint space that
    the command does not name keeps its position. A command with efforts only leaves the robot
    where it is measured.

    Parameters
    ----------
    commands : JointCommands
        The last command.
    measured : MeasuredState
        The measured joint values.
    joint_space : JointSpace
        The transmission.

    Attributes
    ----------
    note : str
        Why no efforts can be commanded; '' if they can.

    """

    def __init__(
        self, commands: JointCommands, measured: MeasuredState, joint_space: JointSpace
    ) -> None:
        self._commands = commands
        self._measured = measured
        self._joint_space = joint_space
        self._targets: dict[str, float] = {}
        # The command and the configuration to which the targets belong, and their time [s].
        self._of: JointCommand | None = None
        self._q: Array | None = None
        self._time = 0.0
        self.note = ''

    def report(self, tracker: Tracker, settings: Settings, now: float) -> TickReport:
        """Compute the configuration of a tick; only called while there is a command."""
        command = self._commands.command
        if command is None:
            return tracker.hold(now, 'no joint_command')
        stale = self._commands.is_stale(now, settings.goal_timeout)
        if stale and (settings.on_stale != 'ignore' or settings.goal_timeout <= 0.0):
            report = tracker.hold(now, 'joint_command is stale')
            report.stale, report.silent = True, settings.on_stale == 'stop'
            self._q = None
            return report
        if command.positions or command.velocities:
            self._move_targets(tracker, command, settings, now)
            targets = self._targets
        else:
            targets = self._measured.values(self._joint_space.motors)
        notes = ('joint_command is stale',) if stale else ()
        report = tracker.drive(targets, settings, now, notes, exact=False)
        at = {name: tracker.model.joint_names.index(name) for name in targets}
        for name, place in at.items():
            reached = float(report.q[place])
            if abs(reached - targets[name]) <= _REACHED or report.under_way:
                continue
            report.notes += (f'{name} is at {reached:.6g} instead of {targets[name]:.6g}',)
            if name in command.velocities:
                # A joint that cannot move on shall turn round as soon as its velocity does.
                self._targets[name] = reached
        self._q = report.q
        return report

    def _move_targets(
        self, tracker: Tracker, command: JointCommand, settings: Settings, now: float
    ) -> None:
        """Move the targets by the velocities of the command since the last tick."""
        model = tracker.model
        begin = self._time
        if self._q is not tracker.q:
            # The robot was elsewhere in the meantime, for example at its measured configuration.
            present = dict(zip(model.joint_names, tracker.q.tolist(), strict=True))
            self._targets = {name: present[name] for name in self._joint_space.names}
            self._of, begin = None, now
        if self._of is not command:
            self._of = command
            self._targets.update(command.positions)
            if command.positions:
                begin = self._commands.time
        self._time = now
        elapsed = max(now - begin, 0.0)
        if not elapsed:
            return
        share = self._joint_space.allowed_share(
            tracker.q, command.velocities, settings.transmission_max_effort_scale
        )
        for name, velocity in command.velocities.items():
            at, before = model.joint_names.index(name), self._targets[name]
            moved = before + share * velocity * elapsed
            least, most = min(float(model.lower[at]), before), max(float(model.upper[at]), before)
            self._targets[name] = min(max(moved, least), most)

    def efforts(self, q: Array, outputs: Sequence[str], settings: Settings) -> Array | None:
        """
        Return the efforts of commanded motors [N m or N]; None without a command of efforts.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Commanded configuration.
        outputs : sequence of str
            Commanded motors.
        settings : Settings
            Parameters of this tick.

        """
        command = self._commands.command
        self.note = 'output.interface is effort, and no effort is commanded'
        if command is None or not command.efforts:
            return None
        efforts, self.note = self._joint_space.motor_efforts(
            q, command.efforts, outputs, settings.transmission_max_effort_scale
        )
        return efforts
