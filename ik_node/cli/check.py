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
from collections.abc import Iterable
import json
from pathlib import Path
from typing import Any

from ik_node.analysis.facts import facts_of
from ik_node.cli.arguments import add_options, add_robot_arguments, robot_of, SRDF
from ik_node.cli.report_text import as_dot, as_text
from ik_node.description.mesh_path import mesh_path
from ik_node.description.sidecars.find import sidecar_name
from ik_node.description.visuals import visuals_of
from ik_node.display import public_names, say
from ik_node.model.collisions import TOUCHES
from ik_node.model.frame import Frame
from ik_node.robot import as_robot, Robot
from ik_node.solver.solver import Solver


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot and the output options."""
    table = """
    --json  print JSON
    --plot  print the graph of links, joints and loops as DOT text: | dot -Tsvg -o graph.svg
    """
    add_robot_arguments(parser)
    add_options(parser, SRDF + '--collisions  add which pairs of links are checked for collisions')
    add_options(parser.add_mutually_exclusive_group(), table)


def run(args: argparse.Namespace) -> int:
    """Print the description of the robot and return the exit code."""
    robot, given = robot_of(args), args.closures is not None
    report = check(robot, closures_given=given, collisions=args.collisions)
    if args.json:
        print(json.dumps(report, indent=2))
    elif args.plot:
        say(*as_dot(report))
    else:
        print(report)
    return 0 if report.ok else 1


class Check(dict[str, Any]):
    """
    The facts about a robot by name, as `ik_node check --json`; its text is that of `check`.

    Examples
    --------
    >>> import ik_node as ik
    >>> report = ik.check(ik.load_robot('fivebar'))
    >>> report.ok, report['loops_closed']
    (True, True)

    """

    def __init__(self, facts: dict[str, Any], mobility: str) -> None:
        super().__init__(facts)
        self._mobility = mobility

    __dir__ = public_names

    def __repr__(self) -> str:
        return as_text(self, self._mobility)

    @property
    def ok(self) -> bool:
        """Return True if the loops are closed and something can move."""
        return bool(self['loops_closed'] and self['can_move'])


def check(
    robot: Robot | Solver | Frame | Iterable[Frame],
    *,
    closures_given: bool = False,
    collisions: bool = False,
) -> Check:
    """
    Close the loops of a robot, and return what `ik_node check` prints.

    Parameters
    ----------
    robot : Robot, Solver, Frame or iterable of Frame
        The robot, or a mechanism that was built from objects, see `Robot`.
    closures_given : bool
        True: leave out the note that the description declares no loop.
    collisions : bool
        Add which pairs of links count for collisions, which rules leave out others, and which
        pairs touch now.

    Raises
    ------
    OptionError
        If the robot is something else, such as a path.

    Examples
    --------
    >>> import ik_node as ik
    >>> report = ik.check(ik.load_robot('fivebar'))
    >>> report.ok, report['mobility']
    (True, 2)

    """
    robot = as_robot(robot)
    facts = facts_of(robot)
    facts['notes'] += _notes(robot, closures_given=closures_given)
    if collisions:
        facts['collisions'] = _collision_facts(robot)
    return Check(facts, robot.mobility.report())


def _collision_facts(robot: Robot) -> dict[str, Any]:
    measured = robot.collisions
    removed, rules = measured.removed, [*measured.removed.values()]
    contacts: dict[tuple[str, str], float] = {}
    for each in measured.contacts():
        contacts.setdefault(each.pair, each.d)
    return {
        'bodies': len(measured.bodies),
        'pairs': len(measured.pairs),
        'removed': {rule: rules.count(rule) for rule in dict.fromkeys(rules)},
        'touching_always': [list(pair) for pair, rule in removed.items() if rule == TOUCHES],
        'contacts': [{'pair': list(pair), 'd': d} for pair, d in contacts.items()],
        'notes': measured.notes,
    }


def _notes(robot: Robot, *, closures_given: bool) -> list[str]:
    """Return notes on what the robot may lack: loops, and the files of its meshes."""
    notes, source = [], robot.description.source
    if not robot.closures and not closures_given and robot.description.text:
        notes.append(
            'no loops: the description declares none, and there is no '
            f'{sidecar_name(Path(source))} beside it that does'
        )
    if robot.closures and not robot.actuated:
        notes.append(
            'no motors are named, so every joint counts as one: name them with `actuated: [...]` '
            'beside the closures, or with <transmission> or <ros2_control> in the description'
        )
    meshes = {(v.file, v.source) for v in visuals_of(robot.description) if v.kind == 'mesh'}
    missing = sorted(file for file, beside in meshes if mesh_path(file, beside) is None)
    if missing:
        notes.append(
            f'{len(missing)} of {len(meshes)} meshes are not found, such as {missing[0]!r}: '
            'links are drawn as rods instead, and solved for all the same; package:// is searched '
            'in the folders above the description and in sourced ROS 2 workspaces'
        )
    return notes
