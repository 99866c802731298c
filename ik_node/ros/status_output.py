"""~/solve_status."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.add_publisher import add_publisher
from ik_node.ros.diagnostic_messages import fill_diagnostics
from ik_node.ros.diagnostics import solve_rows
from ik_node.ros.loaded_model import LoadedModel
from ik_node.ros.tick_report import TickReport
from rclpy.node import Node


class StatusOutput:
    """
    Publish what the solver says of each chain.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._name = node.get_name()
        self._publisher = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._message = DiagnosticArray()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `Outputs.publish`."""
        if self._publisher.get_subscription_count():
            rows = solve_rows(self._name, report)
            fill_diagnostics(self._message, rows, stamp, model.robot.name)
            self._publisher.publish(self._message)
