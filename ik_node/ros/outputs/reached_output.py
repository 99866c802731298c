# flake8: noqa: E203
"""~/reached/<name>."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import fill_pose
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.process.add_publisher import add_publisher
from ik_node.ros.process.named_entities import NamedEntities
from rclpy.node import Node

# Of more goals than this so many are asked in one tick whether somebody hears them.
_MOST = 64


class ReachedOutput:
    """
    Publish where each goal's frame really is.

    Parameters
    ----------
    node : rclpy.node.Node

    Attributes
    ----------
    topics : NamedEntities
        One publisher `~/reached/<name>` for each goal.

    """

    def __init__(self, node: Node) -> None:
        self.topics = NamedEntities(
            'goal',
            '~/reached/{}',
            node.resolve_topic_name,
            lambda name, topic: add_publisher(node, PoseStamped, topic),
            node.destroy_publisher,
        )
        self._turn = 0
        self._heard: set[str] = set()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one configuration, see `NodeOutputs.publish_state`."""
        goals = model.request.goals
        # A thousand goals would take longer to ask for their subscribers than a tick lasts.
        begin = self._turn * _MOST if self._turn * _MOST < len(goals) else 0
        self._turn = begin // _MOST + 1
        asked = {goal.name for goal in goals[begin : begin + _MOST]} | self._heard
        self._heard = {name for name in asked if self._publish(name, report, model, stamp)}

    def _publish(self, name: str, report: TickReport, model: LoadedModel, stamp: Any) -> bool:
        """Publish one goal's pose if somebody hears it; return whether somebody does."""
        publisher = self.topics.get(name)
        if publisher is None or name not in model.goal_links:
            return False
        if not publisher.get_subscription_count():
            return False
        message = PoseStamped()
        message.header.stamp = stamp
        message.header.frame_id = model.root_frame
        fill_pose(message.pose, model.reached(name, report.q))
        publisher.publish(message)
        return True
