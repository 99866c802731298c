"""
Plots of a run: time against size with its exponent, and success against time.

Run as a program, this module draws the summary of the kept run again, for the first page and the
page of the benchmark.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
import re
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


ROOT = Path(__file__).resolve().parents[1]
# The tasks of the summary, as people call them.
TASKS = {
    'arm6_random': 'UR5, 6 joints',
    'arm6_abb_random': 'IRB 2400, 6 joints',
    'arm7_random': 'Panda, 7 joints',
    'fourbar_crank': 'four-bar, crank given',
    'fourbar_point': 'four-bar, point given',
    'stewart_pose': 'Stewart platform, pose',
    'stewart_legs': 'Stewart platform, legs given',
    'humanoid': 'humanoid, 6 loops',
}
# A solver takes part with its best row; rows of ours that change the model or the call do not.
LEFT_OUT = ('ours, solve_pose', 'ours, drive', 'ours, 3 + 3 legs joints')


def best_rows(run: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the share solved [%] and the median time [us] of every solver, by task and name."""
    lines = [line.strip('| ').split(' |') for line in run.splitlines() if ' %, ' in line]
    head = next(line for line in run.splitlines() if line.startswith('| | arm6_random'))
    tasks = [each.strip() for each in head.strip('| ').split('|')]
    best: dict[str, dict[str, tuple[float, float]]] = {task: {} for task in tasks}
    for label, *cells in lines:
        if label in LEFT_OUT:
            continue
        name = re.split(r'[ ,]', label)[0].replace('ours', 'ik_node')
        for task, cell in zip(tasks, cells, strict=False):
            if found := re.match(r' *(\d+) %, (\d+)', cell):
                share, time = float(found[1]), float(found[2])
                other = best[task].get(name, (0.0, 0.0))
                if (share, -time) > (other[0], -other[1]):
                    best[task][name] = share, time
    return best


def summary(run: str, path: Path) -> Path:
    """Draw a kept run: a line for each task, a dot for each solver, hollow below 95 % solved."""
    best = best_rows(run)
    names = sorted({name for found in best.values() for name in found} - {'ik_node'})
    shade = {**dict(zip(names, OTHERS[::2] + OTHERS[1::2], strict=False)), 'ik_node': OURS[0]}
    figure = Figure(figsize=(6.8, 5.0), layout='constrained')
    axes = figure.subplots()
    style(axes)
    for name in ['ik_node', *names]:
        for full in (True, False):
            dots = [
                (best[task][name][1], -line)
                for line, task in enumerate(TASKS)
                if name in best[task] and (best[task][name][0] >= 95.0) == full
            ]
            axes.scatter(
                *(zip(*dots, strict=True) if dots else ([], [])),
                s=110 if name == 'ik_node' else 48,
                facecolors=shade[name] if full else GROUND,
                edgecolors=shade[name],
                linewidths=1.6,
                zorder=4 if name == 'ik_node' else 3,
                label=name if full else None,
            )
    axes.set_xscale('log')
    axes.set_yticks([-line for line in range(len(TASKS))], list(TASKS.values()))
    axes.set_xlabel('median time of a solve [us]', color=INK)
    figure.legend(
        loc='outside lower center', ncols=5, frameon=False, labelcolor=INK, columnspacing=0.9
    )
    title(figure, 'Time of a solve on the same problems', 'hollow: solves less than 95 % of them')
    figure.savefig(path, dpi=110)
    return path


if __name__ == '__main__':
    kept = (ROOT / 'benchmark/results/kept/compare.txt').read_text()
    print(summary(kept, ROOT / 'docs/pictures/benchmark.png'))
