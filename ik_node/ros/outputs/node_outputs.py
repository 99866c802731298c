"""What the node publishes, tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.diagnostic_messages import fill_diagnostics
from ik_node.ros.messages.status_row import StatusRow
from ik_node.ros.outputs.joint_state_output import JointStateOutput
from ik_node.ros.outputs.reached_output import ReachedOutput
from ik_node.ros.outputs.residual_output import ResidualOutput
from ik_node.ros.outputs.status_output import StatusOutput
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.process.add_publisher import add_publisher
from ik_node.ros.process.named_entities import NamedEntities
from rclpy.node import Node


class NodeOutputs:
    """
    Own the publishers; what nobody subscribes to is not even computed.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._joint_states = JointStateOutput(node)
        self._diagnostics = add_publisher(node, DiagnosticArray, '/diagnostics')
        self._reached = ReachedOutput(node)
        self._every_tick = (StatusOutput(node), ResidualOutput(node))

    @property
    def goal_topics(self) -> NamedEntities:
        """Return the publishers `~/reached/<name>`."""
        return self._reached.topics

    def set_model(self, model: LoadedModel) -> None:
        """Write this model's joint names from now on."""
        self._joint_states.set_model(model)

    def publish_state(
        self, report: TickReport, model: LoadedModel, stamp: Any, joints: bool
    ) -> None:
        """
        Publish the configuration of a report: `~/joint_states` and `~/reached/<name>`.

        Parameters
        ----------
        report : TickReport
            The configuration and its velocity.
        model : LoadedModel
            The model that the report is of.
        stamp : builtin_interfaces.msg.Time
            Time of the configuration: that of the tick or of the measurement.
        joints : bool
            Whether `~/joint_states` is published this time.

        """
        if joints:
            self._joint_states.publish(report.q, report.velocity, stamp)
        self._reached.publish(report, model, stamp)

    def publish_status(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish `~/solve_status` and `~/residuals` of a tick; for arguments see above."""
        for output in self._every_tick:
            output.publish(report, model, stamp)

    def publish_diagnostics(self, rows: Sequence[StatusRow], stamp: Any, hardware_id: str) -> None:
        """Publish rows on /diagnostics."""
        message = DiagnosticArray()
        fill_diagnostics(message, rows, stamp, hardware_id)
        self._diagnostics.publish(message)
