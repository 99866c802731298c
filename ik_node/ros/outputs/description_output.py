"""Publisher of the description of a robot that the node has read from a file."""

from __future__ import annotations

from ik_node.errors import IkError
from ik_node.robot import Robot
from ik_node.ros.process.named_entities import LATCHED
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String


class DescriptionOutput:
    """
    Publisher of the robot as URDF with its loops, for RViz and the browser page.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher: Publisher | None = None
        self._text = ''

    def publish(self, robot: Robot) -> None:
        """Publish a robot, latched."""
        try:
            self._text = robot.to_urdf()
        except IkError as error:
            self._node.get_logger().warning(f'robot_description is not published: {error}')
            return
        if self._publisher is None:
            self._publisher = self._node.create_publisher(String, 'robot_description', LATCHED)
        self._publisher.publish(String(data=self._text))

    def is_own(self, text: str) -> bool:
        """Return True if a description is the published one."""
        return text == self._text
