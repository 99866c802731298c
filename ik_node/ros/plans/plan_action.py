"""The action ~/follow_joint_trajectory: joint-space plans for a controller of the motors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from ik_node.errors import IkError
from ik_node.ros.control.motion import Motion
from ik_node.ros.messages.convert import seconds_from_stamp
from ik_node.ros.plans.plan_conversion import ConvertedPlan, PlanConversion
from ik_node.solver.transmission.prepared import PreparedTransmission
import numpy as np
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

ACTION = 'follow_joint_trajectory'


def add_plan_action(
    node: Node,
    controller: str,
    conversion: PlanConversion,
    motion: Motion,
    now: Callable[[], float],
) -> PlanAction | None:
    """
    Offer ~/follow_joint_trajectory, if a controller is named and control_msgs is installed.

    Parameters
    ----------
    node : rclpy.node.Node
        The node that offers the action.
    controller : str
        Action of the controller; '' = none.
    conversion : PlanConversion
        Makes the trajectory of the motors.
    motion : Motion
        Stops its own commands while the controller follows a plan.
    now : callable
        Returns the time of the node's clock [s].

    """
    if not controller:
        return None
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        node.get_logger().warning(
            f'output.action is set, but there is no action ~/{ACTION}: control_msgs is not '
            'installed'
        )
        return None
    return PlanAction(node, FollowJointTrajectory, controller, conversion, motion, now)


class PlanAction:
    """
    An action server for joint-space plans, in front of the action of a controller.

    Feedback is converted to the joint space. Cancels go to the controller; its result is passed
    on. A newer plan replaces an older one as the controller decides.

    Parameters
    ----------
    node, controller, conversion, motion, now
        As for `add_plan_action`.
    action_type : type
        The class control_msgs.action.FollowJointTrajectory.

    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        controller: str,
        conversion: PlanConversion,
        motion: Motion,
        now: Callable[[], float],
    ) -> None:
        self._node = node
        self._type = action_type
        self._name = controller
        self._conversion = conversion
        self._motion = motion
        self._now = now
        # The controller's goal of each of our goals that it follows.
        self._followed: dict[bytes, Any] = {}
        group = ReentrantCallbackGroup()
        self._client: Any = ActionClient(node, action_type, controller, callback_group=group)
        self._server: Any = ActionServer(
            node,
            action_type,
            f'~/{ACTION}',
            self._execute,
            callback_group=group,
            cancel_callback=self._on_cancel,
        )

    async def _execute(self, goal: Any) -> Any:
        """Convert a plan, have the controller follow it, and return its result."""
        try:
            if not self._client.server_is_ready():
                raise IkError(f'the controller does not offer {self._name}')
            plan = await self._conversion.convert(ACTION, goal.request.trajectory)
        except IkError as error:
            return self._refused(goal, str(error))
        if goal.is_cancel_requested:
            goal.canceled()
            return self._type.Result()
        followed = await self._client.send_goal_async(
            self._request(goal, plan), feedback_callback=self._feedback(goal, plan)
        )
        if not followed.accepted:
            return self._refused(goal, f'{self._name} refused the trajectory of the motors')
        begin = max(self._now(), seconds_from_stamp(goal.request.trajectory.header.stamp))
        self._motion.follow_plan(begin + plan.duration)
        key = bytes(goal.goal_id.uuid)
        self._followed[key] = followed
        if goal.is_cancel_requested:
            followed.cancel_goal_async()
        try:
            outcome = await followed.get_result_async()
        finally:
            del self._followed[key]
        if outcome.status == GoalStatus.STATUS_SUCCEEDED:
            goal.succeed()
        elif outcome.status == GoalStatus.STATUS_CANCELED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return outcome.result

    def _on_cancel(self, goal: Any) -> Any:
        followed = self._followed.get(bytes(goal.goal_id.uuid))
        if followed is not None:
            followed.cancel_goal_async()
        return CancelResponse.ACCEPT

    def _refused(self, goal: Any, reason: str) -> Any:
        """Abort a goal, and return a result with the reason."""
        self._node.get_logger().warning(f'~/{ACTION}: {reason}')
        goal.abort()
        result = self._type.Result()
        result.error_code, result.error_string = result.INVALID_GOAL, reason
        return result

    def _request(self, goal: Any, plan: ConvertedPlan) -> Any:
        """Return the goal for the controller; tolerances of joints are not those of motors."""
        if goal.request.path_tolerance or goal.request.goal_tolerance:
            self._node.get_logger().warning(
                f'~/{ACTION}: tolerances in the joint space are ignored; those of the controller '
                'apply',
                once=True,
            )
        request = self._type.Goal()
        request.trajectory = plan.trajectory
        request.goal_time_tolerance = goal.request.goal_time_tolerance
        log = self._node.get_logger()
        (log.warning if plan.warning else log.info)(f'~/{ACTION}: {plan.summary}')
        return request

    def _feedback(self, goal: Any, plan: ConvertedPlan) -> Callable[[Any], None]:
        """Return the callback that passes on feedback of the controller in the joint space."""
        space = self._motion.joint_space
        transmission = space.transmission()
        prepared = transmission.prepare_to_joints()
        prepared.start(plan.start)

        def pass_on(message: Any) -> None:
            motors, feedback = message.feedback, self._type.Feedback()
            names = list(motors.joint_names)
            feedback.header, feedback.joint_names = motors.header, list(space.names)
            try:
                order = [names.index(name) for name in transmission.actuators]
                for part in ('desired', 'actual'):
                    _to_joints(prepared, getattr(motors, part), getattr(feedback, part), order)
            except (IkError, ValueError, IndexError):
                # Without positions of all motors there is no joint space.
                return
            difference = np.subtract(feedback.desired.positions, feedback.actual.positions)
            feedback.error.positions = difference.tolist()
            feedback.error.time_from_start = motors.error.time_from_start
            goal.publish_feedback(feedback)

        return pass_on


def _to_joints(prepared: PreparedTransmission, point: Any, into: Any, order: list[int]) -> None:
    """Write a point of motors as a point of the joint space."""
    velocities = [point.velocities[at] for at in order] if len(point.velocities) else None
    state = prepared([point.positions[at] for at in order], velocities)
    into.positions = state.joint_position.tolist()
    into.velocities = [] if state.joint_velocity is None else state.joint_velocity.tolist()
    into.time_from_start = point.time_from_start
