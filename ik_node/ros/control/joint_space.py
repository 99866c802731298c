"""The joint space of a transmission, and commands in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ik_node.errors import IkError
from ik_node.model.rotation import Array
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.inputs import JointCommands, MeasuredState
from ik_node.ros.loading import JointRoles, LoadedModel
from ik_node.ros.messages import JointValues
from ik_node.ros.outputs import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.transmission.state import Singularity
from ik_node.transmission.transmission import Transmission
import numpy as np

T = TypeVar('T')


class JointSpace:
    """
    Velocities, efforts and singularities of the present robot by its motors.

    The transmissions are made on first use, because most robots need none.
    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        self._model: LoadedModel | None = None
        self._roles = JointRoles()
        self._made: dict[tuple[str, ...], Transmission] = {}
        self.note = ''  # Why the last value could not be computed; '' if it could.

    def configure(self, model: LoadedModel, roles: JointRoles) -> None:
        """Use a model with these roles of its joints from now on."""
        if (model, roles) != (self._model, self._roles):
            self._model, self._roles, self.note = model, roles, ''
            self._made.clear()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the joints of the joint space; empty if there is none."""
        return self._roles.joint_space

    @property
    def motors(self) -> tuple[str, ...]:
        """Return the motors of the joint space."""
        return self._roles.motors

    def transmission(self) -> Transmission:
        """Return the transmission; IkError if the motors do not determine the joints."""
        return self._transmission(self.motors, self.names)

    def velocity(self, q: Array) -> Array | None:
        """Return the velocities (nq,) of all joints; None if those of the motors are unknown."""
        motors = self._roles.actuated
        known = self._measured.velocities(motors)
        if known is None:
            return None
        return self._noted(lambda: self._transmission(motors, ()).motion(q) @ np.array(known))

    def effort(self, q: Array) -> Array | None:
        """
        Return the efforts (nq,) by measured ones; None if they are unknown.

        Motors have their measured effort, joints of the joint space the effort that does the same
        work. The other joints are passive: their effort is 0.
        """
        motors, names = self.motors, self.names
        known = self._measured.efforts(motors)
        if known is None or self._model is None:
            return None
        index = self._model.joint_names.index
        effort = np.zeros_like(q)
        if names:
            passed_on = self._noted(lambda: self.transmission().joint_effort(q, known))
            if passed_on is None:
                return None
            effort[[*map(index, names)]] = passed_on
        effort[[*map(index, motors)]] = known
        return effort

    def allowed_share(self, q: Array, velocities: Mapping[str, float], scale: float) -> float:
        """Return the share of velocities with which motors keep `scale` of their limits."""
        try:
            ratio = self.transmission().jacobian(q)
            limits = scale * self._limits()[0]
        except IkError as error:
            self.note = str(error)
            return 0.0
        velocity = np.array([velocities.get(name, 0.0) for name in self.names])
        motor_velocity = np.linalg.lstsq(ratio, velocity, rcond=None)[0]
        return _share(motor_velocity, limits)

    def motor_efforts(
        self, q: Array, efforts: Mapping[str, float], outputs: Sequence[str], scale: float
    ) -> tuple[Array | None, str]:
        """
        Return the efforts of motors that do the work of efforts in the joint space.

        If one exceeds its share `scale` of the limit, all are reduced in proportion. Return
        the efforts of the outputs, and why there are none; '' if there are.
        """
        motors = self.motors
        effort = np.array([efforts.get(name, 0.0) for name in self.names])
        try:
            limits = self._limits()[1]
            result = self.transmission().actuator_effort(q, effort)
        except IkError as error:
            return None, str(error)
        for name in outputs:
            if name not in motors:
                return None, f'{name} is not among the motors of the joint space'
        for name, limit in zip(motors, limits.tolist(), strict=True):
            if not np.isfinite(limit):
                return None, f'{name} has no effort limit in the description'
        result = result * _share(result, scale * limits)
        return result[[motors.index(name) for name in outputs]], ''

    def _limits(self) -> tuple[Array, Array]:
        """Return the velocity and effort limits of the motors; infinite if there is none."""
        tree = self.transmission().solver.tree
        motors = [tree.names.index(name) for name in self.motors]
        return tree.max_velocity[motors], tree.max_effort[motors]

    def singularity(self, q: Array) -> Singularity | None:
        """Return how near q is to a singularity of the joint space; None if that is unknown."""
        self.note = ''
        return self._noted(lambda: self.transmission().singularity(q))

    def _noted(self, compute: Callable[[], T]) -> T | None:
        """Return a value, or None and a note why it could not be computed."""
        try:
            return compute()
        except IkError as error:
            self.note = str(error)
            return None

    def _transmission(self, motors: tuple[str, ...], names: tuple[str, ...]) -> Transmission:
        """Return the transmission to some joints, or to all of them."""
        if self._model is None:
            raise IkError('no robot yet')
        if names not in self._made:
            self._made[names] = Transmission(self._model.solver, motors, names or None)
        return self._made[names]


def _share(values: Array, limits: Array) -> float:
    """Return the largest share of values, at most 1, that is within limits."""
    if not np.isfinite(values).all():
        return 0.0
    excess = np.abs(values) > limits
    return float(np.min(limits[excess] / np.abs(values[excess]), initial=1.0))


# A joint that is farther from its command than this has not reached it [rad or m].
_REACHED = 1e-6


class CommandFollowing:
    """
    The mode in which a joint-space command leads the robot.

    A position is approached, a velocity moves the position, and a joint of the joint space that
    the command does not name keeps its position. A command with efforts only leaves the robot
    where it is measured.
    """

    def __init__(
        self, commands: JointCommands, measured: MeasuredState, joint_space: JointSpace
    ) -> None:
        self._commands = commands
        self._measured = measured
        self._joint_space = joint_space
        self._targets: dict[str, float] = {}
        # The command and the configuration to which the targets belong, and their time [s].
        self._of: JointValues | None = None
        self._q: Array | None = None
        self._time = 0.0
        self.note = ''  # Why no efforts can be commanded; '' if they can.

    def report(self, tracker: Tracker) -> TickReport:
        """Compute the configuration of a tick; only called while there is a command."""
        command, settings, now = self._commands.command, tracker.settings, tracker.now
        if command is None:
            return tracker.hold('no joint_command')
        stale = self._commands.is_stale(now, settings.goal_timeout)
        if stale and (settings.on_stale != 'ignore' or settings.goal_timeout <= 0.0):
            self._q = None
            return tracker.hold('joint_command is stale', stale=True)
        if command.positions or command.velocities:
            self._move_targets(tracker, command)
            targets = self._targets
        else:
            targets = self._measured.values(self._joint_space.motors)
        notes = ('joint_command is stale',) if stale else ()
        report = tracker.drive(targets, notes, exact=False)
        indices = {name: tracker.model.joint_names.index(name) for name in targets}
        for name, place in indices.items():
            reached = float(report.q[place])
            if abs(reached - targets[name]) <= _REACHED or report.under_way:
                continue
            report.notes += (f'{name} is at {reached:.6g} instead of {targets[name]:.6g}',)
            if name in command.velocities:
                # A joint that cannot move on shall turn round as soon as its velocity does.
                self._targets[name] = reached
        self._q = report.q
        return report

    def _move_targets(self, tracker: Tracker, command: JointValues) -> None:
        """Move the targets by the velocities of the command since the last tick."""
        model, now = tracker.model, tracker.now
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
            tracker.q, command.velocities, tracker.settings.transmission_max_effort_scale
        )
        for name, velocity in command.velocities.items():
            index, before = model.joint_names.index(name), self._targets[name]
            moved = before + share * velocity * elapsed
            least, largest = (
                min(float(model.lower[index]), before),
                max(float(model.upper[index]), before),
            )
            self._targets[name] = min(max(moved, least), largest)

    def efforts(self, q: Array, outputs: Sequence[str], settings: Settings) -> Array | None:
        """Return the efforts of commanded motors [N m or N]; None without a command of efforts."""
        command = self._commands.command
        self.note = 'output.interface is effort, and no effort is commanded'
        if command is None or not command.efforts:
            return None
        efforts, self.note = self._joint_space.motor_efforts(
            q, command.efforts, outputs, settings.transmission_max_effort_scale
        )
        return efforts
