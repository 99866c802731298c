"""The control step of each tick and of each measurement, and the requests that change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass
import math

from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.control.actuated_following import ActuatedFollowing
from ik_node.ros.control.closure_switch import ClosureSwitch
from ik_node.ros.control.following_error import PATIENCE
from ik_node.ros.control.goal_following import GoalFollowing
from ik_node.ros.control.hardware_output import HardwareOutput, NO_GOAL
from ik_node.ros.control.joint_space import CommandFollowing, JointSpace
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.inputs import Inputs
from ik_node.ros.inputs.joint_commands import apply_joint_values
from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose
from ik_node.ros.outputs.command_publishers import HardwareCommand
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class FollowedPlan:
    """
    A joint-space plan that was given to the controllers.

    Attributes
    ----------
    stop : callable
        Has the controllers stop, for a reason: (str) -> None.
    accepted : bool
        False until the controllers have accepted it.
    end : float
        Time at which it ends by itself [s]; infinite = when the controllers say so.
    behind : callable
        Returns by how much the motors are behind it [s]; 0 where the controllers watch them.

    """

    stop: Callable[[str], None]
    accepted: bool = False
    end: float = math.inf
    behind: Callable[[], float] = float


Array = NDArray[np.float64]


class RestPose:
    """
    The rest pose [rad or m]: that of the parameter or a saved one, whichever came last.

    It is empty at first, and kept when the model is replaced by one with the same joints.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._values: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """Use the value of the parameter if it has changed; it replaces a saved pose."""
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._values = self._configured

    def save(self, values: Mapping[str, float]) -> None:
        """Use a configuration; it replaces the value of the parameter."""
        self._values = dict(values)

    def forget(self) -> None:
        """Go back to the value of the parameter, because the robot is another one."""
        self._values = self._configured

    def apply(self, robot: Robot) -> None:
        """Set it on the joints of a robot; names that the robot does not have are ignored."""
        apply_joint_values(robot, self._values, 'rest_pose_set', Joint.set_rest_pose_value)


class Motion:
    """
    The robot, and everything that moves it, in order of precedence.

    A pause stops it. A closure that is being closed moves it until it is closed. Otherwise it
    follows its goals, or its measured joints. The hardware is commanded afterwards.

    Parameters
    ----------
    inputs : Inputs
        Source of goals, measured values and joint targets.

    Attributes
    ----------
    tracker : Tracker or None
        None before the first model.
    paused : bool
        True while the service `~/enable` has stopped the robot.
    closures : ClosureSwitch
    hardware : HardwareOutput
    joint_space : JointSpace
    roles : JointRoles
    twist_note : str
        Why a goal does not move by its whole twist; '' if each one does.

    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._goals = GoalFollowing(inputs.goals, inputs.measured)
        self.joint_space = JointSpace(inputs.measured)
        self._actuated = ActuatedFollowing(inputs.measured, self.joint_space)
        self._commands = CommandFollowing(inputs.commands, inputs.measured, self.joint_space)
        self._command_tracker: Tracker | None = None
        self._rest_pose = RestPose()
        self._time: float | None = None
        # Plans at the controllers; one that was replaced stays until its controller says so.
        self._plans: list[FollowedPlan] = []
        # True from a plan until the next goal or command: the measured robot is published.
        self._plan_leads = False
        self.tracker: Tracker | None = None
        self.paused = False
        self.twist_note = ''
        self.closures = ClosureSwitch()
        self.hardware = HardwareOutput(inputs.measured)
        self.roles = JointRoles()

    @property
    def model(self) -> LoadedModel | None:
        """Return the present model."""
        return None if self.tracker is None else self.tracker.model

    def take_model(self, model: LoadedModel, settings: Settings) -> bool:
        """Replace the model; return True if it belongs to another robot."""
        before = self.model
        # Parameters that do not fit the new robot raise an error here, before the old one is
        # replaced.
        self._configure(model, settings)
        if self.tracker is None:
            self.tracker = Tracker(model)
        else:
            self.tracker.replace_model(model)
        same_robot = before is not None and model.request.builds_same_robot(before.request)
        if before is not None and before.joint_names != model.joint_names:
            self._rest_pose.forget()
        if not same_robot:
            self.hardware.silence('new robot')
            self.end_plan('another robot')
            self._plan_leads = False
        self.closures.take_model(model, same_robot)
        tracker = self.tracker
        if self._command_tracker is None:
            self._command_tracker = Tracker(model)
        else:
            self._command_tracker.replace_model(model)
        self._inputs.set_robot(model, lambda: tracker.q)
        self.apply(settings)
        return not same_robot

    def apply(self, settings: Settings) -> None:
        """Apply those parameters that ticks do not read from `settings`."""
        joints = settings.joints
        self._rest_pose.configure(joints.rest_pose)
        self._inputs.targets.configure(joints.targets)
        if self.tracker is not None:
            self.roles = self._configure(self.tracker.model, settings)
            self.joint_space.configure(self.tracker.model, self.roles)
            self._inputs.commands.configure(self.tracker.model, self.roles)
            self.hardware.motors = self.roles.actuated

    def _configure(self, model: LoadedModel, settings: Settings) -> JointRoles:
        """Apply parameters to a model; return the roles of its joints."""
        for goal in settings.active_goals:
            own = model.robot.goals.get(goal.name)
            if own is not None:
                own.weight, own.priority = goal.weight or own.weight, goal.priority
                own.tolerance = goal.goal_tolerance
        roles = JointRoles.of(model.robot, settings.joints)
        for joint in model.robot.joint_order:
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                if joint.locked[dof] != (name in roles.locked):
                    (joint.unlock if joint.locked[dof] else joint.lock)(dof)
        self._rest_pose.apply(model.robot)
        self._inputs.targets.apply(model.robot)
        # Setting the options, even equal ones, makes the solver read weights and priorities again.
        model.solver.options = settings.tick_options
        return roles

    def tick(
        self, tracker: Tracker, settings: Settings, now: float
    ) -> tuple[TickReport, HardwareCommand | None]:
        """
        Compute one tick.

        Parameters
        ----------
        tracker : Tracker
            Tracker of the present model.
        settings : Settings
            Parameters of this tick.
        now : float
            Time of the node's clock [s].

        Returns
        -------
        report : TickReport
            The configuration and status to publish.
        command : HardwareCommand or None
            The command to the hardware; None if there is none.

        """
        gap = 0.0 if self._time is None else now - self._time
        if gap < 0.0:
            self._inputs.rewind(now)
        self.hardware.resume(gap, settings, now)
        self._time = now
        if self.paused:
            self.hardware.silence('paused')
            self.end_plan('paused')
            return tracker.hold(now, 'paused'), None
        hardware, outputs = self.hardware, self.roles.outputs
        commanded = self._is_commanded()
        late = self._goals.late_twist(settings, now)
        has_goals = commanded or (
            settings.output_type != 'none'
            and settings.state_source != 'actuated'
            and self._goals.has_goals(tracker, settings)
        )
        # Beside measured motors, which lead the published configuration, commands have their own.
        leader = tracker
        if commanded and settings.state_source == 'actuated' and self._command_tracker:
            leader = self._command_tracker
        has_goals = self._yields_to_plan(has_goals, now)
        if not self._plans and (commanded or self._goals.has_goals(tracker, settings)):
            self._plan_leads = False
        first = hardware.begin(leader, outputs, has_goals, settings, now)
        if settings.state_source != 'actuated':
            at = tracker.q if hardware.q is None else hardware.q
            self._goals.move(tracker, at, settings, now)
        if hardware.note == NO_GOAL and late:
            hardware.note = f'{NO_GOAL}: {late}'
        if self._plans:
            behind = max(plan.behind() for plan in self._plans)
            hardware.note = 'a joint-space plan is under way'
            if behind > PATIENCE:
                hardware.note += f', but the motors are {behind:.1f} s behind it'
        report = wanted = self.closures.report(tracker, settings, now, hardware.q)
        if report is None or wanted is None:
            if commanded and (leader is tracker or hardware.q is not None):
                wanted = self._commands.report(leader, settings, now)
            report = (
                wanted if wanted and leader is tracker else self._follow(tracker, settings, now)
            )
            self.twist_note = '' if commanded else self._goals.note
        if settings.state_source != 'actuated' and not self._inputs.measured.is_stale(
            now, settings.joint_state_timeout
        ):
            report.effort = self.joint_space.effort(report.q)
        command = hardware.command(leader, wanted or report, outputs, settings, now, first)
        hardware.note = hardware.note or self.twist_note
        rests = hardware.is_stale(outputs, settings, now)
        if commanded and rests and hardware.q is not None:
            # When the robot is measured again, a velocity goes on from where the drives rest.
            leader.jump(hardware.q)
        stale = (wanted or report).stale or rests
        return report, self._with_efforts(command, settings, stale) if command else None

    def _yields_to_plan(self, has_goals: bool, now: float) -> bool:
        """Return True if goals or commands lead, not a plan; they stop a plan under way."""
        if self._plans:
            if not all(plan.accepted for plan in self._plans):
                return False
            if has_goals:
                self.end_plan('a newer goal or command leads the robot')
            self._plans = [plan for plan in self._plans if now < plan.end]
        return has_goals

    def _is_commanded(self) -> bool:
        """Return True if a joint-space command leads the robot; a newer goal ends it."""
        if self._inputs.goals.names():
            self._inputs.commands.clear()
        return self._inputs.commands.command is not None

    def _with_efforts(
        self, command: HardwareCommand, settings: Settings, stale: bool
    ) -> HardwareCommand:
        """Return a command with the efforts that the interface needs; zeros on stale input."""
        hardware = self.hardware
        if settings.output_interface != 'effort' or hardware.q is None:
            return command
        efforts = self._commands.efforts(hardware.q, command.names, settings)
        if efforts is not None and stale:
            efforts = np.zeros_like(efforts)
        hardware.note = hardware.note or self._commands.note
        return dataclasses.replace(command, efforts=efforts)

    def answer(
        self, tracker: Tracker, names: Sequence[str], settings: Settings, stamp: float, now: float
    ) -> TickReport | None:
        """
        Compute the answer to a measurement when it arrives, between ticks.

        Parameters
        ----------
        tracker, settings, now
            As for `tick`.
        names : sequence of str
            Names of the measured joints, whose values are in `MeasuredState`.
        stamp : float
            Time of the measurement [s].

        Returns
        -------
        TickReport or None
            None if measured motors do not lead the robot at present. Ticks return the same object
            until they have a new report.

        """
        if settings.state_source != 'actuated' or self.paused or self.closures.closing:
            return None
        return self._actuated.answer(tracker, self.roles.actuated, names, settings, stamp, now)

    def _follow(self, tracker: Tracker, settings: Settings, now: float) -> TickReport:
        if settings.state_source == 'actuated':
            return self._actuated.report(tracker, self.roles.actuated, settings, now)
        motors = tuple(self._inputs.measured.values(self.roles.actuated))
        if self._plan_leads and settings.state_source == 'solution' and motors:
            return self._actuated.report(tracker, motors, settings, now)
        reach = self.hardware.reach(tracker.model, settings, now)
        return self._goals.report(tracker, settings, now, reach)

    def goal_poses(self, tracker: Tracker, settings: Settings) -> dict[str, Pose | None]:
        """Return the active goals and their poses; None for a goal without a pose."""
        if settings.state_source == 'actuated':
            return {}
        return self._goals.goal_poses(tracker, settings)

    def measured(self, names: Sequence[str]) -> dict[str, float]:
        """Return the last measured value of each of these joints [rad or m], if it has one."""
        return self._inputs.measured.values(names)

    def plan_start(self, settings: Settings, now: float) -> tuple[Array, str]:
        """
        Return the configuration (nq,) from which a plan begins [rad or m].

        The second value is the reason why there can be no plan; '' if there can be one.
        """
        tracker = self.tracker
        if tracker is None or self.paused:
            return np.zeros(0), 'paused' if self.paused else 'no robot yet'
        return self.hardware.measured_start(tracker, self.roles.outputs, settings, now)

    def follow_plan(self, plan: FollowedPlan) -> None:
        """
        Send no commands, because a plan goes to the controllers.

        Once they have accepted it, the goals and joint-space commands from before do not count any
        more, nor do earlier plans that end by themselves. Goals and commands that arrive later
        stop the plan and lead the robot again.
        """
        if plan not in self._plans:
            self._plans.append(plan)
        if plan.accepted:
            self._plans = [each for each in self._plans if each is plan or math.isinf(each.end)]
            self._plan_leads = True
            self._inputs.goals.clear()
            self._inputs.commands.clear()

    def forget_plan(self, plan: FollowedPlan) -> None:
        """Take note that a plan has ended, or that the controllers refused it."""
        self._plans = [each for each in self._plans if each is not plan]

    def end_plan(self, reason: str) -> None:
        """Have the controllers stop if they follow a plan."""
        plans, self._plans = self._plans, []
        for plan in plans:
            plan.stop(f'the node stopped the plan: {reason}')

    # -- on demand

    def reset(self, tracker: Tracker) -> None:
        """Go back to the description's configuration and wait for new goals."""
        self._plan_leads = False
        tracker.jump(tracker.model.q_start)
        self.closures.reset(tracker.model)
        self.hardware.silence('reset')
        self.end_plan('reset')
        self._inputs.forget()

    def save_rest_pose(self, tracker: Tracker) -> None:
        """Save the present configuration as the rest pose."""
        names = tracker.model.joint_names
        self._rest_pose.save(dict(zip(names, tracker.q.tolist(), strict=True)))
        self._rest_pose.apply(tracker.model.robot)

    def make_closure(self, tracker: Tracker, name: str, settings: Settings) -> str:
        """Start to close a closure; return the reason why it cannot be closed, or ''."""
        held = {}
        if settings.state_source == 'actuated':
            present = dict(zip(tracker.model.joint_names, tracker.q.tolist(), strict=True))
            held = {joint: present[joint] for joint in self.roles.actuated}
        return self.closures.make(tracker, name, held, settings)
