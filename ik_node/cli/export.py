"""
Export a robot with its loops and goals to a file for C and C++ programs.

The file is for the library of compiled kernels of the present sources (`ik_node warm` builds it);
libraries of other sources refuse it. See docs/c_interface.md.
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from typing import Any

from ik_node.cli.arguments import add_options, add_robot_arguments, check_outputs, robot_of
from ik_node.display import say
from ik_node.errors import counted, listed, OptionError
from ik_node.export import export_robot
from ik_node.solver import Solver, SolverOptions
from ik_node.whole_file import whole_file

ALL_AXES = 'X Y Z EX EY EZ'
EPILOG = """examples:
  ik_node export hexapod.urdf -o hexapod.ikr --goal platform
  ik_node export arm.urdf -o arm.ikr --goal "tool:X Y Z" --option restarts=0
  ik_node export ankle.urdf -o ankle.ikr --joints ankle_pitch ankle_roll
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the output file, goals and options."""
    table = f"""
    -o --output OUT.ikr  output file (required)
    --goal LINK[:AXES]  link whose pose programs will give, and the axes it is given on, some of
        {ALL_AXES} (default: all); may be repeated; without goals only the loops are closed
    --joints [NAME...]  joints or links between which and the actuators the transmission is
        exported; without names all joints
    --actuators JOINT...  joints with a motor, for --joints (default: the description's)
    --option NAME=VALUE  solver option, see docs/methods.md; may be repeated
    """
    add_robot_arguments(parser)
    add_options(parser, table)
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Write the file, describe it and return the exit code."""
    check_outputs(args, [('-o', args.output)])
    options = parse_options(args.option)
    if args.actuators is not None and args.joints is None:
        raise OptionError('--actuators', listed(args.actuators), '--joints beside it')
    robot = robot_of(args)
    names = []
    for text in args.goal:
        # A link may have a colon in its name.
        link, _, axes = (text, '', '') if text in robot.links else text.rpartition(':')
        robot.add_goal(link or text, name=link or text, dof=axes if link and axes else ALL_AXES)
        names.append(link or text)
    transmission = None
    if args.joints is not None:
        transmission = robot.transmission(args.actuators, args.joints or None)
    content = export_robot(Solver(robot, options), names, robot.name, robot.actuated, transmission)
    with whole_file(args.output) as part:
        part.write_bytes(content)
    summary = (
        f'{args.output}: {len(content)} bytes: robot {robot.name}, '
        f'{counted(len(robot.joint_names), "joint value")}, '
        f'{counted(len(robot.closures), "loop")}, goals: {", ".join(names) or "none"}'
    )
    if transmission is not None:
        summary += f'; transmission: {listed(transmission.actuators)} to '
        summary += listed(transmission.joints)
    say(summary)
    return 0


def parse_options(texts: list[str]) -> SolverOptions:
    """Return the solver options given as NAME=VALUE."""
    defaults = {field.name: field.default for field in fields(SolverOptions)}
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition('=')
        default = defaults.get(name)
        if not equals or default is None:
            known = [each for each, default in defaults.items() if default is not None]
            raise OptionError('--option', text, f'NAME=VALUE with a name of {", ".join(known)}')
        given[name] = _value(value, default)
    return replace(SolverOptions(), **given)


def _value(text: str, default: Any) -> Any:
    """Return a value of the type of the default; text of another type stays as it is."""
    if isinstance(default, bool):
        return {'true': True, 'false': False}.get(text.lower(), text)
    try:
        return type(default)(text)
    except ValueError:
        return text
