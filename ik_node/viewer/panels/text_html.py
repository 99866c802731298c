"""Texts of the panels as HTML; viser's widgets have no coloured text and no tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
import re
from typing import Any

from ik_node.analysis.file_pose import WARNING
from ik_node.display import escaped
from ik_node.errors import counted, listed, MOST_TEXT
from ik_node.robot import Robot
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError
from ik_node.viewer.sessions.session import Session

# A palette for the colour-blind (Okabe & Ito 2008), with a darker orange that can be read as text;
# a state is also shown as a word.
GREEN, ORANGE, RED = '#009E73', '#B87A00', '#D55E00'
_BOX = 'padding:2px 10px 6px;font-size:0.85em;line-height:1.5;overflow-wrap:anywhere'
_CELL = 'padding:0 0 0 7px;text-align:right;white-space:nowrap'
# The name has the width that the numbers leave. What is cut off is in its tooltip.
_NAME = (
    'white-space:nowrap;width:100%;max-width:0;overflow:hidden;text-overflow:ellipsis;'
    'text-align:left'
)


def box(*parts: str) -> str:
    """Return HTML for the parts that are not empty, below each other."""
    shown = ''.join(part for part in parts if part)
    return f'<div style="{_BOX}">{shown}</div>' if shown else ''


def explain(gui: Any, *handles: Any) -> None:
    """Add a closed folder with the hints of inputs, because a finger cannot hover over them."""
    with gui.add_folder('what these mean', expand_by_default=False):
        gui.add_html(box(*(line(f'{each.label}: {each.hint}') for each in handles)))


def line(text: str, colour: str = '', *, bold: bool = False) -> str:
    """Return HTML for a line of text, without markup in it; '' if there is none."""
    style = f'color:{colour};' * bool(colour) + 'font-weight:bold' * bold
    words = escaped(text, MOST_TEXT)
    return f'<div style="{style}">{words}</div>' if text else ''


def table(rows: Sequence[tuple[str, Sequence[str], str]], limit: int) -> str:
    """Return HTML for at most `limit` rows of a name, its values and the colour of the row."""
    lines = []
    for name, values, colour in rows[:limit]:
        shown = escaped(name)
        cells = ''.join(f'<td style="{_CELL}">{escaped(value)}</td>' for value in values)
        style = f' style="color:{colour}"' * bool(colour)
        lines.append(f'<tr{style}><td style="{_NAME}" title="{shown}">{shown}</td>{cells}</tr>')
    if not lines:
        return ''
    style = 'border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums'
    more = f'and {len(rows) - limit} more' if len(rows) > limit else ''
    return f'<table style="{style}">{"".join(lines)}</table>{line(more)}'


# Largest number of chains, and of goals and loops, that are listed.
MOST_CHAINS, MOST = 8, 12
# In a chain that has not converged, what has a larger residual [m or rad] is unmet or open.
OPEN = 1e-5
# Lengths and angles in messages.
_QUANTITY = re.compile(r'(\d+\.?\d*(?:e[+-]?\d+)?) (m|rad)\b(?!/)')


def state_of(session: Session) -> tuple[str, str]:
    """Return the state in words, such as '14 goals met, 6 loops closed', and its colour."""
    if session.note:
        return session.note, RED
    reports = session.reports
    goals = [_is_open(r, error) for r in reports for error in r.goal_errors.values()]
    loops = [_is_open(r, error) for r in reports for error in r.closure_errors.values()]
    words = [
        *_counted(goals, 'goal', 'met', 'not met'),
        *_counted(loops, 'loop', 'closed', 'open'),
    ]
    if session.solutions is not None:
        words.append(session.solutions.describe())
    near = next((each.nearest for each in reports if each.nearest), None)
    if near is not None and any(goals):
        words.append(f'{near.pair[0]} {short(1e3 * near.d)} mm from {near.pair[1]}')
    if session.locked and any(goals):
        words.append(f'locked: {listed(sorted(session.locked), 3)}')
    if session.robot is not None and not session.robot.goals:
        words.append('click a link to make a goal')
    colour = RED if any(loops) else ORANGE if any(goals) else GREEN
    return (', '.join(words), colour) if words else ('no goal and no loop', '')


def details_html(reports: Sequence[ChainReport], robot: Robot | None = None) -> str:
    """
    Return the residuals, worst first, in mm and degrees, and status and time of each chain.

    What a goal or a closure of `robot` leaves free has no number.
    """
    held = {} if robot is None else {**robot.closures, **robot.goals}
    rows = []
    for report in reports:
        for kind, errors in (('', report.goal_errors), ('loop ', report.closure_errors)):
            for name, error in errors.items():
                turns = {dof.is_rotation for dof in held[name].dof} if name in held else set()
                values = (
                    '' if turns == {True} else _mm(error.position),
                    '' if turns == {False} else _degrees(error.orientation),
                )
                colour = RED if _is_open(report, error) else ''
                rows.append((max(error), (kind + name, values, colour)))
    rows.sort(key=lambda row: row[0], reverse=True)
    chains = [_chain(report) for report in reports[:MOST_CHAINS]]
    return box(table([row for _, row in rows], MOST), *chains)


def notes_html(title: str, note: str, notes: Sequence[str]) -> str:
    """Return the name of a robot, what prevents solving, and the warnings about its file."""
    warnings = [note, *(each for each in notes if each.startswith(WARNING))]
    return box(line(title, bold=True), *(line(each, RED) for each in warnings))


def _mm(metres: float) -> str:
    return f'{short(1e3 * metres)} mm'


def _degrees(angle: float) -> str:
    return f'{short(degrees(angle))}°'


def short(value: float) -> str:
    """Return a number with three digits, or one if it is small: 28.6, 2e-7."""
    if 0.0 < value < 1e-3:
        return f'{value:.0e}'.replace('e-0', 'e-')
    return f'{float(f"{value:.3g}"):.15g}'


def _in_mm(text: str) -> str:
    """Return a message with its lengths in mm and its angles in degrees."""
    return _QUANTITY.sub(
        lambda found: (_mm if found[2] == 'm' else _degrees)(float(found[1])), text
    )


def _is_open(report: ChainReport, error: PoseError) -> bool:
    return report.status != 'CONVERGED' and max(error) > OPEN


def _counted(flags: Sequence[bool], kind: str, good: str, bad: str) -> list[str]:
    """Return how many goals or loops there are in words, or how many are unmet or open."""
    count = counted(len(flags), kind)
    if any(flags):
        return [f'{sum(flags)} of {count} {bad}' if len(flags) > 1 else f'{count} {bad}']
    return [f'{count} {good}'] if flags else []


def _chain(report: ChainReport) -> str:
    text = f'{counted(report.iterations, "step")}, {1e3 * report.solve_time:.2f} ms'
    if report.status == 'CONVERGED':
        return line(f'solved: {text}', GREEN)
    return line(_in_mm(report.message), ORANGE) + line(text, ORANGE)
