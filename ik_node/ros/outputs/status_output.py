"""Publishers of ~/solve_status and ~/residuals."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.status_row import fill_diagnostics, status_name
from ik_node.ros.outputs.diagnostics import residual_labels, residual_numbers, solve_rows
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.process.named_entities import add_publisher
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayDimension


class ResidualOutput:
    """
    The publisher of residuals as plain numbers, with the names of goals and closures as labels.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, Float64MultiArray, '~/residuals')
        self._message = Float64MultiArray()
        self._labels: tuple[str, ...] | None = None

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick as `NodeOutputs.publish_status` does; without a solve, nothing."""
        solution = report.solution
        if solution is None or not self._publisher.get_subscription_count():
            return
        labels = residual_labels(solution)
        if labels != self._labels:
            self._labels = labels
            self._message.layout.dim = [
                MultiArrayDimension(
                    label=','.join(labels), size=len(labels), stride=2 * len(labels)
                ),
                MultiArrayDimension(label='position [m],orientation [rad]', size=2, stride=2),
            ]
        self._message.data = residual_numbers(solution)
        self._publisher.publish(self._message)


class StatusOutput:
    """
    The publisher of the solver's status of each chain.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._name = status_name(node)
        self._publisher = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._message = DiagnosticArray()
        self._last_content: tuple[object, ...] = ()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `NodeOutputs.publish_status`."""
        if not self._publisher.get_subscription_count():
            return
        content = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
        if content == self._last_content:
            self._message.header.stamp = stamp
        else:
            self._last_content = content
            rows = solve_rows(self._name, report)
            fill_diagnostics(self._message, rows, stamp, model.robot.name)
        self._publisher.publish(self._message)
