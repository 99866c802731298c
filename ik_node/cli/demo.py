"""
Run a robot of the gallery with moving goals on the ROS 2 node.

The demo has three processes: one publishes the robot's description, one is the node, and this one
sends goals. It prints a line per second: status, ticks per second, median solve time, and the
largest gap of a loop and distance to a goal, computed from the received joint states.
"""

from __future__ import annotations

import argparse

from ik_node.cli.rclpy_needed import need_rclpy
from ik_node.gallery import gallery_item, NAMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the duration and the rate."""
    parser.add_argument(
        'name',
        nargs='?',
        default='hexapod',
        metavar='NAME',
        help='name of the robot, see --list (default: %(default)s)',
    )
    parser.add_argument('--list', action='store_true', help='list all robots and exit')
    parser.add_argument(
        '--seconds',
        type=float,
        metavar='S',
        help='time after the first joint state until the demo ends [s]',
    )
    parser.add_argument(
        '--rate',
        type=float,
        default=250.0,
        metavar='HZ',
        help='tick rate of the node [Hz] (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    """Run the demo, or list the robots."""
    if args.list:
        for name in NAMES:
            print(f'{name:{max(map(len, NAMES))}}  {gallery_item(name).about}')
        return 0
    item = gallery_item(args.name)
    need_rclpy()
    from ik_node.ros_client.demo.run_demo import run_demo

    return run_demo(item, args.rate, args.seconds)
