"""
A bare node for comparison: it publishes the position of the last goal at each tick.

    python benchmark/node_echo.py RATE

It measures the time of the middleware, the timer and rclpy alone.
"""

from __future__ import annotations

from contextlib import suppress
import sys

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState

# As many as the hexapod has, so that messages are of one size.
JOINTS = [f'joint{index}' for index in range(24)]


def main() -> None:
    """Spin until the process is ended."""
    rclpy.init()
    node = rclpy.create_node('ik_node')
    publisher = node.create_publisher(JointState, '~/joint_states', 10)
    message = JointState(name=JOINTS, position=[0.0] * 24, velocity=[0.0] * 24)

    def take(goal: PoseStamped) -> None:
        point = goal.pose.position
        message.position[:3] = type(message.position)('d', (point.x, point.y, point.z))

    def tick() -> None:
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    node.create_subscription(PoseStamped, '~/goals/platform', take, 1)
    node.create_timer(1.0 / float(sys.argv[1]), tick)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == '__main__':
    main()
