"""Show how motors move joints through closed loops: ratios, limits and singularities."""

from __future__ import annotations

import argparse
import json
from math import isfinite
from typing import Any

from ik_node.cli.arguments import (
    add_options,
    add_robot_arguments,
    check_outputs,
    joint_value,
    robot_of,
)
from ik_node.cli.ratio_plot import ratio_plot
from ik_node.display import say, table
from ik_node.errors import listed
from ik_node.model.rotation import Array
from ik_node.robot import Robot
from ik_node.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.sweep import Sweep
from ik_node.transmission.transmission import Transmission
import numpy as np

# A ratio of singular values below this is named as a singularity.
WARNING = 0.05
EPILOG = """examples:
  ik_node transmission ankle.urdf --joints ankle_pitch ankle_roll --plot ankle.png
  ik_node transmission excavator.urdf --at boom_cylinder=0.1 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, actuators, joint space and outputs."""
    table = """
    --actuators JOINT...  joints with a motor (default: the description's)
    --joints NAME...  the joint space: joints, or links whose poses count (default: the joints that
        the actuators move)
    --at JOINT=VALUE...  joints to drive there first, with the loops closed [rad or m];
        may be repeated
    --plot F.png  draw ratios, limits and singularities over the range of the joints: a map for two
        joints, curves for others
    --json  print JSON
    """
    add_robot_arguments(parser)
    add_options(parser, table)
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Print the transmission, draw it, and return the exit code."""
    check_outputs(args, [('--plot', args.plot)])
    draw = ratio_plot(args.plot) if args.plot else None
    robot = robot_of(args)
    target = dict(joint_value(text, '--at') for text in args.at)
    code = 0
    if robot.assembly is not None and robot.assembly.status is not Status.CONVERGED:
        why = f'the loops do not close: {robot.assembly.message}; `ik_node check` says more'
        say(why)
        return 1
    if target:
        solution = Solver(robot).drive(target)
        robot.q = solution.q
        if not solution.converged:
            say(f'--at: {solution.message}')
            code = 1
    joints = args.joints or _moved(robot, args.actuators)
    transmission = robot.transmission(args.actuators, joints)
    sweep = Sweep(transmission, robot.q)
    result = facts(robot, transmission, sweep)
    if args.json:
        print(json.dumps(result))
    else:
        say(*_lines(result))
    if draw is not None:
        draw(robot, transmission, sweep)
        say(f'drawn to {args.plot}')
    return code


def _moved(robot: Robot, actuators: list[str] | None) -> list[str]:
    """Return the passive joints that the actuators move, and actuators that move none."""
    transmission = robot.transmission(actuators)
    moves = np.abs(transmission.jacobian(robot.q)) > 1e-9
    motors = transmission.actuators
    passive = np.array([name not in motors for name in robot.joint_names])
    direct = [motor for a, motor in enumerate(motors) if not moves[passive, a].any()]
    moved = moves.any(axis=1) & passive
    return [name for index, name in enumerate(robot.joint_names) if moved[index] or name in direct]


def facts(robot: Robot, transmission: Transmission, sweep: Sweep) -> dict[str, Any]:
    """Return everything about the present configuration and the range in plain types."""
    q, rows, motors = robot.q, transmission.joints, transmission.actuators
    ratio, bounds = transmission.jacobian(q), transmission.joint_bounds(q)
    singular = transmission.singularity(q)
    state = transmission.to_joints([q[robot.joint_names.index(name)] for name in motors])
    result: dict[str, Any] = {
        'robot': robot.name,
        'actuators': _values(motors, state.actuator_position),
        'joints': _values(rows, state.joint_position),
        'ratio': {row: _values(motors, values) for row, values in zip(rows, ratio, strict=True)},
        'velocity': _values(rows, bounds.velocity.upper),
        'effort': _values(rows, bounds.effort.alone),
        'singularity': {
            'type_1': list(singular.type_1),
            'type_2': list(singular.type_2),
            'ratio_1': singular.ratio_1 if isfinite(singular.ratio_1) else None,
            'ratio_2': singular.ratio_2 if isfinite(singular.ratio_2) else None,
            'nearness': singular.nearness,
            'warning': singular.warning(WARNING, robot.joint_names, rows),
        },
        'range': sweep.facts(),
    }
    if robot.mass > 0.0:
        result['gravity_effort'] = _values(motors, robot.gravity_effort(q, actuators=motors))
    return result


def _values(names: list[str], values: Array) -> dict[str, float | None]:
    """Return values by name; None = infinite."""
    finite = (float(v) if np.isfinite(v) else None for v in values)
    return dict(zip(names, finite, strict=True))


def _lines(result: dict[str, Any]) -> list[str]:
    """Return the report as text."""
    motors, rows = list(result['actuators']), list(result['joints'])
    bounds = [(row, _text(result['velocity'][row]), _text(result['effort'][row])) for row in rows]
    lines = [
        f'{result["robot"]}: {listed(motors)} move {listed(rows)}',
        '',
        'positions [rad or m]',
        *table([('', 'position'), *_cells(result['actuators']), *_cells(result['joints'])], 60),
        '',
        'ratios: velocity of a joint per unit of a motor; a motor works against their transpose',
        *table(
            [('', *motors), *((row, *map(_text, result['ratio'][row].values())) for row in rows)]
        ),
        '',
        'largest velocity [rad/s or m/s] of each joint, and effort [N m or N] of each one alone',
        *table([('', 'velocity', 'effort'), *bounds], 60),
    ]
    if 'gravity_effort' in result:
        lines += ['', 'efforts that hold the weight [N m or N]']
        lines += table([('', 'effort'), *_cells(result['gravity_effort'])])
    singular, swept = result['singularity'], result['range']
    lines += [
        '',
        'singular values [rad, characteristic lengths]: the joints {:.3g} to {:.3g} (type I), the '
        'motors {:.3g} to {:.3g} (type II)'.format(*singular['type_1'], *singular['type_2']),
    ]
    if singular['warning']:
        lines.append(singular['warning'])
    if swept['reached']:
        ends = [
            (f'{row} / {motor}', _text(pair[0]), _text(pair[1]))
            for row, by_motor in swept['ratio'].items()
            for motor, pair in by_motor.items()
            if max(map(abs, pair)) > 1e-12
        ]
        lines += [
            '',
            f'over the range of {listed(swept["swept"])}, of which {swept["reached"]} of '
            f'{swept["tried"]} configurations can be reached:',
            *table([('', 'least', 'largest'), *ends], 60),
            f'nearest to a singularity: {swept["least_nearness"]:.3g} of 1 at '
            + ', '.join(f'{n} = {v:.4g}' for n, v in swept['nearest'].items()),
        ]
    return lines


def _cells(values: dict[str, float | None]) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in values.items()]


def _text(value: float | None) -> str:
    if value is None:
        return 'no limit'
    return '0' if abs(value) < 1e-12 else f'{value:.5g}'
