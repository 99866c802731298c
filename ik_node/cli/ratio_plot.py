"""Picture of a transmission over the range of its joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from ik_node.errors import OptionError, plain
from ik_node.robot import Robot
from ik_node.scene.plot import BACKGROUND, FAINT, INK, picture_maker, RULED, save_picture
from ik_node.transmission.sweep import Point, Sweep
from ik_node.transmission.transmission import Transmission
import numpy as np

# A palette for the colour-blind (Okabe & Ito 2008).
_COLOURS = ('#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#7F5AA2', '#8C6D31')
_DPI = 130
_PANEL, _MOST = (3.9, 3.3), 12

Draw = Callable[[Robot, Transmission, Sweep], None]


def ratio_plot(path: str) -> Draw:
    """
    Return a function that draws a transmission to a file.

    `path`: output file; its ending selects the format. Raise OptionError if matplotlib is missing
    or does not support the format.
    """
    new_figure = picture_maker('--plot', path)

    def save(robot: Robot, transmission: Transmission, sweep: Sweep) -> None:
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

    return save


def _panels(
    transmission: Transmission, sweep: Sweep
) -> list[tuple[str, Callable[[Point], float]]]:
    """Return title and value of each panel: ratios, limits, distance to a singularity."""
    rows, motors, points = transmission.joints, transmission.actuators, sweep.points
    panels: list[tuple[str, Callable[[Point], float]]] = []
    panels.append(('distance to a singularity, 0 to 1', attrgetter('nearness')))
    for r, row in enumerate(rows):
        for a, motor in enumerate(motors):
            if all(abs(point.ratio[r, a]) < 1e-9 for point in points):
                continue
            panels.append((plain(f'd {row} / d {motor}', 60), partial(_ratio_of, r, a)))
        for what, unit in (('effort', '[N m or N]'), ('velocity', '[per s]')):
            if all(np.isfinite(getattr(point, what)[r]) for point in points):
                title = plain(f'largest {what} of {row} {unit}', 60)
                panels.append((title, partial(_limit_of, what, r)))
    return panels[:_MOST]


def _ratio_of(row: int, motor: int, point: Point) -> float:
    return float(point.ratio[row, motor])


def _limit_of(what: str, row: int, point: Point) -> float:
    return float(getattr(point, what)[row])


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
        _COLOURS, sweep.names, sweep.axes, sweep.curves, strict=False
    ):
        steps = sorted(curve)
        values = [value(curve[step]) for step in steps]
        axes.plot(axis[steps], values, color=colour, linewidth=1.6, label=_label(robot, name))
    if len(sweep.names) > 1:
        axes.legend(fontsize=6, frameon=False)
        axes.set_xlabel('value of one joint, the others stay', fontsize=8, color=INK)
    else:
        axes.set_xlabel(_label(robot, sweep.names[0]), fontsize=8, color=INK)
