"""Show how motors move joints through closed loops: ratios, limits and singularities."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import cycle
import json
from math import isfinite
from operator import attrgetter
from typing import Any

from ik_node.cli import arguments as shared
from ik_node.display import say, table
from ik_node.errors import listed, OptionError, plain
from ik_node.model.rotation import Array
from ik_node.robot import Robot
from ik_node.scene.plot import BACKGROUND, CURVES, FAINT, INK, picture_maker, RULED, save_picture
from ik_node.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.sweep import Point, Sweep
from ik_node.transmission.transmission import Transmission
import numpy as np

_DPI = 130
_PANEL, _MOST = (3.9, 3.3), 12


def draw_ratios(
    new_figure: Callable[..., Any],
    path: str,
    robot: Robot,
    transmission: Transmission,
    sweep: Sweep,
) -> None:
    """Draw a transmission over the range of its joints to a file, see `picture_maker`."""
    if not sweep.points:
        allowed = 'joints in --joints that the actuators can move from the present values'
        raise OptionError('--plot', path, allowed)
    panels = _panels(transmission, sweep)
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    size = (_PANEL[0] * across, _PANEL[1] * down + 0.6)
    figure = new_figure(figsize=size, layout='constrained')
    figure.suptitle(plain(f'{robot.name}: {", ".join(transmission.actuators)}'), color=INK)
    for axes, (title, value) in zip(
        np.ravel(figure.subplots(down, across, squeeze=False)), panels, strict=False
    ):
        axes.set_title(title, fontsize=9, color=INK)
        _style(axes)
        if sweep.grid:
            _draw_map(figure, axes, robot, sweep, value)
        else:
            _draw_curves(axes, robot, sweep, value)
    for axes in np.ravel(figure.axes)[len(panels) : across * down]:
        axes.set_axis_off()
    save_picture(figure, path, dpi=_DPI)


def _panels(
    transmission: Transmission, sweep: Sweep
) -> list[tuple[str, Callable[[Point], float]]]:
    """Return title and value of each panel: ratios, limits, distance to a singularity."""
    rows, motors, points = transmission.joints, transmission.actuators, sweep.points
    panels: list[tuple[str, Callable[[Point], float]]] = []
    panels.append(('distance to a singularity, 0 to 1', attrgetter('nearness')))
    for r, row in enumerate(rows):
        for a, motor in enumerate(motors):
            if any(abs(point.ratio[r, a]) >= 1e-9 for point in points):
                title = plain(f'd {row} / d {motor}', 60)
                panels.append((title, partial(_value_of, 'ratio', (r, a))))
        for what, unit in (('effort', '[N m or N]'), ('velocity', '[per s]')):
            if all(np.isfinite(getattr(point, what)[r]) for point in points):
                title = plain(f'largest {what} of {row} {unit}', 60)
                panels.append((title, partial(_value_of, what, r)))
    return panels[:_MOST]


def _value_of(what: str, index: int | tuple[int, int], point: Point) -> float:
    return float(getattr(point, what)[index])


def _style(axes: Any) -> None:
    axes.set_facecolor(BACKGROUND)
    axes.grid(color=RULED, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=7, colors=FAINT, length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _label(robot: Robot, name: str) -> str:
    joint = next(joint for joint in robot.joint_order if name in joint.value_names)
    dof = joint.dof[list(joint.value_names).index(name)]
    return plain(f'{name} [{"rad" if dof.is_rotation else "m"}]', 60)


def _draw_map(
    figure: Any, axes: Any, robot: Robot, sweep: Sweep, value: Callable[[Point], float]
) -> None:
    first, second = sweep.axes
    values = np.full((len(second), len(first)), np.nan)
    for (column, row), point in sweep.grid.items():
        values[row, column] = value(point)
    mesh = axes.pcolormesh(first, second, values, cmap='viridis', shading='nearest', zorder=1)
    least, largest = np.nanmin(values), np.nanmax(values)
    if largest - least > 1e-6 * max(abs(largest), 1.0):
        lines = axes.contour(first, second, values, 6, colors='white', linewidths=0.6)
        axes.clabel(lines, fontsize=6)
    bar = figure.colorbar(mesh, ax=axes, shrink=0.9)
    bar.ax.tick_params(labelsize=7, colors=FAINT, length=0)
    bar.outline.set_visible(False)
    axes.plot(*robot.q[[robot.joint_names.index(n) for n in sweep.names]], 'o', ms=4, c='#F0502D')
    axes.set_xlabel(_label(robot, sweep.names[0]), fontsize=8, color=INK)
    axes.set_ylabel(_label(robot, sweep.names[1]), fontsize=8, color=INK)


def _draw_curves(axes: Any, robot: Robot, sweep: Sweep, value: Callable[[Point], float]) -> None:
    for colour, name, axis, curve in zip(
        cycle(CURVES), sweep.names, sweep.axes, sweep.curves, strict=False
    ):
        steps = sorted(curve)
        values = [value(curve[step]) for step in steps]
        axes.plot(axis[steps], values, color=colour, linewidth=1.6, label=_label(robot, name))
    if len(sweep.names) > 1:
        axes.legend(fontsize=6, frameon=False)
        axes.set_xlabel('value of one joint, the others stay', fontsize=8, color=INK)
    else:
        axes.set_xlabel(_label(robot, sweep.names[0]), fontsize=8, color=INK)


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
    shared.add_robot_arguments(parser)
    shared.add_options(parser, table)
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Print the transmission, draw it, and return the exit code."""
    shared.check_outputs(args, [('--plot', args.plot)])
    new_figure = picture_maker('--plot', args.plot) if args.plot else None
    robot = shared.robot_of(args)
    target = dict(shared.joint_value(text, '--at') for text in args.at)
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
    if new_figure is not None:
        draw_ratios(new_figure, args.plot, robot, transmission, sweep)
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
            f'{swept["tried"]} configurations over the range of {listed(swept["swept"])}, '
            f'{swept["reached"]} of them reachable:',
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
