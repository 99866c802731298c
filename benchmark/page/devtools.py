"""A headless Chromium controlled by its DevTools protocol."""

from __future__ import annotations

import json
from pathlib import Path
import shutil
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any
import urllib.request

from websockets.sync.client import connect

BINARIES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
FLAGS = (
    '--headless',
    '--no-sandbox',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-quic',
    '--disable-sync',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--remote-debugging-port=0',
)
PATIENCE = 60.0  # [s]


def chromium() -> str:
    """Return the path of a Chromium, or '' if none is installed."""
    return next(filter(None, map(shutil.which, BINARIES)), '')


class DevTools:
    """
    A browser window; the browser ends with the context.

    Parameters
    ----------
    width, height : int
        Of the window [px].

    """

    def __init__(self, width: int, height: int) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        size = f'--window-size={width},{height}'
        self._process = subprocess.Popen(
            [chromium(), *FLAGS, size, f'--user-data-dir={self._folder.name}', 'about:blank'],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0
        self._connection = connect(self._address(), max_size=None)

    def __enter__(self) -> DevTools:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def _address(self) -> str:
        port = Path(self._folder.name) / 'DevToolsActivePort'
        end = time.monotonic() + PATIENCE
        while not (port.exists() and port.read_text()):
            if time.monotonic() > end or self._process.poll() is not None:
                raise SystemExit('the browser did not start')
            time.sleep(0.05)
        with urllib.request.urlopen(
            f'http://127.0.0.1:{port.read_text().split()[0]}/json'
        ) as all_:
            return str(
                next(t['webSocketDebuggerUrl'] for t in json.load(all_) if t['type'] == 'page')
            )

    def call(self, method: str, **values: Any) -> Any:
        """Call a method of the protocol; return its result."""
        self._number += 1
        self._connection.send(json.dumps({'id': self._number, 'method': method, 'params': values}))
        while True:
            answer = json.loads(self._connection.recv(timeout=PATIENCE))
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise SystemExit(f'{method}: {answer["error"]}')
                return answer['result']

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        answer = self.call('Runtime.evaluate', expression=script, returnByValue=True)
        return answer['result'].get('value')

    def wait(self, script: str, what: str) -> Any:
        """Wait until an expression is true; return it."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script)):
            if time.monotonic() > end:
                raise SystemExit(f'waited in vain for {what}')
            time.sleep(0.005)
        return found

    def mouse(self, kind: str, x: float, y: float, *, down: bool = True) -> None:
        """Send a mouse event: Pressed, Moved or Released; `down`: with the left button held."""
        self.call(
            'Input.dispatchMouseEvent',
            type=f'mouse{kind}',
            x=x,
            y=y,
            button='left' if down else 'none',
            buttons=int(down),
            clickCount=1,
        )
