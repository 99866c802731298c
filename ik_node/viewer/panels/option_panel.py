"""The panel of solver options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from html import escape
from typing import Any

from ik_node.errors import IkError, OptionError
from ik_node.solver.options import SolverOptions
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.sessions.session import Session


class OptionPanel:
    """
    A panel with an input for every solver option, and a message for values that are not allowed.

    Parameters
    ----------
    gui : viser.GuiApi
    queue : SessionQueue

    """

    def __init__(self, gui: Any, queue: SessionQueue) -> None:
        self._gui = gui
        self._queue = queue
        self._shown: SolverOptions | None = None
        self._defaults = SolverOptions()
        self._said = gui.add_html('')
        reset = gui.add_button('Defaults', color='gray', hint='as they were when the page opened')
        self._inputs = {
            field.name: self._input(field)
            for field in fields(SolverOptions)
            if field.metadata['parameter']
        }
        by_hand(reset, lambda _: queue.do(self._reset))

    def refresh(self, options: SolverOptions) -> None:
        """Show the present options."""
        if options == self._shown:
            return
        if self._shown is None:
            self._defaults = options
        self._shown = options
        for name, (handle, written) in self._inputs.items():
            handle.value = written(getattr(options, name))

    def forget(self) -> None:
        """Use the next options that are shown as the defaults."""
        self._shown = None

    def _input(self, field: Field[Any]) -> tuple[Any, Callable[[Any], Any]]:
        about, unit = field.metadata['doc'], field.metadata['unit']
        hint = f'{about} [{unit}]' if unit not in ('', '1') else about
        name, default, gui = field.name, field.default, self._gui
        read: Callable[[Any], Any] = _same
        written: Callable[[Any], Any] = _same
        if isinstance(default, bool):
            handle = gui.add_checkbox(name, default, hint=hint)
        elif isinstance(default, str):
            handle = gui.add_dropdown(
                name, field.metadata['allowed'], initial_value=default, hint=hint
            )
        else:
            # A text input, because an input for numbers does not accept inf or 1e-6.
            handle = gui.add_text(name, f'{default:g}', hint=hint)
            read, written = (_whole if type(default) is int else _number), _text
        by_hand(handle, lambda value: self._queue.do(lambda s: self._set(s, name, read, value)))
        return handle, written

    def _set(self, session: Session, name: str, read: Callable[[Any], Any], value: Any) -> None:
        try:
            session.set_option(name, read(value))
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
            wanted = getattr(self._defaults, name)
            if getattr(session.options, name) != wanted:
                session.set_option(name, wanted)
        self._say('')

    def _say(self, text: str) -> None:
        self._said.content = (
            f'<div style="padding:0 10px;color:#D55E00;font-size:0.85em">{escape(text)}</div>'
            if text
            else ''
        )


def _same(value: Any) -> Any:
    return value


def _number(text: str) -> float:
    return float(text)


def _whole(text: str) -> float:
    number = float(text)
    # SolverOptions refuses numbers that are not integers.
    return int(number) if number.is_integer() else number


def _text(value: object) -> str:
    return f'{value:g}' if isinstance(value, float) else str(value)
