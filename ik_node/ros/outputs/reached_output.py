"""~/reached/<name>."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.convert import fill_pose
from ik_node.ros.model.loaded_model import LoadedModel
from ik_node.ros.outputs.add_publisher import add_publisher
from ik_node.ros.parameters.names import topic_parts
from ik_node.ros.tick_report import TickReport
from rclpy.node import Node


class ReachedOutput:
    """
    Publish where each goal's frame really is.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publishers: dict[str, Any] = {}

    def set_goals(self, names: Iterable[str]) -> None:
        """Have one topic for each of these goals."""
        parts = topic_parts(names, 'goal')
        for name in [name for name in self._publishers if name not in parts]:
            self._node.destroy_publisher(self._publishers.pop(name))
        for name, part in parts.items():
            if name not in self._publishers:
                self._publishers[name] = add_publisher(
                    self._node, PoseStamped, f'~/reached/{part}'
                )

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `NodeOutputs.publish`."""
        for goal in model.request.goals:
            publisher = self._publishers.get(goal.name)
            if publisher is not None and publisher.get_subscription_count():
                message = PoseStamped()
                message.header.stamp = stamp
                message.header.frame_id = model.root_frame
                fill_pose(message.pose, model.reached(goal.name, report.q))
                publisher.publish(message)
