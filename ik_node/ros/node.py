"""The ROS 2 node: it solves for goal poses and publishes joint states with closed loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
import time
from typing import Any

from ik_node.analysis.file_pose import WARNING
from ik_node.errors import counted, listed, OptionError
from ik_node.ros import loading, outputs
from ik_node.ros.control.motion import Motion
from ik_node.ros.inputs.inputs import Inputs
from ik_node.ros.loading import (
    check_joint_targets,
    JointRoles,
    LoadedModel,
    ModelRequest,
    unknown_joint_targets,
)
from ik_node.ros.markers import SceneOutput
from ik_node.ros.messages import seconds_from_stamp, StatusRow
from ik_node.ros.moveit import add_ik_service, Present
from ik_node.ros.outputs import CommandPublishers, DescriptionOutput, NodeOutputs, TransformOutput
from ik_node.ros.parameters.parameter_server import ParameterServer
from ik_node.ros.parameters.settings import JOINT_VALUES, Settings
from ik_node.ros.plans import add_plan_action, add_plan_topic, PlanConversion
from ik_node.ros.process import (
    BackgroundWork,
    Faults,
    NamedEntities,
    NodeCounts,
    other_of_same_name,
    paused_clock,
    PrintableLogger,
)
from ik_node.ros.services import Services
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

# A description with at most this many links is read in less than half a second.
_QUICK_LINKS = 300
# Largest number of different errors of ticks that the node logs.
_MOST_ERRORS = 20
# How a node without goals gets some.
_NO_GOALS = '; goal_names creates some, or the page: `ik_node view --ros`'


def _is_shown(report: outputs.TickReport, settings: Settings) -> bool:
    """Return True if the configuration of a report is published as joint states."""
    return not report.silent and (settings.publish_on == 'always' or report.converged)


class IkNode(Node):
    """
    A node that solves for the last goals at every tick and publishes the joint states.

    If measured motors lead the robot, it publishes when their measurements arrive.

    All work runs in the node's executor, one callback at a time, except that models are built in a
    background thread.

    Parameters
    ----------
    node_name : str
        Name of the node, unique within its namespace.
    on_robot : callable
        Called without arguments each time the robot is replaced by another one, but not when only
        its goals change; the default does nothing.
    **arguments
        Arguments of `rclpy.node.Node`: context, namespace, parameter_overrides and so on.

    Raises
    ------
    OptionError
        If a parameter is not allowed, or the node would subscribe to its own joint states.

    """

    def __init__(
        self,
        node_name: str = 'ik_node',
        *,
        on_robot: Callable[[], None] = lambda: None,
        **arguments: Any,
    ) -> None:
        super().__init__(
            node_name, automatically_declare_parameters_from_overrides=True, **arguments
        )
        self._on_robot = on_robot
        self._counts = NodeCounts()
        self._supply = loading.ModelSupply(loading.load_model)
        self._descriptions_refused = 0
        self._refusals_logged = 0
        self._tick_errors: set[str] = set()
        self._output_warnings: set[str] = set()
        self._fault = ''
        self._singularity = ''
        self._answer: outputs.TickReport | None = None
        # True while somebody sees markers; a tick draws nothing otherwise.
        self._draws = False
        self._diagnosed = (time.monotonic(), 0)
        self._motion: Motion | None = None
        self._goal_entities: tuple[NamedEntities, ...] = ()
        self._settings_server = ParameterServer(self, self._objection)
        self._refuse_own_joint_states()
        self._outputs = NodeOutputs(self)
        self._commands = CommandPublishers(self)
        self._transforms = TransformOutput(self)
        self._description = DescriptionOutput(self)
        self._inputs = Inputs(self, self._counts, self._on_description, self._on_measurement)
        self._faults = Faults(
            self,
            {
                'name': lambda: other_of_same_name(self),
                'clock': paused_clock(self),
                'joint_states': self._inputs.senders.fault,
            },
        )
        self._scene = SceneOutput(self, self._inputs.goal_inputs.take_goal)
        self._motion = motion = Motion(self._inputs)
        self._node_services = Services(self, motion, lambda: self._settings_server.settings)
        work = BackgroundWork(self)
        add_ik_service(self, self._present, self._inputs.lookup.pose, work)
        conversion = PlanConversion(
            motion, lambda: self._settings_server.settings, self._inputs.time, work
        )
        add_plan_topic(self, conversion, self._commands, self._inputs.refuse)
        outlets = self._settings_server.settings.outlets
        add_plan_action(self, outlets, conversion, self._commands)
        self._goal_entities = (
            self._inputs.goal_inputs.topics,
            self._inputs.goal_inputs.twist_topics,
            self._outputs.goal_topics,
            self._node_services.goals,
        )
        settings = self._settings_server.settings
        self._applied = settings
        self._apply_names(settings)
        self._inputs.obstacles.configure(settings)
        motion.apply(settings)
        self._start_ticker(motion, settings)
        self.create_timer(
            1.0, lambda: self._diagnose(motion), clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        if settings.robot_file:
            # A fault in a file that was named at the start ends the node, like other parameters.
            loading.read_robot(ModelRequest.of('', settings))
            self.get_logger().info(f'robot_file {settings.robot_file}: building its model')
            self._supply.describe('', settings)
        elif settings.robot_description:
            self._request_model(settings.robot_description, settings)
        else:
            self.get_logger().info(f'waiting for {self.resolve_topic_name("robot_description")}')

    def declare_parameters(
        self, namespace: str, parameters: list[Any], ignore_override: bool = False
    ) -> list[Any]:
        """Declare parameters, except those whose default is an empty list of unknown type."""
        typed = [each for each in parameters if len(each) < 2 or each[1] is not None]
        declared: list[Any] = super().declare_parameters(namespace, typed, ignore_override)
        return declared

    @cached_property
    def _printable_logger(self) -> PrintableLogger:
        return PrintableLogger(super().get_logger().name)

    def get_logger(self) -> PrintableLogger:
        """Return the logger, which escapes control characters."""
        return self._printable_logger

    def destroy_node(self) -> None:
        """Stop the drives, cancel a plan under way, and destroy markers and node."""
        # rclpy also calls this if the constructor has failed, or after a shutdown.
        motion: Motion | None = getattr(self, '_motion', None)
        if motion is not None and self.context.ok():
            motion.end_plan('the node ends')
            self._commands.close()
        if hasattr(self, '_scene'):
            self._scene.close()
        super().destroy_node()

    def _present(self) -> Present | None:
        """Return the model, its configuration and the parameters; None before the first model."""
        tracker = None if self._motion is None else self._motion.tracker
        if tracker is None:
            return None
        return tracker.model, tracker.q, self._settings_server.settings

    @property
    def is_building(self) -> bool:
        """Return True if a model is being built in the background."""
        return self._supply.busy

    # -- each tick

    def _start_ticker(self, motion: Motion, settings: Settings) -> None:
        self._ticker = self.create_timer(settings.period, lambda: self._guarded_tick(motion))

    def _guarded_tick(self, motion: Motion) -> None:
        with self._guard(self._report_tick_error):
            self._tick(motion)

    @contextmanager
    def _guard(self, report: Callable[[str], None]) -> Iterator[None]:
        """Report an unexpected exception and continue; raise it if ROS 2 is shut down."""
        try:
            yield
        except Exception as error:
            if not self.context.ok():
                raise
            report(f'{type(error).__name__}: {error}')

    def _report_tick_error(self, reason: str) -> None:
        self._counts.last_error = reason
        if self._motion is not None:
            self._motion.hardware.silence('a tick failed')
        self._commands.publish(None)
        if reason not in self._tick_errors and len(self._tick_errors) < _MOST_ERRORS:
            self._tick_errors.add(reason)
            self.get_logger().error(
                f'a tick failed, and the node continues with the next one: {reason}'
            )

    def _tick(self, motion: Motion) -> None:
        begin = time.perf_counter()
        settings = self._apply_changes(motion)
        tracker = motion.tracker
        if tracker is None:
            return
        self._inputs.goal_inputs.take_early_goals()
        # One reading, so that the steps of joints fit the stamps.
        reading = self.get_clock().now()
        now, stamp = self._inputs.time.now(reading), reading.to_msg()
        report, command = motion.tick(tracker, settings, now)
        if report is not self._answer:
            self._publish_state(report, tracker.model, settings, stamp)
        self._outputs.publish_status(report, tracker.model, stamp)
        if self._commands.outlets:
            self._commands.publish(command)
        if self._draws:
            self._scene.tick(
                tracker.model,
                report.q if _is_shown(report, settings) else None,
                lambda: motion.goal_poses(tracker, settings),
                settings,
                stamp,
                begin + 0.5 * settings.period,
            )
        self._counts.add_tick(time.perf_counter() - begin, settings.period, begin)

    def _on_measurement(self, names: Sequence[str], stamp: Any) -> None:
        """Solve for a measurement and publish the answer, if measured motors lead the robot."""
        motion, settings = self._motion, self._applied
        if motion is None or motion.tracker is None:
            return
        tracker = motion.tracker
        with self._guard(self._refuse_measurement):
            report = motion.answer(
                tracker, names, settings, seconds_from_stamp(stamp), self._inputs.time.now()
            )
            if report is not None:
                self._answer = report
                self._publish_state(report, tracker.model, settings, stamp)

    def _refuse_measurement(self, reason: str) -> None:
        self._inputs.refuse('joint_states', f'joint_states: a message was not answered: {reason}')

    def _publish_state(
        self, report: outputs.TickReport, model: LoadedModel, settings: Settings, stamp: Any
    ) -> None:
        """Publish the configuration of a tick or of the answer to a measurement."""
        shown = _is_shown(report, settings)
        self._outputs.publish_state(report, model, stamp, shown)
        if shown:
            self._transforms.publish(model, report.q, stamp)
        if report.held and report.solution is not None:
            self._counts.last_error = report.held

    # -- models and parameters, replaced between ticks

    def _apply_changes(self, motion: Motion) -> Settings:
        settings = self._settings_server.settings
        if self._supply.finished:
            self._take_model(motion, settings)
        if settings is not self._applied:
            self._apply(motion, settings)
        return settings

    def _on_description(self, text: str) -> None:
        settings = self._settings_server.settings
        if settings.robot_file:
            if not self._description.is_own(text):
                self.get_logger().info(
                    'topic robot_description ignored: the parameter robot_file is set', once=True
                )
        elif settings.robot_description:
            self.get_logger().info(
                'topic robot_description ignored: the parameter of that name is set', once=True
            )
        else:
            self._request_model(text, settings)

    def _request_model(self, text: str, settings: Settings) -> None:
        if self._supply.describe(text, settings):
            self.get_logger().info('robot_description received: building its model')
        else:
            self.get_logger().info('robot_description received again, unchanged')

    def _take_model(self, motion: Motion, settings: Settings) -> None:
        adopted: list[tuple[LoadedModel, bool]] = []
        self._supply.take(lambda model: adopted.append(self._adopt(motion, model, settings)))
        if self._supply.refusals != self._descriptions_refused:
            self._descriptions_refused = self._supply.refusals
            kept = motion.model.robot.name if motion.model else 'no robot'
            self.get_logger().error(
                f'robot_description refused: {self._supply.refused}; keeping {kept}'
            )
        for model, other_robot in adopted:
            self._warn_of_outputs(motion, settings)
            if other_robot:
                self._on_robot()
                if settings.robot_file:
                    self._description.publish(model.robot)
            self._log_ready(model, settings, other_robot)

    def _adopt(
        self, motion: Motion, model: LoadedModel, settings: Settings
    ) -> tuple[LoadedModel, bool]:
        """
        Replace the model; raise IkError if the old one stays.

        The second value is True if the robot is another one, and False if only its goals are.
        """
        # Parameters may have changed while the model was built.
        JointRoles.of(model.robot, settings)
        closures = tuple(model.robot.closures)
        self._node_services.closures.check(closures)
        other_robot = motion.take_model(model, settings)
        self._outputs.set_model(model)
        self._node_services.closures.use(closures)
        # Closures that were closed while the node ran are enabled only now.
        model.count_mobility(model.q_start if motion.tracker is None else motion.tracker.q)
        return model, other_robot

    def _warn_of_outputs(self, motion: Motion, settings: Settings) -> None:
        """Warn about commanded joints without a motor and the reverse, once for each change."""
        roles = motion.roles
        passive = [name for name in roles.outputs if name not in roles.actuated]
        declared = settings.actuated_joints or (motion.model and motion.model.robot.actuated)
        motors = roles.actuated if declared and settings.output_type != 'none' else ()
        forgotten = [name for name in motors if name not in roles.outputs]
        warnings = {
            f'output.joints: {listed(passive)} have no motor, by the description or by '
            'actuated_joints: commands for them have no effect or strain their loops': passive,
            f'output.joints leaves out {listed(forgotten)}, which have a motor: the node sends '
            'no commands for them, and waits if a motion needs them and they stay behind': (
                forgotten
            ),
        }
        present = {text for text, names in warnings.items() if names}
        for text in sorted(present - self._output_warnings):
            self.get_logger().warning(text)
        self._output_warnings = present

    def _log_ready(self, model: LoadedModel, settings: Settings, other_robot: bool) -> None:
        robot = model.robot
        self.get_logger().info(
            f'ready: robot {robot.name}, {counted(len(model.joint_names), "joint")}, '
            f'{counted(len(robot.closures), "loop")}, mobility {model.mobility}, '
            f'goals: {listed(robot.goals)}'
            + ('' if robot.goals or settings.state_source == 'actuated' else _NO_GOALS)
        )
        for parameter, names in unknown_joint_targets(robot, settings).items():
            self.get_logger().warning(
                f'{parameter}: robot {robot.name} has no joint {listed(names)}; the other '
                'joints are used'
            )
        # The notes about the robot do not change with its goals.
        for note in robot.notes if other_robot else ():
            if note.startswith(WARNING):
                self.get_logger().warning(f'{robot.name}: {note.removeprefix(WARNING)}')
            else:
                self.get_logger().info(f'{robot.name}: {note}')

    def _apply(self, motion: Motion, settings: Settings) -> None:
        """Apply parameters that changed since the last tick."""
        before, self._applied = self._applied, settings
        if settings.rate != before.rate:
            self.destroy_timer(self._ticker)
            self._start_ticker(motion, settings)
        try:
            self._apply_names(settings)
        except Exception as error:  # noqa: BLE001
            # For example an invalid QoS override, or an error of the middleware.
            self.get_logger().error(
                f'topics and services are unchanged: {type(error).__name__}: {error}'
            )
        self._inputs.obstacles.configure(settings)
        motion.apply(settings)
        self._draws = True
        self._warn_of_outputs(motion, settings)
        if settings.robot_description not in ('', before.robot_description):
            self._request_model(settings.robot_description, settings)
        else:
            self._supply.apply(settings)

    def _apply_names(self, settings: Settings) -> None:
        """Create the topics and services that parameters name, and remove all others."""
        names = [goal.name for goal in settings.goals]
        for group in self._goal_entities:
            group.check(names)
        for group in self._goal_entities:
            group.use(names)
        self._inputs.goal_inputs.set_goals(names)
        self._commands.set_outlets(settings.outlets, settings.output_interface)
        if settings.output_type != 'none' and settings.joint_state_timeout == 0.0:
            self.get_logger().warning(
                'output.type is set and joint_state_timeout is 0: commands do not '
                'stop when the measured joint states become old',
                once=True,
            )

    def _objection(self, settings: Settings) -> str:
        """Return why valid parameters do not fit the present robot or the node; '' if they do."""
        model = None if self._motion is None else self._motion.model
        try:
            for group in self._goal_entities:
                group.check(goal.name for goal in settings.goals)
            self._inputs.obstacles.read_file(settings)
            text = settings.robot_description
            if text not in ('', self._settings_server.settings.robot_description):
                # Ticks wait while the description is read here. A large one is read by the
                # builder.
                if loading.count_links(text) <= _QUICK_LINKS:
                    loading.read_robot(ModelRequest.of(text, settings))
            elif model is not None:
                loading.check_settings(model, settings)
                if any(getattr(settings, n) != getattr(self._applied, n) for n in JOINT_VALUES):
                    check_joint_targets(model.robot, settings)
        except Exception as error:  # noqa: BLE001
            return ' '.join(str(loading.as_refusal(error)).split())
        return ''

    def _refuse_own_joint_states(self) -> None:
        topic = self.resolve_topic_name('joint_states')
        if topic == self.resolve_topic_name('~/joint_states'):
            raise OptionError(
                'topic joint_states',
                topic,
                'another topic than ~/joint_states, which the node itself publishes: '
                'remap joint_states as well',
            )

    # -- once a second

    def _diagnose(self, motion: Motion) -> None:
        self._inputs.lookup.stop_if_idle()
        self._inputs.obstacles.publish()
        self._draws = self._scene.is_seen(self._applied)
        # No tick does this while simulated time is paused.
        settings = self._apply_changes(motion)
        counts, refusals = self._counts, self._inputs.refusals
        # Simulated time may be slower or faster than ours.
        simulated = self.get_clock().ros_time_is_active
        now = self._inputs.time.now() if simulated else time.monotonic()
        then, ticks = self._diagnosed
        self._diagnosed = (now, counts.ticks)
        rate = (counts.ticks - ticks) / max(now - then, 1e-3)
        if counts.ticks == ticks and settings.rate > 1.0:
            # Simulated time stands still, and drives shall not move on.
            self._commands.publish(None)
        model = motion.model
        new, self._refusals_logged = refusals.total - self._refusals_logged, refusals.total
        released = motion.closures.released
        if motion.tracker is not None:
            motion.tracker.model.count_mobility(motion.tracker.q)
        rows = [
            outputs.model_row(model, self._supply.refused, self._supply.busy, released),
            outputs.input_row(refusals.counts, refusals.last, new),
        ]
        if model is not None and motion.tracker is not None:
            row = outputs.rate_row(rate, settings.rate, counts)
            row.values['last_error'] = counts.last_error
            counts.longest_interval = 0.0
            rows += [row, outputs.twist_row(motion.twist_note)]
            rows += outputs.collision_rows(model, motion.tracker.q, settings.options)
        rows += self._singularity_rows(motion, settings)
        fault = motion.hardware.fault
        if settings.output_type != 'none':
            hardware = motion.hardware
            rows.append(outputs.output_row(hardware.q is not None, hardware.note, fault))
        if fault and not self._fault:
            self.get_logger().error(f'output: {fault}')
        elif self._fault and not fault:
            self.get_logger().info('output: the robot follows its commands again')
        self._fault = fault
        rows += self._faults.rows()
        self._outputs.publish_diagnostics(
            rows, self.get_clock().now().to_msg(), model.robot.name if model else ''
        )

    def _singularity_rows(self, motion: Motion, settings: Settings) -> list[StatusRow]:
        """Return the row of the joint space, if there is one; log a new warning."""
        space, tracker = motion.joint_space, motion.tracker
        if tracker is None or not space.names:
            return []
        singularity, warning = space.singularity(tracker.q), ''
        if singularity is not None:
            warning = singularity.warning(
                settings.transmission_singularity_warning, tracker.model.joint_names, space.names
            )
        if warning and not self._singularity:
            self.get_logger().warning(f'transmission: {warning}')
        self._singularity = warning
        return [outputs.transmission_row(singularity, warning, space.note)]
