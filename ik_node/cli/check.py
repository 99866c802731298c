"""
Read a robot and describe it; exit code 1 if its loops do not close, or an axis holds them.

Says the tree with types, limits, motors and couplings of joints; each loop with its type and how
far it is open; the mobility and what it is made of; rows of loops that are redundant, and by how
much they disagree where the description is rounded; loops that turn about an axis about which
their joints do not, and the axis that would do; limits that are in the way of the loops; what
cannot move; and what was guessed about the description.
"""

from __future__ import annotations

import argparse
import json
import sys

from ik_node.cli.report.facts import facts_of
from ik_node.cli.report.words import ascii_tree, in_words
from ik_node.cli.robot_arguments import add_robot_arguments, robot_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, and the form of the answer."""
    add_robot_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.add_argument(
        '--plot', metavar='F.png', help='draw the graph of links, joints and loops into a file'
    )


def run(args: argparse.Namespace) -> int:
    """Describe the robot."""
    save = None
    if args.plot is not None:
        from ik_node.cli.report.plot import graph_plot  # matplotlib is slow to import

        save = graph_plot(args.plot)
    robot = robot_of(args)
    found = facts_of(robot)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        text = in_words(found, robot.mobility.report())
        try:
            text.encode(sys.stdout.encoding or 'utf-8')
        except UnicodeEncodeError:
            text = ascii_tree(text)
        print(text)
    if save is not None:
        save(found)
    return 0 if found['loops_closed'] and not found['wrong_axes'] else 1
