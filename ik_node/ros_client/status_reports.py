# flake8: noqa: E203
"""Conversion of ~/solve_status to reports for the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
import math
from typing import Any

from ik_node.errors import MOST_TEXT, plain
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError

# Message of the status if there is no chain.
_NOTHING_TO_DO = 'CONVERGED: no goal and no loop'


def reports_of(message: Any) -> list[ChainReport]:
    """
    Return one report per chain.

    Parameters
    ----------
    message : diagnostic_msgs.msg.DiagnosticArray
        Message of ~/solve_status, or an object with its fields.

    """
    found = []
    for status in message.status:
        values = {pair.key: pair.value for pair in status.values}
        found.append(
            ChainReport(
                name=status.name.partition(': ')[2],
                status=status.message.split(':')[0].split(';')[0],
                message=status.message,
                iterations=int(_number(values.get('iterations', '0'))),
                solve_time=_number(values.get('solve_time', '0')),
                goal_errors=_errors('goal.', values),
                closure_errors=_errors('closure.', values),
            )
        )
    return found


def released_of(message: Any, closures: Collection[str]) -> set[str] | None:
    """
    Return the released closures, for which no chain has a residual.

    Parameters
    ----------
    message : diagnostic_msgs.msg.DiagnosticArray
        Message of ~/solve_status, or an object with its fields.
    closures : collection of str
        Closures of the robot.

    Returns
    -------
    set of str or None
        None = unknown, because nothing was solved.

    """
    held: set[str] = set()
    for status in message.status:
        keys = {pair.key for pair in status.values}
        if 'iterations' not in keys and not status.message.startswith(_NOTHING_TO_DO):
            return None
        held.update(
            name for name in closures if plain(f'closure.{name}.position', MOST_TEXT) in keys
        )
    return set(closures) - held if message.status else None


def _errors(prefix: str, values: Mapping[str, str]) -> dict[str, PoseError]:
    end = '.position'
    names = [
        key[len(prefix) : -len(end)]
        for key in values
        if key.startswith(prefix) and key.endswith(end)
    ]
    return {
        name: PoseError(
            _number(values[f'{prefix}{name}.position']),
            _number(values.get(f'{prefix}{name}.orientation', '0')),
        )
        for name in names
    }


def _number(text: str) -> float:
    """Return a text as a number; 0 if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0
