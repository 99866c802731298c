"""Plots of a run: time against size with its exponent, and success against time."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from report import fits

Row = dict[str, Any]

FAMILIES = {
    'chain': ('joints in a chain', 'step_us', 'step', 'time of a step [us]'),
    'legs': ('legs, each a loop', 'median_us', 'solve', 'median time of a solve [us]'),
}


# Text, secondary text, and the ground and lines of a plot, as in the pictures of `reach`.
INK, FAINT, GROUND, RULED = '#1C2733', '#66717D', '#F2F4F7', '#FFFFFF'
# Ours are warm and thick, the others cool and thin.
OURS = ('#D7263D', '#F46A1F', '#F7A600', '#B5179E', '#6A040F', '#FF8FA3')
OTHERS = (
    *('#1F4E79', '#2F80C2', '#7FB3DF', '#0F766E', '#2BB3A3', '#8FD3C8', '#4C3F91', '#8576C9'),
    *('#B9AEE6', '#37474F', '#78909C', '#B0BEC5', '#33691E', '#7CB342', '#5D4037', '#A1887F'),
)


def colours(rows: list[Row]) -> dict[str, Any]:
    """Return a colour for every solver, warm for ours and cool for the others."""
    labels = sorted({row['label'] for row in rows if not row['ours']})
    mine = sorted({row['label'] for row in rows if row['ours']})
    return {**dict(zip(labels, cycle(OTHERS))), **dict(zip(mine, cycle(OURS)))}


def style(axes: Any) -> None:
    """Give a plot the ground and lines of the pictures of `reach`."""
    axes.set_facecolor(GROUND)
    axes.grid(visible=True, which='major', color=RULED, linewidth=1.2)
    axes.set_axisbelow(True)
    axes.tick_params(which='both', length=0, colors=INK, labelsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)


def title(figure: Any, text: str, below: str) -> None:
    """Write a title and a line below it in the upper left corner."""
    inch = 1.0 / figure.get_size_inches()[1]
    figure.text(0.015, 1.0 - 0.18 * inch, text, size=15, weight='bold', color=INK, va='top')
    figure.text(0.015, 1.0 - 0.52 * inch, below, size=10.5, color=FAINT, va='top')
    figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, 1.0 - 0.85 * inch))


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all pictures that the run has data for, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for row in report['rows'] if 'unfit' not in row]
    shade = colours(rows)
    made = []
    for family in FAMILIES:
        mine = [row for row in rows if row['family'] == family]
        if len({row['size'] for row in mine}) > 1:
            made.append(growth(family, mine, shade, folder / f'time_against_{family}.png'))
    alone = [row for row in rows if not row['family']]
    if alone:
        made.append(budgets(alone, shade, folder / 'success_against_time.png'))
    return made


def growth(family: str, rows: list[Row], shade: dict[str, Any], path: Path) -> Path:
    """Draw time against size, one line for every solver that solves more than half."""
    what, key, power, time = FAMILIES[family]
    found = {fit['label']: fit for fit in fits(rows)}
    figure = Figure(figsize=(8.5, 5.6), layout='constrained')
    axes = figure.subplots()
    style(axes)
    for label in sorted(found, key=lambda label: (not label.startswith('ours'), label)):
        mine = [row for row in rows if row['label'] == label and row['solved_1e-4'] > 50.0]
        mine = sorted((row for row in mine if row[key]), key=lambda row: row['size'])
        if not mine or power not in found[label]:
            continue
        axes.loglog(
            [row['size'] for row in mine],
            [row[key] for row in mine],
            marker='o',
            markersize=5,
            color=shade[label],
            linewidth=2.6 if mine[0]['ours'] else 1.3,
            zorder=3 if mine[0]['ours'] else 2,
            label=f'{label}: n^{found[label][power]:.2f}',
        )
    axes.set_xlabel(what, color=INK)
    axes.set_ylabel(time, color=INK)
    title(figure, f'{time.split(" [")[0].capitalize()}', f'against the number of {what}')
    axes.legend(fontsize=8, frameon=False, labelcolor=INK)
    figure.savefig(path, dpi=120)
    return path


def budgets(rows: list[Row], shade: dict[str, Any], path: Path) -> Path:
    """Draw the share of problems solved within a time, one plot per task."""
    names = list(dict.fromkeys(row['task'] for row in rows))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    size = (4.4 * columns, 2.7 * lines + 2.2)
    figure = Figure(figsize=size, layout='constrained')
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes, name in zip(grid.flat, names, strict=False):
        style(axes)
        for row in (row for row in rows if row['task'] == name and row['budget']):
            times, shares = zip(*row['budget'], strict=True)
            axes.step(
                [times[0], *times],
                [0.0, *shares],
                where='post',
                color=shade[row['label']],
                linewidth=2.6 if row['ours'] else 1.3,
                zorder=3 if row['ours'] else 2,
                label=row['label'],
            )
            # Some solvers stop before they have solved all problems.
            axes.plot(times[-1], shares[-1], 'o', color=shade[row['label']], markersize=3.5)
        axes.set_xscale('log')
        axes.set_ylim(0, 104)
        axes.set_yticks((0, 25, 50, 75, 100))
        axes.set_title(name, fontsize=10.5, weight='bold', color=INK, loc='left')
    for column in range(columns):
        last = (len(names) - 1 - column) // columns
        grid[last, column].set_xlabel('time [us]', fontsize=9.5, color=INK)
    for row_of_axes in grid:
        row_of_axes[0].set_ylabel('solved [%]', fontsize=9.5, color=INK)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    title(
        figure,
        'Problems solved within a time',
        'ours to 1e-6 m and rad, the others to the tolerance that they were given',
    )
    handles = {
        label: handle
        for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    order = sorted(handles, key=lambda label: (not label.startswith('ours'), label))
    figure.legend(
        [handles[label] for label in order],
        order,
        loc='outside lower left',
        ncols=4,
        fontsize=9,
        frameon=False,
        labelcolor=INK,
    )
    figure.savefig(path, dpi=110)
    return path
