"""Keys of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple

# Keys by which viser's own client flies, two metres a second: far too fast for most robots, and
# some of them mean something else here. They are stopped below the page's own listeners.
FLIGHT = ('KeyW', 'KeyA', 'KeyS', 'KeyD', 'KeyQ', 'KeyE')
_STOP = (
    'if(!window.ikNodeKeys){window.ikNodeKeys=true;'
    "document.documentElement.addEventListener('keydown',e=>{"
    f'if([{",".join(repr(key) for key in FLIGHT)}].includes(e.code))e.stopPropagation();}})}}'
)


class Key(NamedTuple):
    """
    What a key does.

    Attributes
    ----------
    key : str
        As viser names it.
    modifier : str or None
        What is held down with it.
    label : str
        For the list of commands.
    work : callable
        Called with the number of the browser.

    """

    key: str
    modifier: str | None
    label: str
    work: Callable[[int], None]


def add_keys(gui: Any, keys: list[Key]) -> None:
    """Have keys do something, while nobody writes into an input."""
    gui.add_html(f'<img alt="" src="data:," style="display:none" onerror="{escape(_STOP)}">')
    for each in keys:
        command = gui.add_command(each.label, hotkey=each.key, modifier=each.modifier)
        command.on_trigger(_worker(each.work))


def keys_html(keys: Mapping[str, str]) -> str:
    """Return a line that names keys and what they do."""
    style = 'padding:2px 10px 4px;font-size:0.8em;opacity:0.8;word-spacing:0.1em'
    shown = ' '.join(
        '<span style="white-space:nowrap">'
        f'<kbd style="border:1px solid;border-radius:3px;padding:0 3px">{escape(key)}</kbd> '
        f'{escape(what)}</span>'
        for key, what in keys.items()
    )
    return f'<div style="{style}">{shown}</div>'


def _worker(work: Callable[[int], None]) -> Callable[[Any], Any]:
    async def pressed(event: Any) -> None:
        if event.client_id is not None:
            work(event.client_id)

    return pressed
