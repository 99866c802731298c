"""
Run one of our robots with its goals moving, on the real node.

Three processes: one publishes the robot's description, one is the node, this one sends goals and
prints a line a second: status, ticks a second, median solve time, and the largest gap of a loop
and distance to a goal, measured on the joint states that came.
"""

from __future__ import annotations

import argparse

from ik_node.cli.rclpy_needed import need_rclpy
from ik_node.gallery import gallery_item, NAMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which robot, for how long, and how fast."""
    parser.add_argument(
        'name',
        nargs='?',
        default='hexapod',
        metavar='NAME',
        help='which robot, see --list (default: %(default)s)',
    )
    parser.add_argument('--list', action='store_true', help='name all of them and end')
    parser.add_argument(
        '--seconds',
        type=float,
        metavar='S',
        help='end by itself so long after the first joint state',
    )
    parser.add_argument(
        '--rate',
        type=float,
        default=250.0,
        metavar='HZ',
        help='ticks a second of the node (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    """Run the demo, or say what there is to run."""
    if args.list:
        for name in NAMES:
            print(f'{name:{max(map(len, NAMES))}}  {gallery_item(name).about}')
        return 0
    item = gallery_item(args.name)
    need_rclpy()
    from ik_node.ros_client.demo.run_demo import run_demo

    return run_demo(item, args.rate, args.seconds)
