"""Run the ROS 2 node; all arguments after --ros-args are passed to ROS."""

from __future__ import annotations

import argparse

from ik_node.cli.rclpy_needed import need_rclpy
from ik_node.ros.parameters.parameter_text import help_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the table of parameters to the help; the command has no options of its own."""
    parser.usage = 'ik_node node [--help] [--ros-args -p NAME:=VALUE -r FROM:=TO ...]'
    parser.epilog = f'parameters (-p NAME:=VALUE, or --params-file FILE):\n\n{help_text()}'


def run(args: argparse.Namespace) -> int:
    """Run the node until it is stopped."""
    need_rclpy()
    from ik_node.ros.main import main

    return main(['ik_node', *args.ros_args])
