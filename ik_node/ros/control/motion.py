"""The control step of each tick and of each measurement, and the requests that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import dataclasses
from dataclasses import dataclass
import math
from typing import cast

from ik_node.model.joint import Joint
from ik_node.model.rotation import Array
from ik_node.ros.control.closure_switch import ClosureSwitch
from ik_node.ros.control.following import ActuatedFollowing, GoalFollowing
from ik_node.ros.control.hardware_output import HardwareOutput, NO_GOAL, PATIENCE
from ik_node.ros.control.joint_space import CommandFollowing, JointSpace
from ik_node.ros.control.tracker import renewed, Tracker
from ik_node.ros.inputs.inputs import Inputs, JointTargets
from ik_node.ros.loading import JointRoles, LoadedModel, lock_only
from ik_node.ros.messages import Pose
from ik_node.ros.outputs import HardwareCommand, TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np


@dataclass(eq=False)
class FollowedPlan:
    """A joint-space plan that was given to the controllers."""

    stop: Callable[[str], None]  # Has the controllers stop, for a reason: (str) -> None.
    accepted: bool = False  # False until the controllers have accepted it.
    # Time at which it ends by itself [s]; infinite = when the controllers say so.
    end: float = math.inf
    # Returns by how much the motors are behind it [s]; 0 where the controllers watch them.
    behind: Callable[[], float] = float


@dataclass(slots=True)
class Tick:
    """What the stages of one tick have found out so far."""

    tracker: Tracker  # As for `Motion.tick`.
    settings: Settings
    now: float
    gap: float  # Time since the last tick [s].
    # What the hardware follows: the tracker, or that of commands beside measured motors.
    leader: Tracker
    commanded: bool = False  # True if a joint-space command leads.
    has_goals: bool = False  # True if there is something for the hardware to follow.
    late: str = ''  # Message about a twist that is too old; '' if there is none.
    first: bool = False  # True if the command to the hardware is the first one.
    report: TickReport | None = None  # What to publish; None until a stage has computed it.
    target: TickReport | None = None  # What the hardware follows, if that is not the report.
    command: HardwareCommand | None = None  # Command to the hardware.


class Motion:
    """
    The robot, and everything that moves it, in order of precedence.

    A pause stops it. A closure that is being closed moves it until it is closed. Otherwise it
    follows its goals, or its measured joints. The hardware is commanded afterwards.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._goals = GoalFollowing(inputs.goals, inputs.measured)
        self.joint_space = JointSpace(inputs.measured)
        self._actuated = ActuatedFollowing(inputs.measured, self.joint_space)
        self._commands = CommandFollowing(inputs.commands, inputs.measured, self.joint_space)
        self._command_tracker: Tracker | None = None
        self._rest_pose = JointTargets('rest_pose_set', Joint.set_rest_pose_value)
        self._time: float | None = None
        # Plans at the controllers; one that was replaced stays until its controller says so.
        self._plans: list[FollowedPlan] = []
        # True from a plan until the next goal or command: the measured robot is published.
        self._plan_leads = False
        # The stages of a tick, and the features that they were chosen for.
        self._features: tuple[object, ...] = ()
        self._chosen: Sequence[Callable[[Tick], None]] = ()
        self.tracker: Tracker | None = None  # None before the first model.
        self.paused = False  # True while the service `~/enable` has stopped the robot.
        self.twist_note = ''  # Why a goal does not move by its whole twist; '' if each one does.
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
        self.tracker = renewed(self.tracker, model)
        same_robot = before is not None and model.request.builds_same_robot(before.request)
        if before is not None and before.joint_names != model.joint_names:
            self._rest_pose.forget()
        if not same_robot:
            self.hardware.silence('new robot')
            self.end_plan('another robot')
            self._plan_leads = False
        self.closures.take_model(model, same_robot)
        tracker = self.tracker
        self._command_tracker = renewed(self._command_tracker, model)
        self._inputs.set_robot(model, lambda: tracker.q)
        self.apply(settings)
        return not same_robot

    def apply(self, settings: Settings) -> None:
        """Apply those parameters that ticks do not read from `settings`."""
        self._rest_pose.configure(settings.rest_pose)
        self._inputs.targets.configure(settings.joint_targets)
        if self.tracker is not None:
            self.roles = self._configure(self.tracker.model, settings)
            self.joint_space.configure(self.tracker.model, self.roles)
            self._inputs.commands.configure(self.tracker.model, self.roles)
            self.hardware.outputs, self.hardware.motors = self.roles.outputs, self.roles.actuated

    def _configure(self, model: LoadedModel, settings: Settings) -> JointRoles:
        """Apply parameters to a model; return the roles of its joints."""
        model.frames.base = settings.base_frame
        for goal in settings.active_goals:
            own = model.robot.goals.get(goal.name)
            if own is not None:
                own.weight, own.priority = goal.weight or own.weight, goal.priority
                own.tolerance = goal.goal_tolerance
        roles = JointRoles.of(model.robot, settings)
        lock_only(model.robot, roles.locked)
        self._rest_pose.apply(model.robot)
        self._inputs.targets.apply(model.robot)
        # Setting the options, even equal ones, makes the solver read weights and priorities again.
        model.solver.options = settings.tick_options
        return roles

    def tick(
        self, tracker: Tracker, settings: Settings, now: float
    ) -> tuple[TickReport, HardwareCommand | None]:
        """Return what to publish, and the command to the hardware; None if there is none."""
        gap = 0.0 if self._time is None else now - self._time
        self._time = now
        for each in (tracker, self._command_tracker or tracker):
            each.at(settings, now)
        tick = Tick(tracker, settings, now, gap, tracker)
        for stage in self._stages(tracker, settings):
            stage(tick)
        return cast('TickReport', tick.report), tick.command

    def _stages(self, tracker: Tracker, settings: Settings) -> Sequence[Callable[[Tick], None]]:
        """Return the stages of a tick, in order; a feature that is off is absent."""
        features = (
            *(tracker.model, settings, self.paused, bool(self.closures.closing)),
            *(bool(self._plans), self._plan_leads, self._inputs.measured.has_efforts),
        )
        if features != self._features:
            self._features, self._chosen = features, tuple(self._choose(settings))
        return self._chosen

    def _choose(self, settings: Settings) -> Iterator[Callable[[Tick], None]]:
        actuated = settings.state_source == 'actuated'
        hardware = settings.output_type != 'none'
        if not hardware:
            self.hardware.silence('output.type is none')
        if self.paused:
            yield self._pause
            return
        if self.joint_space.names:
            yield self._take_command
        if hardware or self._plans or self._plan_leads:
            yield self._find_leader
        if hardware:
            yield self._begin_commands
        if not actuated:
            yield self._move_goals
        if self.closures.closing:
            yield self._close_loops
        if self.joint_space.names:
            yield self._follow_command
        yield self._follow_motors if actuated else self._follow_goals
        if not actuated and self._inputs.measured.has_efforts:
            yield self._measure_efforts
        if hardware:
            yield self._command

    # -- stages of a tick

    def _pause(self, tick: Tick) -> None:
        """Hold the robot and the hardware."""
        self.hardware.silence('paused')
        self.end_plan('paused')
        tick.report = tick.tracker.hold('paused')

    def _take_command(self, tick: Tick) -> None:
        """Let the last joint-space command lead, unless a newer goal ends it."""
        commands = self._inputs.commands
        if commands.command is not None and self._inputs.goals.names():
            commands.clear()
        tick.commanded = commands.command is not None
        if tick.commanded and tick.settings.state_source == 'actuated' and self._command_tracker:
            # Beside measured motors, which lead the published configuration, commands have their
            # own.
            tick.leader = self._command_tracker

    def _find_leader(self, tick: Tick) -> None:
        """Find out whether goals, a command or a plan lead; those that are newer stop a plan."""
        settings = tick.settings
        tick.late = self._goals.late_twist(settings, tick.now)
        has_poses = self._goals.has_goals(tick.tracker)
        solved = settings.output_type != 'none' and settings.state_source != 'actuated'
        tick.has_goals = tick.commanded or (solved and has_poses)
        if self._plans:
            if not all(plan.accepted for plan in self._plans):
                tick.has_goals = False
            else:
                if tick.has_goals:
                    self.end_plan('a newer goal or command leads the robot')
                self._plans = [plan for plan in self._plans if tick.now < plan.end]
        if not self._plans and (tick.commanded or has_poses):
            self._plan_leads = False

    def _begin_commands(self, tick: Tick) -> None:
        """Decide whether there are commands to the hardware, and from where they start."""
        hardware = self.hardware
        hardware.at(tick.settings, tick.now)
        hardware.resume(tick.gap)
        tick.first = hardware.begin(tick.leader, tick.has_goals)
        if hardware.note == NO_GOAL and tick.late:
            hardware.note = f'{NO_GOAL}: {tick.late}'
        if self._plans:
            behind = max(plan.behind() for plan in self._plans)
            hardware.note = 'a joint-space plan is under way'
            if behind > PATIENCE:
                hardware.note += f', but the motors are {behind:.1f} s behind it'

    def _move_goals(self, tick: Tick) -> None:
        """Find the motion of the goals that have a twist."""
        q = tick.tracker.q if self.hardware.q is None else self.hardware.q
        self._goals.move(tick.tracker, q)

    def _close_loops(self, tick: Tick) -> None:
        """Take a step towards a configuration in which closures close."""
        tick.report = self.closures.report(tick.tracker, self.hardware.q)
        tick.target = tick.report

    def _follow_command(self, tick: Tick) -> None:
        """Move by the joint-space command."""
        if not tick.commanded or tick.report is not None:
            return
        self.twist_note = ''
        if tick.leader is tick.tracker or self.hardware.q is not None:
            tick.target = self._commands.report(tick.leader)
            if tick.leader is tick.tracker:
                tick.report = tick.target

    def _follow_motors(self, tick: Tick) -> None:
        """Solve for the measured motors."""
        if tick.report is None:
            motors = self.roles.actuated
            tick.report = self._actuated.report(tick.tracker, motors)

    def _follow_goals(self, tick: Tick) -> None:
        """Solve for the goals; from a plan until the next goal, for the measured motors."""
        if tick.report is not None:
            return
        tracker = tick.tracker
        if self._plan_leads and tick.settings.state_source == 'solution':
            motors = tuple(self._inputs.measured.values(self.roles.actuated))
            if motors:
                tick.report = self._actuated.report(tracker, motors)
                return
        reach = None
        if self.hardware.q is not None:
            reach = self.hardware.reach(tracker.model)
        tick.report = self._goals.report(tracker, reach)
        self.twist_note = self._goals.note

    def _measure_efforts(self, tick: Tick) -> None:
        """Add the efforts that belong to those of the measured motors."""
        timeout = tick.settings.joint_state_timeout
        if tick.report and not self._inputs.measured.is_stale(tick.now, timeout):
            tick.report.effort = self.joint_space.effort(tick.report.q)

    def _command(self, tick: Tick) -> None:
        """Command the hardware."""
        hardware, settings = self.hardware, tick.settings
        target = cast('TickReport', tick.target or tick.report)
        command = hardware.command(tick.leader, target, tick.first)
        hardware.note = hardware.note or self.twist_note
        rests = bool(hardware.stale())
        if tick.commanded and rests and hardware.q is not None:
            # When the robot is measured again, a velocity goes on from where the drives rest.
            tick.leader.jump(hardware.q)
        if command is not None and settings.output_interface == 'effort':
            command = self._with_efforts(command, settings, target.stale or rests)
        tick.command = command

    def _with_efforts(
        self, command: HardwareCommand, settings: Settings, stale: bool
    ) -> HardwareCommand:
        """Return a command with the efforts that the interface needs; zeros on stale input."""
        hardware = self.hardware
        if hardware.q is None:
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

        Return None if measured motors do not lead the robot at present. Ticks return the same
        object until they have a new report.
        """
        if settings.state_source != 'actuated' or self.paused or self.closures.closing:
            return None
        tracker.at(settings, now)
        return self._actuated.answer(tracker, self.roles.actuated, names, stamp)

    def goal_poses(self, tracker: Tracker, settings: Settings) -> dict[str, Pose | None]:
        """Return the active goals and their poses; None for a goal without a pose."""
        if settings.state_source == 'actuated':
            return {}
        return self._goals.goal_poses(tracker)

    def measured(self, names: Sequence[str]) -> dict[str, float]:
        """Return the last measured value of each of these joints [rad or m], if it has one."""
        return self._inputs.measured.values(names)

    def plan_start(self, settings: Settings, now: float) -> tuple[Array, str]:
        """Return the configuration (nq,) from which a plan begins, or why there is none."""
        tracker = self.tracker
        if tracker is None or self.paused:
            return np.zeros(0), 'paused' if self.paused else 'no robot yet'
        self.hardware.at(settings, now)
        return self.hardware.measured_start(tracker)

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
        self._rest_pose.update(dict(zip(names, tracker.q.tolist(), strict=True)))
        self._rest_pose.apply(tracker.model.robot)

    def make_closure(self, tracker: Tracker, name: str, settings: Settings) -> str:
        """Start to close a closure; return the reason why it cannot be closed, or ''."""
        tracker.at(settings, tracker.now)
        held = {}
        if settings.state_source == 'actuated':
            present = dict(zip(tracker.model.joint_names, tracker.q.tolist(), strict=True))
            held = {joint: present[joint] for joint in self.roles.actuated}
        return self.closures.make(tracker, name, held)
