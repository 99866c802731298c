"""
Read a robot and describe it; the exit code is 1 if its loops do not close or cannot move.

The report contains: the tree with types, limits, motors and couplings of joints; each loop with
its type and residual; the mobility and its terms; redundant rows of loops, and how much they
disagree because of rounded numbers in the description; loops whose rotation axis differs from the
axes of their joints, and an axis that works; limits that prevent loops from closing; joints and
links that cannot move; and guesses about the description.
"""

from __future__ import annotations

import argparse
import json
import sys

from ik_node.cli.report.facts import facts_of
from ik_node.cli.report.words import ascii_tree, in_words
from ik_node.cli.robot_arguments import add_robot_arguments, robot_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot and the output options."""
    add_robot_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.add_argument(
        '--plot', metavar='F.png', help='draw the graph of links, joints and loops to a file'
    )


def run(args: argparse.Namespace) -> int:
    """Print the description of the robot and return the exit code."""
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
