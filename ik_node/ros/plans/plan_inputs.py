"""
Joint-space plans for the controllers of the motors.

They come on the topic ~/joint_trajectory_command and by the action ~/follow_joint_trajectory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from ik_node.errors import IkError, listed
from ik_node.ros.control.motion import FollowedPlan
from ik_node.ros.messages.convert import RefusedInputError, seconds_from_stamp
from ik_node.ros.outputs.command_publishers import CommandPublishers, part_of
from ik_node.ros.parameters.settings import Outlet, split
from ik_node.ros.plans.plan_conversion import ConvertedPlan, PlanConversion
from ik_node.transmission.transmission import PreparedTransmission
import numpy as np
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

TOPIC = 'joint_trajectory_command'


class PlanTopic:
    """
    The subscription to plans, which go out on `~/joint_trajectory` as trajectories of the motors.

    A plan that arrives while another one is converted replaces it. `refuse` counts and logs a
    refused message: (topic, reason) -> None.
    """

    def __init__(
        self,
        node: Node,
        conversion: PlanConversion,
        publishers: CommandPublishers,
        refuse: Callable[[str, str], None],
    ) -> None:
        self._node, self._conversion, self._motion = node, conversion, conversion.motion
        self._publishers, self._refuse = publishers, refuse
        node.create_subscription(
            JointTrajectory, f'~/{TOPIC}', self._take, 1, callback_group=ReentrantCallbackGroup()
        )

    async def _take(self, message: Any) -> None:
        try:
            plan = await self._conversion.convert(TOPIC, message)
        except IkError as error:
            self._refuse(TOPIC, str(error))
            return
        except Exception as error:  # noqa: BLE001
            # A defect of this package must not end the node.
            self._refuse(TOPIC, f'{TOPIC}: a plan failed: {type(error).__name__}: {error}')
            return
        reason = self._publishers.publish_trajectory(plan.trajectory)
        if reason:
            self._refuse(TOPIC, f'{TOPIC}: {reason}')
            return

        def measured() -> dict[str, float]:
            return self._motion.measured(plan.trajectory.joint_names)

        def stop(reason: str) -> None:
            self._publishers.stop_plan(plan.braking(self._conversion.now(), measured()))
            self._node.get_logger().info(f'{TOPIC}: {reason}')

        def behind() -> float:
            return plan.behind(self._conversion.now(), measured())

        self._motion.follow_plan(FollowedPlan(stop, True, plan.end, behind))
        log = self._node.get_logger()
        (log.warning if plan.warning else log.info)(f'{TOPIC}: {plan.summary}')


ACTION = 'follow_joint_trajectory'
# A message or point that names a motor, and the motor's place in it.
_Moving = tuple[Any, int]
# How often the controllers of a plan are checked [s].
_CHECKED_EVERY = 0.25
# A plan should have ended after this many times its duration and this long [s]; controllers may
# run it more slowly, and wait until the motors have settled.
_LONGEST_FACTOR, _LONGEST_DELAY = 1.5, 5.0


def add_plan_action(
    node: Node,
    outlets: Sequence[Outlet],
    conversion: PlanConversion,
    publishers: CommandPublishers,
) -> PlanAction | None:
    """
    Offer ~/follow_joint_trajectory, if a controller is named and control_msgs is installed.

    `outlets`: the controllers; those without an action take no part. `publishers` sends the node's
    own commands, which stop while controllers follow a plan.
    """
    outlets = [outlet for outlet in outlets if outlet.action]
    if not outlets:
        return None
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        node.get_logger().warning(
            f'output.action is set, but there is no action ~/{ACTION}: control_msgs is not '
            'installed'
        )
        return None
    return PlanAction(node, FollowJointTrajectory, outlets, conversion, publishers)


class PlanAction:
    """
    An action server for joint-space plans, in front of the actions of controllers.

    Each controller gets the part of the plan for its joints. Feedback is converted to the joint
    space. Cancels go to the controllers. The plan succeeds when all have followed it; if one does
    not, the others are cancelled, and its result is passed on. A newer plan replaces an older one
    as the controllers decide.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        outlets: Sequence[Outlet],
        conversion: PlanConversion,
        publishers: CommandPublishers,
    ) -> None:
        self._node, self._type, self._publishers = node, action_type, publishers
        self._conversion, self._motion, self._now = conversion, conversion.motion, conversion.now
        self._runs: dict[bytes, _Run] = {}
        group = ReentrantCallbackGroup()
        self._clients: list[tuple[Outlet, Any]] = [
            (outlet, ActionClient(node, action_type, outlet.action, callback_group=group))
            for outlet in outlets
        ]
        self._server: Any = ActionServer(
            node,
            action_type,
            f'~/{ACTION}',
            self._execute,
            callback_group=group,
            cancel_callback=self._on_cancel,
        )
        # Controllers may be gone while simulated time stands still.
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(_CHECKED_EVERY, self._check, callback_group=group, clock=clock)

    async def _execute(self, goal: Any) -> Any:
        """Convert a plan, have the controllers follow it, and return their result."""
        try:
            absent = [each.action for each, client in self._clients if not _is_there(client)]
            if absent:
                raise IkError(f'the controller does not offer {listed(absent)}')
            plan = await self._conversion.convert(ACTION, goal.request.trajectory)
            outlets = [outlet for outlet, _ in self._clients]
            takers, reason = split(outlets, list(plan.trajectory.joint_names))
            if reason:
                raise IkError(reason)
        except IkError as error:
            return self._refused(goal, error)
        if goal.is_cancel_requested:
            goal.canceled()
            return self._type.Result()
        self._log(goal, plan)
        tolerance = seconds_from_stamp(goal.request.goal_time_tolerance)
        run = _Run(self._type.Result(), plan, tolerance, self._now())
        followed, key = FollowedPlan(run.cancel), bytes(goal.goal_id.uuid)
        self._motion.follow_plan(followed)
        self._publishers.leave_to_plan()
        self._runs[key] = run
        try:
            parts = [
                (outlet.action, client, self._request(goal, plan, outlet))
                for outlet, client in self._clients
                if outlet in takers
            ]
            run.send(parts, self._feedback(goal, plan))
            if not await run.accepted:
                return self._refused(goal, IkError(run.result.error_string))
            followed.accepted = True
            self._motion.follow_plan(followed)
            outcome = await run.ended
        finally:
            del self._runs[key]
            self._motion.forget_plan(followed)
        if outcome == 'succeeded':
            goal.succeed()
        elif outcome == 'cancelled' and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return run.result

    def _check(self) -> None:
        """Give up plans whose controllers are gone, or should have ended long ago."""
        for run in list(self._runs.values()):
            run.check(self._now())

    def _on_cancel(self, goal: Any) -> Any:
        run = self._runs.get(bytes(goal.goal_id.uuid))
        if run is not None:
            run.cancel('cancelled')
        return CancelResponse.ACCEPT

    def _refused(self, goal: Any, error: IkError) -> Any:
        """Abort a goal, and return a result with the reason."""
        self._node.get_logger().warning(f'~/{ACTION}: {error}')
        goal.abort()
        result = self._type.Result()
        codes = {'joint_names': result.INVALID_JOINTS, 'header.stamp': result.OLD_HEADER_TIMESTAMP}
        field = error.field if isinstance(error, RefusedInputError) else ''
        result.error_code, result.error_string = codes.get(field, result.INVALID_GOAL), str(error)
        return result

    def _log(self, goal: Any, plan: ConvertedPlan) -> None:
        """Log the conversion of a plan; tolerances of joints are not those of motors."""
        log = self._node.get_logger()
        if goal.request.path_tolerance or goal.request.goal_tolerance:
            log.warning(
                f'~/{ACTION}: tolerances in the joint space are ignored; those of the controller '
                'apply',
                once=True,
            )
        (log.warning if plan.warning else log.info)(f'~/{ACTION}: {plan.summary}')

    def _request(self, goal: Any, plan: ConvertedPlan, outlet: Outlet) -> Any:
        """Return the goal for a controller."""
        request = self._type.Goal()
        request.trajectory = part_of(plan.trajectory, outlet.joints)
        request.goal_time_tolerance = goal.request.goal_time_tolerance
        return request

    def _feedback(self, goal: Any, plan: ConvertedPlan) -> Callable[[Any], None]:
        """Return the callback that passes on feedback of the controllers in the joint space."""
        space, latest = self._motion.joint_space, dict[str, _Moving]()
        transmission = space.transmission()
        prepared = transmission.prepare_to_joints()
        prepared.start(plan.start)

        def pass_on(message: Any) -> None:
            motors, feedback = message.feedback, self._type.Feedback()
            if not motors.joint_names:
                return
            for index, name in enumerate(motors.joint_names):
                latest[name] = motors, index
            feedback.header, feedback.joint_names = motors.header, list(space.names)
            try:
                told = [latest[name] for name in transmission.actuators]
                for part in ('desired', 'actual'):
                    points = [(getattr(each, part), index) for each, index in told]
                    _to_joints(prepared, points, getattr(feedback, part))
            except (IkError, KeyError, IndexError):
                # Without positions of all motors there is no joint space.
                return
            difference = np.subtract(feedback.desired.positions, feedback.actual.positions)
            feedback.error.positions = difference.tolist()
            feedback.error.time_from_start = motors.error.time_from_start
            goal.publish_feedback(feedback)

        return pass_on


class _Run:
    """A plan at the controllers, from the first request to the last result."""

    def __init__(self, result: Any, plan: ConvertedPlan, tolerance: float, now: float) -> None:
        # That of the plan: of the first controller that fails, or of the last one.
        self.result = result
        # True when all controllers have accepted the plan, False if one has not.
        self.accepted: Any = Future()
        self.ended: Any = Future()  # How the plan has ended: succeeded, cancelled or aborted.
        self._plan = plan
        self._answer_by = now + _LONGEST_DELAY
        duration = plan.end - plan.begin
        self._last = plan.begin + _LONGEST_FACTOR * duration + tolerance + _LONGEST_DELAY
        self._clients: dict[str, Any] = {}
        self._handles: dict[str, Any] = {}
        self._waiting: set[str] = set()
        self._cancelled = False
        self._stop_reason = ''

    def send(self, parts: Sequence[tuple[str, Any, Any]], feedback: Callable[[Any], None]) -> None:
        """Send the part of each controller: its action, the client and the request."""
        self._clients = {name: client for name, client, _ in parts}
        self._waiting = {*self._clients}
        for name, client, request in parts:
            sent = client.send_goal_async(request, feedback_callback=feedback)
            sent.add_done_callback(partial(self._on_answer, name))

    def cancel(self, reason: str) -> None:
        """Cancel the plan at every controller that follows it, also at those yet to accept it."""
        self._stop_reason = self._stop_reason or reason
        for name, handle in self._handles.items():
            if name in self._waiting:
                handle.cancel_goal_async()

    def check(self, now: float) -> None:
        """Give the plan up if a controller is gone or late."""
        for name in sorted(self._waiting):
            if not _is_there(self._clients[name]):
                self._fail(f'{name} is gone: its controller has ended')
            elif name not in self._handles and now > self._answer_by:
                self._fail(f'{name} does not answer')
            elif now > self._last:
                late = now - self._plan.end
                self._fail(f'{name} gives no result, {late:.3g} s after the end of the plan')

    def _on_answer(self, name: str, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._waiting.discard(name)
            self._fail(f'{name} refused the trajectory of the motors{self._likely_reason()}')
            return
        self._handles[name] = handle
        handle.get_result_async().add_done_callback(partial(self._on_result, name))
        if self._stop_reason:
            handle.cancel_goal_async()
        if len(self._handles) == len(self._clients) and not self.accepted.done():
            self.accepted.set_result(True)

    def _likely_reason(self) -> str:
        """Return what a joint_trajectory_controller refuses by default; it does not tell why."""
        trajectory = self._plan.trajectory
        last = np.array(trajectory.points[-1].velocities)
        if last.any():
            name, largest = trajectory.joint_names[int(np.abs(last).argmax())], np.abs(last).max()
            return (
                f': the last point is in motion ({name} at {largest:.3g}), which it takes only '
                'with allow_nonzero_velocity_at_trajectory_end'
            )
        if any(len(point.effort) for point in trajectory.points):
            return ': the plan has efforts, which many controllers do not take'
        return '; the reason is in its log'

    def _on_result(self, name: str, future: Any) -> None:
        outcome = future.result()
        self._waiting.discard(name)
        cancelled = outcome.status == GoalStatus.STATUS_CANCELED
        if outcome.status != GoalStatus.STATUS_SUCCEEDED and not (cancelled and self._stop_reason):
            if len(self._clients) > 1:
                outcome.result.error_string = f'{name}: {outcome.result.error_string}'
            self._end(outcome.result, 'aborted')
            return
        self._cancelled |= cancelled
        if not self._waiting:
            if self._cancelled and not outcome.result.error_string:
                outcome.result.error_string = self._stop_reason
            self._end(outcome.result, 'cancelled' if self._cancelled else 'succeeded')

    def _fail(self, reason: str) -> None:
        self.result.error_code, self.result.error_string = self.result.INVALID_GOAL, reason
        self._end(self.result, 'aborted')

    def _end(self, result: Any, outcome: str) -> None:
        """End the plan with a result, and cancel it where it still goes on."""
        if self.ended.done():
            return
        self.result = result
        self.cancel('another controller does not follow the plan')
        if not self.accepted.done():
            self.accepted.set_result(False)
        self.ended.set_result(outcome)


def _is_there(client: Any) -> bool:
    """Return True if the action of a controller exists."""
    return bool(client.server_is_ready())


def _to_joints(prepared: PreparedTransmission, points: list[_Moving], into: Any) -> None:
    """Write the points and places of the motors as a point of the joint space."""
    velocities = None
    if all(len(point.velocities) for point, _ in points):
        velocities = [point.velocities[index] for point, index in points]
    state = prepared([point.positions[index] for point, index in points], velocities)
    into.positions = state.joint_position.tolist()
    into.velocities = [] if state.joint_velocity is None else state.joint_velocity.tolist()
    into.time_from_start = points[0][0].time_from_start
