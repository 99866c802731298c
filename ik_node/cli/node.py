"""
Run the ROS 2 node; all arguments after --ros-args are passed to ROS.

With ROBOT the node reads that file as `check` does, and publishes it on robot_description for RViz
and `ik_node view --ros`. Without ROBOT it waits for a description on that topic.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ik_node.cli.arguments import add_options, check_files, need_rclpy, robot_file
from ik_node.ros.parameters.parameter_table import help_text, yaml_value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, and the table of parameters to the help."""
    rest = '[--ros-args -p NAME:=VALUE -r FROM:=TO ...]'
    parser.usage = f'ik_node node [--help] [ROBOT] [--closures FILE] {rest}'
    parser.epilog = f'parameters (-p NAME:=VALUE, or --params-file FILE):\n\n{help_text()}'
    about = 'file with the robot description, the parameter robot_file'
    parser.add_argument('robot', nargs='?', metavar='ROBOT', type=robot_file, help=about)
    add_options(parser, '--closures FILE  closure annotations, the parameter closures')


def run(args: argparse.Namespace) -> int:
    """Run the node until it is stopped."""
    check_files(args.robot, args.closures)
    need_rclpy()
    from ik_node.ros.main import main

    words = []
    for name, path in (('robot_file', args.robot), ('closures', args.closures)):
        if path is not None:
            words += ['-p', f'{name}:={yaml_value(str(Path(path).absolute()))}']
    # The arguments after --ros-args come last, so that they prevail.
    return main(['ik_node', *(['--ros-args', *words] if words else []), *args.ros_args])
