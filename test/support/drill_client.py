"""
A client of the node in a process of its own: goals on a circle, as fast as asked.

    python -m support.drill_client X Y Z [--rate HZ] [--count N]

It ends after so many goals, the last of them at X Y Z.
"""

import argparse
import math
import time

from geometry_msgs.msg import PoseStamped
import rclpy

RADIUS = 0.003  # [m]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('centre', type=float, nargs=3)
    parser.add_argument('--rate', type=float, default=50.0)
    parser.add_argument('--count', type=int, default=1_000_000)
    args = parser.parse_args()
    rclpy.init()
    node = rclpy.create_node('drill_client')
    publisher = node.create_publisher(PoseStamped, 'ik_node/goals/platform', 1)
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    goal = PoseStamped()
    x, y, z = args.centre
    begin = time.monotonic()
    for k in range(1, args.count + 1):
        angle = 2.0 * math.pi * 0.5 * k / args.rate
        radius = RADIUS if k < args.count else 0.0
        point = goal.pose.position
        point.x, point.y, point.z = x + radius * math.cos(angle), y + radius * math.sin(angle), z
        publisher.publish(goal)
        wait = begin + k / args.rate - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
    print(f'{args.count} goals in {time.monotonic() - begin:.3f} s', flush=True)
    publisher.wait_for_all_acked()
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
