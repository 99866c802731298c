"""The status of the solver as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.analysis.file_pose import WARNING
from ik_node.display import escaped
from ik_node.errors import MOST_TEXT
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError

# A palette for the colour-blind (Okabe & Ito 2008); the status is also shown as a word.
_COLOURS = {'CONVERGED': '#009E73', 'STALLED': '#E69F00', 'TIMEOUT': '#E69F00'}
_ELSE = '#D55E00'
# Largest number of goals, and of open loops, that are listed.
MOST = 8
# Loops with a larger residual [m or rad] are listed.
OPEN = 1e-5
_CELL = 'style="padding:0 7px 0 0;text-align:left;white-space:nowrap"'
# The name has the width that the numbers leave. What is cut off is in its tooltip.
_NAME = (
    'style="padding:0 7px 0 0;text-align:left;white-space:nowrap;width:100%;max-width:0;'
    'overflow:hidden;text-overflow:ellipsis"'
)
_TABLE = '<table style="border-collapse:collapse;width:100%">'


def status_html(title: str, note: str, reports: Sequence[ChainReport]) -> str:
    """
    Return the HTML of the status above the panels.

    Parameters
    ----------
    title : str
        Name of the robot.
    note : str
        Problem that prevents solving; '' = none.
    reports : sequence of ChainReport
        One per chain.

    """
    parts = ['<div style="padding:2px 10px 6px;font-size:0.85em;line-height:1.5">']
    parts.append(f'<b style="font-size:1.1em">{escaped(title)}</b>')
    if note:
        parts.append(f'<div style="color:{_ELSE}">{escaped(note, MOST_TEXT)}</div>')
    parts += [_chain(report) for report in reports]
    if not reports and not note:
        parts.append('<div>no goal and no loop: click a link to make a goal</div>')
    return ''.join([*parts, '</div>'])


def notes_html(notes: Sequence[str]) -> str:
    """Return the HTML of the notes on a robot's file: warnings, and the others folded up."""
    loud = [note for note in notes if note.startswith(WARNING)]
    quiet = [note for note in notes if not note.startswith(WARNING)]
    parts = [f'<div style="color:{_ELSE}">{escaped(note, MOST_TEXT)}</div>' for note in loud]
    if quiet:
        lines = ''.join(f'<div>{escaped(note, MOST_TEXT)}</div>' for note in quiet)
        count = f'{len(quiet)} note{"s" * (len(quiet) > 1)} on the file'
        parts.append(f'<details><summary>{count}</summary>{lines}</details>')
    style = 'padding:0 10px 6px;font-size:0.85em;line-height:1.5'
    return f'<div style="{style}">{"".join(parts)}</div>' if parts else ''


def _chain(report: ChainReport) -> str:
    colour = _COLOURS.get(report.status, _ELSE)
    message = escaped(report.message, MOST_TEXT)
    line = (
        f'<div title="{message}"><span style="color:{colour}">&#9679;</span> '
        f'<b>{escaped(report.status)}</b> {report.iterations} steps, '
        f'{1e3 * report.solve_time:.2f} ms</div>'
    )
    if report.status != 'CONVERGED':
        line += f'<div style="color:{colour}">{message}</div>'
    loops = sorted(report.closure_errors.items(), key=lambda row: max(row[1]), reverse=True)
    shown = [('loop', *row) for row in loops if max(row[1]) > OPEN][:MOST]
    if loops and not shown:
        many = f'{len(loops)} loops' if len(loops) > 1 else 'loop'
        shown = [(many, *loops[0])]
    goals = [('goal', *row) for row in report.goal_errors.items()]
    return f'{line}{_TABLE}{_rows(goals)}{_rows(shown)}</table>'


def _rows(rows: Sequence[tuple[str, str, PoseError]]) -> str:
    named = [(kind, escaped(name), error) for kind, name, error in rows[:MOST]]
    lines = [
        f'<tr><td {_CELL}>{kind}</td><td {_NAME} title="{name}">{name}</td>'
        f'<td {_CELL}>{error.position:.1e} m</td><td {_CELL}>{error.orientation:.1e} rad</td></tr>'
        for kind, name, error in named
    ]
    if len(rows) > MOST:
        lines.append(f'<tr><td {_CELL} colspan="4">and {len(rows) - MOST} more</td></tr>')
    return ''.join(lines)
