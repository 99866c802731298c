"""
Run a robot of the gallery with moving goals on the ROS 2 node.

The node has its own process and reads the robot from its file; this process sends goals. It prints
a line per second: status, ticks per second, median solve time, and the largest gap of a loop and
distance to a goal, computed from the received joint states.
"""

from __future__ import annotations

import argparse

from ik_node.cli.arguments import add_options, need_rclpy
from ik_node.gallery import gallery_item, NAMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the duration and the rate."""
    about = 'name of the robot, see --list; default hexapod'
    parser.add_argument('name', nargs='?', default='hexapod', metavar='NAME', help=about)
    table = """
    --list  list all robots and exit
    --seconds S  time after the first joint state until the demo ends [s]
    --rate HZ  tick rate of the node [Hz]; [default: 250.0]
    """
    add_options(parser, table)


def run(args: argparse.Namespace) -> int:
    """Run the demo, or list the robots."""
    if args.list:
        for name in NAMES:
            print(f'{name:{max(map(len, NAMES))}}  {gallery_item(name).about}')
        return 0
    item = gallery_item(args.name)
    need_rclpy()
    from ik_node.ros_client.run_demo import run_demo

    return run_demo(item, args.rate, args.seconds)
