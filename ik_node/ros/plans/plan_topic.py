"""The topic ~/joint_trajectory_command: plans in the joint space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.errors import IkError
from ik_node.ros.control.motion import FollowedPlan, Motion
from ik_node.ros.outputs.command_publishers import CommandPublishers
from ik_node.ros.plans.plan_conversion import PlanConversion
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

TOPIC = 'joint_trajectory_command'


class PlanTopic:
    """
    The subscription to plans, which go out on `~/joint_trajectory` as trajectories of the motors.

    A plan that arrives while another one is converted replaces it. `motion` stops its own commands
    when a plan goes out. `refuse` counts and logs a refused message: (topic, reason) -> None.
    """

    def __init__(
        self,
        node: Node,
        conversion: PlanConversion,
        motion: Motion,
        publishers: CommandPublishers,
        refuse: Callable[[str, str], None],
        now: Callable[[], float],
    ) -> None:
        self._node = node
        self._conversion = conversion
        self._motion = motion
        self._publishers = publishers
        self._refuse = refuse
        self._now = now
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
            self._publishers.stop_plan(plan.braking(self._now(), measured()))
            self._node.get_logger().info(f'{TOPIC}: {reason}')

        def behind() -> float:
            return plan.behind(self._now(), measured())

        self._motion.follow_plan(FollowedPlan(stop, True, plan.end, behind))
        log = self._node.get_logger()
        (log.warning if plan.warning else log.info)(f'{TOPIC}: {plan.summary}')
