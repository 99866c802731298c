"""
Read a robot and describe it; the exit code is 1 if its loops do not close or nothing can move.

The report contains: the tree with types, limits, motors and couplings of joints; each loop with
its type and residual; the mobility and its terms; redundant rows of loops, and how much they
disagree because of rounded numbers in the description; loops whose rotation axis differs from the
axes of their joints, and an axis that works; limits that prevent loops from closing; joints and
links that cannot move; and guesses about the description.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys

from ik_node.cli.report.facts import facts_of
from ik_node.cli.report.plot import graph_plot
from ik_node.cli.report.words import as_text, ascii_tree
from ik_node.cli.robot_arguments import add_robot_arguments, check_outputs, robot_of
from ik_node.description.mesh_path import mesh_path
from ik_node.description.sidecars.find import sidecar_name
from ik_node.description.visuals import read_visuals
from ik_node.errors import shown
from ik_node.robot import Robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot and the output options."""
    add_robot_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.add_argument(
        '--plot', metavar='F.png', help='draw the graph of links, joints and loops to a file'
    )


def run(args: argparse.Namespace) -> int:
    """Print the description of the robot and return the exit code."""
    check_outputs(args, [('--plot', args.plot)])
    save = graph_plot(args.plot) if args.plot is not None else None
    robot = robot_of(args)
    found = facts_of(robot)
    found['notes'] += _notes(robot, closures_given=args.closures is not None)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        text = as_text(found, robot.mobility.report())
        try:
            text.encode(sys.stdout.encoding or 'utf-8')
        except UnicodeEncodeError:
            text = ascii_tree(text)
        print(text)
    if save is not None:
        save(found)
    return 0 if found['loops_closed'] and found['can_move'] else 1


def _notes(robot: Robot, *, closures_given: bool) -> list[str]:
    """Return notes on what the robot may lack: loops, and the files of its meshes."""
    found, source = [], robot.description.source
    if not robot.closures and not closures_given:
        found.append(
            'no loops: the description declares none, and there is no '
            f'{sidecar_name(Path(source))} beside it that does'
        )
    if robot.closures and not robot.actuated:
        found.append(
            'no motors are named, so every joint counts as one: name them with `actuated: [...]` '
            'beside the closures, or with <transmission> or <ros2_control> in the description'
        )
    meshes = {v.file for v in read_visuals(robot.description.text, source) if v.kind == 'mesh'}
    missing = sorted(file for file in meshes if mesh_path(file, source) is None)
    if missing:
        found.append(
            f'{len(missing)} of {len(meshes)} meshes are not found, such as {shown(missing[0])}: '
            'links are drawn as rods instead, and solved for all the same; package:// is searched '
            'in the folders above the description and in sourced ROS 2 workspaces'
        )
    return found
