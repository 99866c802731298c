"""~/solve_status."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.diagnostic_messages import fill_diagnostics
from ik_node.ros.messages.marker_bytes import blank_stamp
from ik_node.ros.messages.stamped_bytes import StampedBytes
from ik_node.ros.messages.status_row import status_name
from ik_node.ros.outputs.diagnostics import solve_rows
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.process.add_publisher import add_publisher
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
        self._bytes: StampedBytes | None = None

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `NodeOutputs.publish_status`."""
        if not self._publisher.get_subscription_count():
            return
        said = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
        message = self._message
        if said == self._said:
            if self._bytes is None:
                message.header.stamp = blank_stamp()
                self._bytes = StampedBytes(message)
            if self._bytes.usable:
                self._publisher.publish(self._bytes.filled(stamp))
                return
        self._said, self._bytes = said, None
        fill_diagnostics(message, solve_rows(self._name, report), stamp, model.robot.name)
        self._publisher.publish(message)
