"""Tables for the terminal: one run, or a comparison of two runs."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = dict[str, Any]


def best_peer(rows: list[Row]) -> Row | None:
    """Return the fastest peer within fifteen percent of the largest share of solved problems."""
    peers = [row for row in rows if 'unfit' not in row and not row['ours']]
    most = max((row['solved_1e-4'] for row in peers), default=0.0)
    able = [row for row in peers if row['solved_1e-4'] >= most - 15.0 and most > 0.0]
    return min(able, key=lambda row: row['median_us'], default=None)


def table(rows: list[Row]) -> str:
    """
    Return the rows of a task as a table, our solver first, then by time.

    The last column is the best peer's median by this one's: how many times as fast.
    """
    able = [row for row in rows if 'unfit' not in row]
    able.sort(key=lambda row: (not row['ours'], row['median_us']))
    best = best_peer(rows)
    lines = [
        f'{"":36s} {"n":>5s} {"1e-6 %":>7s} {"1e-4 %":>7s} {"median us":>10s} {"p99 us":>9s} '
        f'{"steps":>6s} {"us/step":>8s} {"false":>5s} {"to best peer":>13s}'
    ]
    for row in able:
        steps = '-' if row['iterations'] is None else f'{row["iterations"]:.1f}'
        per = '-' if row['step_us'] is None else f'{row["step_us"]:.2f}'
        ratio = '' if best is None else f'{best["median_us"] / row["median_us"]:12.2f}x'
        mark = ' <' if row is best else ''
        lines.append(
            f'{row["label"]:36s} {row["problems"]:5d} {row["solved_1e-6"]:7.1f} '
            f'{row["solved_1e-4"]:7.1f} {row["median_us"]:10.1f} {row["p99_us"]:9.1f} '
            f'{steps:>6s} {per:>8s} {row["false_claims"]:5d} {ratio:>13s}{mark}'
        )
    lines += [f'  without {row["label"]}: {row["unfit"]}' for row in rows if 'unfit' in row]
    return '\n'.join(lines)


def fits(rows: list[Row]) -> list[Row]:
    """Return the exponent of the medians' growth for every family and solver."""
    found = []
    keys = {(row['family'], row['label']) for row in rows if row.get('family')}
    for family, label in sorted(keys):
        mine = [
            row
            for row in rows
            if (row.get('family'), row['label']) == (family, label) and row['solved_1e-4'] > 50.0
        ]
        if len({row['size'] for row in mine}) < 2:
            continue
        sizes = np.log([row['size'] for row in mine])
        fit: Row = {'family': family, 'label': label}
        fit['solve'] = float(np.polyfit(sizes, np.log([row['median_us'] for row in mine]), 1)[0])
        if all(row['step_us'] for row in mine):
            steps = np.log([row['step_us'] for row in mine])
            fit['step'] = float(np.polyfit(sizes, steps, 1)[0])
        found.append(fit)
    return found


def fit_table(found: list[Row]) -> str:
    """Return the exponents as a table."""
    lines = [f'{"grows with":12s} {"":36s} {"solve":>6s} {"step":>6s}']
    for fit in found:
        step = f'{fit["step"]:.2f}' if 'step' in fit else '-'
        lines.append(f'{fit["family"]:12s} {fit["label"]:36s} {fit["solve"]:6.2f} {step:>6s}')
    return '\n'.join(lines)


def comparison(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return the ratios of old to new times by row, and changes of success."""
    before = {(row['task'], row['label']): row for row in old['rows'] if 'unfit' not in row}
    lines = [
        f'{"":20s} {"":36s} {"median old/new":>20s} {"ratio":>6s} {"p99 old/new":>20s} '
        f'{"ratio":>6s}  solved'
    ]
    for row in new['rows']:
        was = before.get((row['task'], row['label']))
        if 'unfit' in row or was is None:
            continue
        cells = []
        for key in ('median_us', 'p99_us'):
            cells.append(f'{was[key]:9.1f} {row[key]:10.1f} {was[key] / row[key]:6.2f}')
        solved = f'{was["solved_1e-6"]:.1f} -> {row["solved_1e-6"]:.1f}'
        lines.append(f'{row["task"]:20s} {row["label"]:36s} {cells[0]} {cells[1]}  {solved}')
    return '\n'.join(lines)
