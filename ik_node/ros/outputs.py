"""What the node publishes, tick by tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.ros.convert import fill_joint_state, fill_pose
from ik_node.ros.diagnostic_messages import diagnostic_array
from ik_node.ros.diagnostics import residual_labels, residual_numbers, solve_rows
from ik_node.ros.loaded_model import LoadedModel
from ik_node.ros.names import topic_parts
from ik_node.ros.status_row import StatusRow
from ik_node.ros.tick_report import TickReport
from ik_node.solver import Solution
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

_DEPTH = 10


class Outputs:
    """
    Own the publishers; what nobody subscribes to is not even computed.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._name = node.get_name()
        self._joint_states = node.create_publisher(JointState, '~/joint_states', _DEPTH)
        self._solve_status = node.create_publisher(DiagnosticArray, '~/solve_status', _DEPTH)
        self._residuals = node.create_publisher(Float64MultiArray, '~/residuals', _DEPTH)
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', _DEPTH)
        self._reached: dict[str, Any] = {}
        self._joint_state = JointState()
        self._labels: tuple[str, ...] = ()
        self._residual_message = Float64MultiArray()

    def set_goals(self, names: Iterable[str]) -> None:
        """Have one `~/reached/<name>` for each of these goals."""
        parts = topic_parts(names, 'goal')
        for name in [name for name in self._reached if name not in parts]:
            self._node.destroy_publisher(self._reached.pop(name))
        for name, part in parts.items():
            if name not in self._reached:
                self._reached[name] = self._node.create_publisher(
                    PoseStamped, f'~/reached/{part}', _DEPTH
                )

    def set_model(self, model: LoadedModel) -> None:
        """Write this model's joint names from now on."""
        self._joint_state.name = list(model.joint_names)

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any, joints: bool) -> None:
        """
        Publish one tick.

        Parameters
        ----------
        report : TickReport
            What to say.
        model : LoadedModel
            The one that the report is of.
        stamp : builtin_interfaces.msg.Time
            Time of the tick.
        joints : bool
            Whether `~/joint_states` is published this time.

        """
        if joints:
            fill_joint_state(self._joint_state, stamp, report.q, report.velocity)
            self._joint_states.publish(self._joint_state)
        if self._solve_status.get_subscription_count():
            self._solve_status.publish(
                diagnostic_array(solve_rows(self._name, report), stamp, model.robot.name)
            )
        if report.solution is not None and self._residuals.get_subscription_count():
            self._publish_residuals(report.solution)
        for goal in model.request.goals:
            publisher = self._reached.get(goal.name)
            if publisher is not None and publisher.get_subscription_count():
                message = PoseStamped()
                message.header.stamp = stamp
                message.header.frame_id = model.root_frame
                fill_pose(message.pose, model.reached(goal.name, report.q))
                publisher.publish(message)

    def publish_diagnostics(self, rows: Iterable[StatusRow], stamp: Any, hardware_id: str) -> None:
        """Publish rows on /diagnostics."""
        self._diagnostics.publish(diagnostic_array(rows, stamp, hardware_id))

    def _publish_residuals(self, solution: Solution) -> None:
        labels = residual_labels(solution)
        if labels != self._labels or not self._residual_message.layout.dim:
            self._labels = labels
            self._residual_message.layout.dim = [
                MultiArrayDimension(
                    label=','.join(labels), size=len(labels), stride=2 * len(labels)
                ),
                MultiArrayDimension(label='position [m],orientation [rad]', size=2, stride=2),
            ]
        self._residual_message.data = residual_numbers(solution)
        self._residuals.publish(self._residual_message)
