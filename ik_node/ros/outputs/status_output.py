"""~/solve_status."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.model.loaded_model import LoadedModel
from ik_node.ros.outputs.add_publisher import add_publisher
from ik_node.ros.outputs.diagnostic_messages import fill_diagnostics
from ik_node.ros.outputs.diagnostics import solve_rows
from ik_node.ros.outputs.status_row import status_name
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
        self._name = status_name(node)
        self._publisher = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._message = DiagnosticArray()
        self._said: tuple[object, ...] = ()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `NodeOutputs.publish_status`."""
        if not self._publisher.get_subscription_count():
            return
        said = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
        if said == self._said:
            self._message.header.stamp = stamp
        else:
            self._said = said
            rows = solve_rows(self._name, report)
            fill_diagnostics(self._message, rows, stamp, model.robot.name)
        self._publisher.publish(self._message)
