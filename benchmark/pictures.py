# flake8: noqa: E203
"""Plots of a run: time against size with its exponent, and success against time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.figure import Figure
import numpy as np
from report import fits

Row = dict[str, Any]

FAMILIES = {
    'chain': ('joints in a chain', 'step_us', 'step', 'time of a step [us]'),
    'legs': ('legs, each a loop', 'median_us', 'solve', 'median time of a solve [us]'),
}


def colours(rows: list[Row]) -> dict[str, Any]:
    """Return a colour for every solver, dark red for ours."""
    labels = sorted({row['label'] for row in rows if not row['ours']})
    # Reds and pinks are ours.
    others = [at for at in range(20) if at not in (6, 7, 12, 13)]
    peers = dict(zip(labels, colormaps['tab20'](np.array(others)), strict=False))
    shades = ('#8b0000', '#ff2020', '#ff80a0', '#c000c0', '#000000', '#808080')
    mine = sorted({row['label'] for row in rows if row['ours']})
    return {**peers, **dict(zip(mine, shades, strict=False))}


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
    figure = Figure(figsize=(8, 5), layout='constrained')
    axes = figure.subplots()
    for label in sorted(found, key=lambda label: (not label.startswith('ours'), label)):
        mine = [row for row in rows if row['label'] == label and row['solved_1e-4'] > 50.0]
        mine = sorted((row for row in mine if row[key]), key=lambda row: row['size'])
        if not mine or power not in found[label]:
            continue
        axes.loglog(
            [row['size'] for row in mine],
            [row[key] for row in mine],
            marker='o',
            color=shade[label],
            linewidth=2.5 if mine[0]['ours'] else 1.2,
            label=f'{label}: n^{found[label][power]:.2f}',
        )
    axes.set_xlabel(what)
    axes.set_ylabel(time)
    axes.grid(visible=True, which='both', alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=120)
    return path


def budgets(rows: list[Row], shade: dict[str, Any], path: Path) -> Path:
    """Draw the share of problems solved within a time, one plot per task."""
    names = list(dict.fromkeys(row['task'] for row in rows))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    size = (4.6 * columns, 3.2 * lines + 0.8)
    figure = Figure(figsize=size, layout='constrained')
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes, name in zip(grid.flat, names, strict=False):
        for row in (row for row in rows if row['task'] == name and row['budget']):
            times, shares = zip(*row['budget'], strict=True)
            axes.step(
                [times[0], *times],
                [0.0, *shares],
                where='post',
                color=shade[row['label']],
                linewidth=2.5 if row['ours'] else 1.2,
                label=row['label'],
            )
        axes.set_xscale('log')
        axes.set_ylim(0, 102)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel('time [us]', fontsize=8)
        axes.grid(visible=True, which='both', alpha=0.2)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    figure.supylabel('solved within it [%], ours to 1e-6, others to what they were asked for')
    handles = {
        label: handle
        for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc='outside lower center', ncols=4, fontsize=8)
    figure.savefig(path, dpi=110)
    return path
