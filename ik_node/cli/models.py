"""
List the robots that load by name: in Python, load_robot('NAME'); on the command line, NAME.

Names of the package robot_descriptions, such as ur5e_description, load as well where that package
is installed.
"""

from __future__ import annotations

import argparse
import re

from ik_node.description.files import own_robots
from ik_node.display import say, table
from ik_node.gallery import gallery_item, NAMES
from ik_node.robot import load_robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(args: argparse.Namespace) -> int:
    """Print name, mobility, numbers of motors and loops, and a sentence for each robot."""
    rows = [('name', 'mobility', 'motors', 'loops', 'what it is')]
    for name, path in sorted(own_robots().items()):
        robot = load_robot(path)
        if name in NAMES:
            about = gallery_item(name).about
        else:
            comment = re.search(r'<!--\s*(.*?)[.:](\s|-)', path.read_text('utf-8'), re.DOTALL)
            about = ' '.join(comment[1].split()) if comment else ''
        motors, loops = len(robot.actuated), len(robot.closures)
        rows.append((name, str(int(robot.mobility)), str(motors), str(loops), about))
    say(*table(rows, limit=len(rows)))
    return 0
