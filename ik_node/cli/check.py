"""Read a robot and describe it; exit code 1 if its loops cannot be closed."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from ik_node.cli.robot_arguments import add_robot_arguments, robot_of
from ik_node.robot import Robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, and the form of the answer."""
    add_robot_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> int:
    """Describe the robot."""
    robot = robot_of(args)
    found = describe(robot)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        print(in_words(found, robot.mobility.report()))
    return 0 if found['loops_closed'] else 1


def describe(robot: Robot) -> dict[str, Any]:
    """Return what there is to know, in plain types."""
    result = robot.assemble()
    mobility, errors = robot.mobility, result.closure_errors
    return {
        'name': robot.name,
        'dialect': robot.dialect,
        'root': robot.root.name,
        'links': list(robot.links),
        'joints': [
            {'name': name, 'lower': _bound(lower), 'upper': _bound(upper)}
            for name, lower, upper in zip(
                robot.joint_names, robot.lower.tolist(), robot.upper.tolist(), strict=True
            )
        ],
        'actuated': list(robot.actuated),
        'closures': [
            {
                'name': name,
                'link_a': closure.child.name if closure.child else None,
                'link_b': closure.parent.name if closure.parent else None,
                'dof': ' '.join(dof.name for dof in closure.dof),
                'enabled': name in errors,
                'position': errors[name].position if name in errors else None,
                'orientation': errors[name].orientation if name in errors else None,
            }
            for name, closure in robot.closures.items()
        ],
        'mobility': int(mobility),
        'mobility_details': mobility.facts(),
        'loops_closed': result.status.name == 'CONVERGED',
        'message': result.message,
        'notes': list(robot.notes),
    }


def in_words(found: dict[str, Any], mobility: str) -> str:
    """Return the description for a reader, with the report on the mobility."""
    lines = [
        f'robot {found["name"]} ({found["dialect"]}), root {found["root"]}',
        f'{len(found["links"])} links, {len(found["joints"])} joint values, '
        f'{len(found["closures"])} loops, mobility {found["mobility"]}',
    ]
    for joint in found['joints']:
        motor = '  motor' if joint['name'] in found['actuated'] else ''
        lines.append(f'  joint {joint["name"]}  {_range(joint)}{motor}')
    for loop in found['closures']:
        gap = 'not in use'
        if loop['enabled']:
            gap = f'{loop["position"]:.1e} m, {loop["orientation"]:.1e} rad open'
        lines.append(
            f'  loop {loop["name"]}  {loop["link_a"]} on {loop["link_b"]}, {loop["dof"]}: {gap}'
        )
    lines += [f'  {line}' for line in mobility.splitlines()] if found['closures'] else []
    lines += [f'  note: {note}' for note in found['notes']]
    if found['closures']:
        state = 'close' if found['loops_closed'] else 'do NOT close'
        lines.append(f'the loops {state}: {found["message"]}')
    return '\n'.join(lines)


def _bound(value: float) -> float | None:
    """Return a limit as JSON can hold it."""
    return value if math.isfinite(value) else None


def _range(joint: dict[str, Any]) -> str:
    low = '-inf' if joint['lower'] is None else f'{joint["lower"]:g}'
    high = 'inf' if joint['upper'] is None else f'{joint["upper"]:g}'
    return f'[{low}, {high}]'
