"""The panels of solver options, and of plots of residuals and solve times."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import Field, fields
from math import log10
from typing import Any

from ik_node.errors import IkError, OptionError
from ik_node.scene.chain_report import ChainReport
from ik_node.scene.plot import CURVES
from ik_node.solver.options import SolverOptions
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.panels.text_html import box, explain, line, RED
from ik_node.viewer.sessions.session import Array, Session
import numpy as np

# The options above the others.
FIRST = ('method', 'restarts', 'max_iterations', 'rest_pose_factor', 'damping_factor')


class OptionPanel:
    """An input for every solver option, and a message for values that are not allowed."""

    def __init__(self, gui: Any, queue: SessionQueue) -> None:
        self._gui = gui
        self._queue = queue
        self._shown: SolverOptions | None = None
        self._defaults = SolverOptions()
        self._solve = by_hand(
            gui.add_checkbox('solve', True, hint='off: goals move, the robot waits'),
            lambda value: queue.do(lambda s: setattr(s, 'solving', value)),
        )
        hint = 'a robot that cannot reach its goals stays in place'
        self._strict = by_hand(
            gui.add_checkbox('converged only', False, hint=hint),
            lambda value: queue.do(lambda s: setattr(s, 'strict', value)),
        )
        self._said = gui.add_html('')
        reset = gui.add_button('Defaults', color='gray', hint='as they were when the page opened')
        options = {each.name: each for each in fields(SolverOptions) if each.metadata['parameter']}
        self._inputs = {name: self._input(options.pop(name)) for name in FIRST}
        with gui.add_folder('more options', expand_by_default=False):
            self._inputs |= {name: self._input(field) for name, field in options.items()}
        by_hand(reset, lambda _: queue.do(self._reset))
        explain(gui, self._solve, self._strict, reset, *self._inputs.values())

    def refresh(self, session: Session) -> None:
        """Show the present options."""
        self._solve.visible = self._strict.visible = session.solves
        self._solve.value, self._strict.value = session.solving, session.strict
        options = session.options
        self._inputs['restarts'].disabled = options.method != 'dls'
        if options == self._shown:
            return
        if self._shown is None:
            self._defaults = options
        self._shown = options
        for name, handle in self._inputs.items():
            handle.value = _written(getattr(options, name))

    def forget(self) -> None:
        """Use the next options that are shown as the defaults."""
        self._shown = None

    def _input(self, field: Field[Any]) -> Any:
        about, unit = field.metadata['doc'], field.metadata['unit']
        hint = f'{about} [{unit}]' if unit not in ('', '1') else about
        name, default, gui = field.name, field.default, self._gui
        if isinstance(default, bool):
            handle = gui.add_checkbox(name, default, hint=hint)
        elif isinstance(default, str):
            handle = gui.add_dropdown(
                name, field.metadata['allowed'], initial_value=default, hint=hint
            )
        else:
            # A text input, because an input for numbers does not accept inf or 1e-6.
            handle = gui.add_text(name, _written(default), hint=hint)
        return by_hand(
            handle, lambda value: self._queue.do(lambda s: self._set(s, name, value, default))
        )

    def _set(self, session: Session, name: str, value: Any, default: object) -> None:
        try:
            session.set_option(name, _read(value, default))
        except ValueError:
            self._say(str(OptionError(name, value, 'a number')))
        except IkError as error:
            self._say(str(error))
        else:
            self._say('')
            # Keep the text as the user typed it.
            self._shown = session.options

    def _reset(self, session: Session) -> None:
        for name in self._inputs:
            default = getattr(self._defaults, name)
            if getattr(session.options, name) != default:
                session.set_option(name, default)
        self._say('')

    def _say(self, text: str) -> None:
        self._said.content = box(line(text, RED))


def _read(value: Any, default: object) -> Any:
    """Return an option like `default` from the value of its input."""
    if isinstance(default, bool | str):
        return value
    number = float(value)
    # SolverOptions refuses numbers that are not integers.
    return int(number) if type(default) is int and number.is_integer() else number


def _written(value: object) -> Any:
    """Return the value of the input of an option."""
    return value if isinstance(value, bool | str) else f'{value:g}'


# Time span [s] and largest number of rows.
SPAN = 30.0
LENGTH = 600
# Residuals of zero are drawn at this value, because of the logarithmic scale.
LEAST = 1e-16


class History:
    """Residuals and solve times of every chain over time."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._rows: deque[tuple[float, tuple[float, ...], tuple[float, ...]]] = deque(
            maxlen=LENGTH
        )

    def add(self, now: float, reports: Sequence[ChainReport]) -> None:
        """Add the reports at a time [s]; if the chains have changed, start a new history."""
        names = tuple(report.name for report in reports)
        if names != self.names:
            self.names = names
            self._rows.clear()
        if names:
            residuals = tuple(log10(max(report.residual, LEAST)) for report in reports)
            times = tuple(1e3 * report.solve_time for report in reports)
            self._rows.append((now, residuals, times))
        while self._rows and now - self._rows[0][0] > SPAN:
            self._rows.popleft()

    def columns(self, which: int) -> tuple[Array, ...]:
        """Return times before now [s], and of every chain 1: log10 of residuals, 2: times [ms]."""
        last = self._rows[-1][0] if self._rows else 0.0
        times = np.array([row[0] - last for row in self._rows])
        values = np.array([row[which] for row in self._rows], dtype=np.float64)
        return times, *values.T.copy()


MOST = len(CURVES)
HEIGHT = 200
# Range of the residual's axis [log10 of m or rad].
RESIDUALS = (log10(LEAST), 1.0)


class PlotPanel:
    """Plots of residuals and solve times over time, as soon as there are two of each."""

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._hint = gui.add_html(box(line('Move the robot: then its plots appear here.')))
        self._names: tuple[str, ...] = ()
        self._plots: list[Any] = []

    def refresh(self, history: History) -> None:
        """Show a history."""
        shown = [history.columns(which)[: 1 + MOST] for which in (1, 2)]
        names = history.names if len(shown[0][0]) > 1 else ()
        if names != self._names:
            self._rebuild(names)
        for plot, data in zip(self._plots, shown, strict=False):
            plot.data = data

    def _rebuild(self, names: tuple[str, ...]) -> None:
        for plot in self._plots:
            plot.remove()
        self._plots, self._names, self._hint.visible = [], names, not names
        if not names:
            return
        series = (
            {'label': 't [s]'},
            *(
                {'label': name[:24] or 'chain', 'stroke': colour, 'width': 2}
                for name, colour in zip(names, CURVES, strict=False)
            ),
        )
        nothing = tuple(np.zeros(0) for _ in series)
        scales = {'residual [log10 of m, rad]': {'range': RESIDUALS}, 'solve time [ms]': {}}
        for title, scale in scales.items():
            self._plots.append(
                self._gui.add_uplot(
                    data=nothing,
                    series=series,
                    title=title,
                    scales={'x': {'time': False, 'range': (-SPAN, 0.0)}, 'y': scale},
                    axes=({'label': 'time [s]', 'labelSize': 20, 'size': 32}, {'size': 52}),
                    height=HEIGHT,
                    legend={'show': len(names) > 1},
                )
            )
