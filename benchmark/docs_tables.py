"""The tables of docs/benchmark.md, from a saved run."""

from __future__ import annotations

from typing import Any

from report import best_peer, fits

Row = dict[str, Any]

# A peer's best settings stand for it; these tasks have a column each.
SHOWN = (
    'arm6_random',
    'arm6_abb_random',
    'arm7_random',
    'fourbar_crank',
    'fourbar_point',
    'stewart_pose',
    'stewart_track',
    'stewart_legs',
    'humanoid',
)


def docs_tables(report: dict[str, Any]) -> str:
    """Return both tables and the growth exponents in Markdown."""
    rows = [row for row in report['rows'] if 'unfit' not in row]
    return '\n\n'.join((beside_the_best(rows), everybody(rows), powers(rows)))


def ours_in(rows: list[Row]) -> Row | None:
    """Return our fastest row for a task, in the task's first form."""
    mine = [row for row in rows if row['ours'] and 'legs joints' not in row['label']]
    return min(mine, key=lambda row: row['median_us'], default=None)


def beside_the_best(rows: list[Row]) -> str:
    """Return a row for every task with our solver and the best peer."""
    lines = [
        '| task | solved | median | p99 | a step | best peer | solved | median | p99 | ratio |',
        '|---|---|---|---|---|---|---|---|---|---|',
    ]
    for name in dict.fromkeys(row['task'] for row in rows):
        here = [row for row in rows if row['task'] == name]
        ours, best = ours_in(here), best_peer(here)
        if ours is None:
            continue
        step = '' if ours['step_us'] is None else f'{ours["step_us"]:.2f}'
        peer = '| | | | | |'
        if best is not None:
            ratio = best['median_us'] / ours['median_us']
            peer = (
                f'| {best["label"]} | {best["solved_1e-4"]:.1f} % | {best["median_us"]:.1f} '
                f'| {best["p99_us"]:.0f} | {ratio:.{1 if ratio < 100 else 0}f} |'
            )
        lines.append(
            f'| {name}: {ours["about"]} | {ours["solved_1e-6"]:.1f} % | {ours["median_us"]:.1f} '
            f'| {ours["p99_us"]:.1f} | {step} {peer}'
        )
    return '\n'.join(lines)


def everybody(rows: list[Row]) -> str:
    """Return a row for every solver: share of solved problems and median of some tasks."""
    shown = [name for name in SHOWN if any(row['task'] == name for row in rows)]
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        share = row['solved_1e-6'] if row['ours'] else row['solved_1e-4']
        cells.setdefault(row['label'], {})[row['task']] = f'{share:.0f} %, {row["median_us"]:.0f}'
    lines = [f'| | {" | ".join(shown)} |', '|---' * (len(shown) + 1) + '|']
    for label, found in cells.items():
        if any(name in found for name in shown):
            lines.append(f'| {label} | {" | ".join(found.get(name, "") for name in shown)} |')
    return '\n'.join(lines)


def powers(rows: list[Row]) -> str:
    """Return the exponents of the growth of time with size."""
    lines = ['| grows with | solver | a solve | a step |', '|---|---|---|---|']
    for fit in fits(rows):
        step = f'{fit["step"]:.2f}' if 'step' in fit else ''
        lines.append(f'| {fit["family"]} | {fit["label"]} | {fit["solve"]:.2f} | {step} |')
    return '\n'.join(lines)
