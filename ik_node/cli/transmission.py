"""Show how motors move joints through closed loops: ratios, limits and singularities."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import cycle
import json
from math import isfinite
from typing import Any

from ik_node.cli import arguments as shared
from ik_node.display import say, table
from ik_node.errors import listed, OptionError, plain
from ik_node.model.rotation import Array
from ik_node.robot import Robot
from ik_node.scene.plot import BACKGROUND, CURVES, FAINT, INK, picture_maker, RULED, save_picture
from ik_node.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.sweep import Sweep
from ik_node.transmission.transmission import Transmission
import numpy as np

_DPI = 130
_PANEL, _MOST = (3.9, 3.3), 12
# A nearness below this is named as a singularity.
WARNING = 0.05
EPILOG = """examples:
  ik_node transmission ankle.urdf --joints ankle_pitch ankle_roll --plot ankle.png
  ik_node transmission excavator.urdf --at boom_cylinder=0.1 --json
"""


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
    units = {
        name: 'rad' if dof.is_rotation else 'm'
        for joint in robot.joint_order
        for name, dof in zip(joint.value_names, joint.dof, strict=True)
    }
    labels = [plain(f'{name} [{units[name]}]', 60) for name in sweep.names]
    plots = figure.subplots(down, across, squeeze=False).ravel()
    for axes in plots[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, values) in zip(plots, panels, strict=False):
        axes.set_title(title, fontsize=9, color=INK)
        axes.set_facecolor(BACKGROUND)
        axes.grid(color=RULED, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=7, colors=FAINT, length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        if sweep.together:
            here = robot.q[[robot.joint_names.index(name) for name in sweep.names]]
            _draw_map(figure, axes, sweep, values)
            axes.plot(*here, 'o', ms=4, c='#F0502D')
            axes.set_ylabel(labels[1], fontsize=8, color=INK)
        else:
            _draw_curves(axes, sweep, values, labels)
        several = len(labels) > 1 and not sweep.together
        label = 'value of one joint, the others stay' if several else labels[0]
        axes.set_xlabel(label, fontsize=8, color=INK)
    save_picture(figure, path, dpi=_DPI)


def _panels(transmission: Transmission, sweep: Sweep) -> list[tuple[str, Array]]:
    """Return title and values at all points of each panel: ratios, limits, nearness."""
    motors, points = transmission.actuators, sweep.points.values()
    ratios, efforts, velocities = (
        np.array([getattr(point, what) for point in points])
        for what in ('ratio', 'effort', 'velocity')
    )
    nearness = np.array([point.nearness for point in points])
    panels = [('distance to a singularity, 0 to 1', nearness)]
    for r, row in enumerate(transmission.joints):
        own = [(f'd {row} / d {motor}', ratios[:, r, a]) for a, motor in enumerate(motors)]
        panels += [(title, values) for title, values in own if (np.abs(values) >= 1e-9).any()]
        own = [(f'largest effort of {row} [N m or N]', efforts[:, r])]
        own += [(f'largest velocity of {row} [per s]', velocities[:, r])]
        panels += [(title, values) for title, values in own if np.isfinite(values).all()]
    return [(plain(title, 60), values) for title, values in panels[:_MOST]]


def _draw_map(figure: Any, axes: Any, sweep: Sweep, values: Array) -> None:
    """Draw values over two joints as colours with contours."""
    first, second = sweep.axes
    colours = np.full((len(second), len(first)), np.nan)
    columns, rows = np.array([*sweep.points]).T
    colours[rows, columns] = values
    mesh = axes.pcolormesh(first, second, colours, cmap='viridis', shading='nearest', zorder=1)
    if np.ptp(values) > 1e-6 * max(abs(values.max()), 1.0):
        lines = axes.contour(first, second, colours, 6, colors='white', linewidths=0.6)
        axes.clabel(lines, fontsize=6)
    bar = figure.colorbar(mesh, ax=axes, shrink=0.9)
    bar.ax.tick_params(labelsize=7, colors=FAINT, length=0)
    bar.outline.set_visible(False)


def _draw_curves(axes: Any, sweep: Sweep, values: Array, labels: list[str]) -> None:
    """Draw values over each joint as a curve."""
    joints, steps = np.array([*sweep.points]).T
    for index, (colour, label, axis) in enumerate(zip(cycle(CURVES), labels, sweep.axes)):
        own = np.flatnonzero(joints == index)
        own = own[np.argsort(steps[own])]
        axes.plot(axis[steps[own]], values[own], color=colour, linewidth=1.6, label=label)
    if len(labels) > 1:
        axes.legend(fontsize=6, frameon=False)


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

    def columns(
        title: str, heads: list[str], *values: dict[str, Any], limit: int = 60
    ) -> list[str]:
        """Return a title and a table with a row for each name."""
        cells = [(name, *(_text(each[name]) for each in values)) for name in values[0]]
        return ['', title, *table([('', *heads), *cells], limit)]

    positions = {**result['actuators'], **result['joints']}
    by_motor = [{row: result['ratio'][row][motor] for row in rows} for motor in motors]
    lines = [f'{result["robot"]}: {listed(motors)} move {listed(rows)}']
    lines += columns('positions [rad or m]', ['position'], positions)
    title = (
        'ratios: velocity of a joint per unit of a motor; a motor works against their transpose'
    )
    lines += columns(title, motors, *by_motor, limit=12)
    title = (
        'largest velocity [rad/s or m/s] of each joint, and effort [N m or N] of each one alone'
    )
    lines += columns(title, ['velocity', 'effort'], result['velocity'], result['effort'])
    if 'gravity_effort' in result:
        title = 'efforts that hold the weight [N m or N]'
        lines += columns(title, ['effort'], result['gravity_effort'], limit=12)
    singular, swept = result['singularity'], result['range']
    lines += [
        '',
        'singular values [rad, characteristic lengths]: the joints {:.3g} to {:.3g} (type I), the '
        'motors {:.3g} to {:.3g} (type II)'.format(*singular['type_1'], *singular['type_2']),
    ]
    if singular['warning']:
        lines.append(singular['warning'])
    if swept['reached']:
        pairs = {
            f'{row} / {motor}': pair
            for row, by_motor in swept['ratio'].items()
            for motor, pair in by_motor.items()
            if max(map(abs, pair)) > 1e-12
        }
        ends = [{name: pair[end] for name, pair in pairs.items()} for end in (0, 1)]
        title = (
            f'{swept["tried"]} configurations over the range of {listed(swept["swept"])}, '
            f'{swept["reached"]} of them reachable:'
        )
        lines += columns(title, ['least', 'largest'], *ends)
        nearest = ', '.join(f'{name} = {value:.4g}' for name, value in swept['nearest'].items())
        lines.append(f'nearest to a singularity: {swept["least_nearness"]:.3g} of 1 at {nearest}')
    return lines


def _text(value: float | None) -> str:
    if value is None:
        return 'no limit'
    return '0' if abs(value) < 1e-12 else f'{value:.5g}'
