"""The ROS 2 node: descriptions and goals in, loop-consistent joint states out."""

from __future__ import annotations

import time
from typing import Any

from ik_node.errors import OptionError
from ik_node.ros.convert import pose_from_matrix
from ik_node.ros.diagnostics import input_row, model_row, rate_row
from ik_node.ros.inputs import Inputs
from ik_node.ros.load_model import check_goal_links, load_model
from ik_node.ros.loaded_model import LoadedModel
from ik_node.ros.model_supply import ModelSupply
from ik_node.ros.names import topic_parts
from ik_node.ros.node_counts import NodeCounts
from ik_node.ros.outputs import Outputs
from ik_node.ros.parameter_server import ParameterServer
from ik_node.ros.settings import Settings
from ik_node.ros.tick_report import TickReport
from ik_node.ros.tracker import Tracker
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger


class IkNode(Node):
    """
    Solve for the last goals at every tick of a timer and publish the joint states.

    Everything that happens runs in the node's executor, one callback at a time, but for the
    building of models.

    Parameters
    ----------
    **arguments
        Passed to `rclpy.node.Node`: context, namespace, parameter_overrides and so on.

    Raises
    ------
    OptionError
        If a parameter is not allowed, or the node would hear its own joint states.

    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(
            'ik_node', automatically_declare_parameters_from_overrides=True, **arguments
        )
        self._tracker: Tracker | None = None
        self._paused = False
        self._counts = NodeCounts()
        self._supply = ModelSupply(load_model)
        self._refused = ''
        self._refusals_told = 0
        self._diagnosed = (time.monotonic(), 0)
        self._settings_server = ParameterServer(self, self._objection)
        self._refuse_own_joint_states()
        self._outputs = Outputs(self)
        self._inputs = Inputs(self, self._counts, self._on_description)
        self._goal_services: dict[str, Any] = {}
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/reset', self._on_reset)
        settings = self._settings_server.settings
        self._applied = settings
        self._apply_goals(settings)
        self._ticker = self.create_timer(settings.period, self._tick)
        self.create_timer(1.0, self._diagnose, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if settings.robot_description:
            self._supply.describe(settings.robot_description, settings)
        else:
            self.get_logger().info(f'waiting for {self.resolve_topic_name("robot_description")}')

    @property
    def is_building(self) -> bool:
        """Whether a model is being built in the background."""
        return self._supply.busy

    # -- every tick

    def _tick(self) -> None:
        begin = time.perf_counter()
        settings = self._settings_server.settings
        self._take_model(settings)
        if settings is not self._applied:
            self._apply(settings)
        tracker = self._tracker
        if tracker is None:
            return
        stamp = self.get_clock().now()
        now = 1e-9 * float(stamp.nanoseconds)
        report, publish = self._solve(tracker, settings, now)
        if settings.publish_on == 'converged' and not report.converged:
            publish = False
        self._outputs.publish(report, tracker.model, stamp.to_msg(), publish)
        self._counts.add_tick(time.perf_counter() - begin, settings.period)

    def _solve(self, tracker: Tracker, settings: Settings, now: float) -> tuple[TickReport, bool]:
        """Return the report, and whether joint states may be published."""
        if self._paused:
            return tracker.hold(now, 'paused'), True
        goals, measured = self._inputs.goals, self._inputs.measured
        active = {goal.name for goal in settings.active_goals if goal.takes_part}
        active &= {goal.name for goal in tracker.model.request.goals}
        stale = [name for name in goals.stale(now, settings.goal_timeout) if name in active]
        notes = [f'goal {name} is stale' for name in stale]
        start = None
        if settings.state_source == 'measured':
            if measured.time is None:
                notes.append('no joint_states yet')
            elif measured.is_stale(now, settings.joint_state_timeout):
                notes.append('joint_states is stale')
                start = measured.start(tracker.q) if settings.on_stale == 'ignore' else None
            else:
                start = measured.start(tracker.q)
        if notes and settings.on_stale == 'stop':
            return tracker.hold(now, '; '.join(notes)), False
        if settings.on_stale == 'hold':
            goals.hold(
                stale, lambda name: pose_from_matrix(tracker.model.reached(name, tracker.q))
            )
        poses = {name: pose for name, pose in goals.poses().items() if name in active}
        return tracker.tick(poses, start, settings, now, tuple(notes)), True

    # -- models and parameters, taken over between ticks

    def _on_description(self, text: str) -> None:
        settings = self._settings_server.settings
        if settings.robot_description:
            self.get_logger().info(
                'robot_description on the topic ignored: the parameter is set', once=True
            )
        elif not self._supply.describe(text, settings):
            self.get_logger().info('robot_description came again unchanged')

    def _take_model(self, settings: Settings) -> None:
        model = self._supply.take()
        if self._supply.refused != self._refused:
            self._refused = self._supply.refused
            if self._refused:
                kept = self._tracker.model.robot.name if self._tracker else 'no robot'
                self.get_logger().error(
                    f'robot_description refused: {self._refused}; going on with {kept}'
                )
        if model is None:
            return
        if self._tracker is None:
            self._tracker = Tracker(model)
        else:
            self._tracker.replace_model(model)
        self._apply_to_model(model, settings)
        self._outputs.set_model(model)
        self._inputs.set_tracker(self._tracker)
        robot = model.robot
        self.get_logger().info(
            f'ready: robot {robot.name}, {len(model.joint_names)} joints, '
            f'{len(robot.closures)} loops, mobility {model.mobility}, '
            f'goals: {", ".join(robot.goals) or "none"}'
        )
        for note in robot.notes:
            self.get_logger().info(f'{robot.name}: {note}')

    def _apply(self, settings: Settings) -> None:
        """Take over parameters that changed since the last tick."""
        before, self._applied = self._applied, settings
        if settings.rate != before.rate:
            self.destroy_timer(self._ticker)
            self._ticker = self.create_timer(settings.period, self._tick)
        if settings.goals != before.goals or settings.base_frame != before.base_frame:
            self._apply_goals(settings)
        if self._tracker is not None:
            self._apply_to_model(self._tracker.model, settings)
        if settings.robot_description not in ('', before.robot_description):
            self._supply.describe(settings.robot_description, settings)
        else:
            self._supply.set_goals(settings)

    def _apply_to_model(self, model: LoadedModel, settings: Settings) -> None:
        for goal in settings.active_goals:
            own = model.robot.goals.get(goal.name)
            if own is not None:
                own.weight, own.priority = goal.weight or own.weight, goal.priority
        # New options, even of equal value, have the solver read weights and priorities anew.
        model.solver.options = settings.options

    def _apply_goals(self, settings: Settings) -> None:
        names = [goal.name for goal in settings.goals]
        self._inputs.set_goals(names, settings.base_frame)
        self._outputs.set_goals(names)
        parts = topic_parts(names, 'goal')
        for name in [name for name in self._goal_services if name not in parts]:
            self.destroy_service(self._goal_services.pop(name))
        for name, part in parts.items():
            if name not in self._goal_services:
                self._goal_services[name] = self.create_service(
                    SetBool,
                    f'~/goals/{part}/enable',
                    lambda request, response, name=name: self._on_goal_enable(
                        name, request, response
                    ),
                )

    def _objection(self, settings: Settings) -> str:
        """Say why parameters, good in themselves, do not fit the present robot."""
        if self._tracker is None:
            return ''
        try:
            check_goal_links(settings.active_goals, self._tracker.model.robot)
        except OptionError as error:
            return str(error)
        return ''

    def _refuse_own_joint_states(self) -> None:
        heard = self.resolve_topic_name('joint_states')
        if heard == self.resolve_topic_name('~/joint_states'):
            raise OptionError(
                'topic joint_states',
                heard,
                'another topic than ~/joint_states, or the node would hear itself: '
                'remap joint_states as well',
            )

    # -- services and diagnostics

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = not request.data
        response.success = True
        response.message = 'paused' if self._paused else 'running'
        self.get_logger().info(response.message)
        return response

    def _on_goal_enable(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        result = self.set_parameters([Parameter(f'goals.{name}.enabled', value=request.data)])[0]
        response.success = result.successful
        response.message = result.reason
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Go back to the description's configuration and wait there for new goals."""
        if self._tracker is None:
            response.message = 'no robot yet'
            return response
        self._tracker.reset()
        self._inputs.forget()
        response.success = True
        response.message = f'robot {self._tracker.model.robot.name} is at its start'
        return response

    def _diagnose(self) -> None:
        now, counts, refusals = time.monotonic(), self._counts, self._inputs.refusals
        then, ticks = self._diagnosed
        self._diagnosed = (now, counts.ticks)
        rate = (counts.ticks - ticks) / max(now - then, 1e-3)
        model = None if self._tracker is None else self._tracker.model
        new, self._refusals_told = refusals.total - self._refusals_told, refusals.total
        name = self.get_name()
        rows = [
            model_row(name, model, self._refused, self._supply.busy),
            input_row(name, refusals.counts, refusals.last, new),
        ]
        if model is not None:
            rows.append(rate_row(name, rate, self._settings_server.settings.rate, counts))
        self._outputs.publish_diagnostics(
            rows, self.get_clock().now().to_msg(), model.robot.name if model else ''
        )
