"""Processes that live no longer than this one."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from types import TracebackType

_PATIENCE = 10.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None


def _end_with_parent() -> None:
    """Have the kernel end this process with its parent, even with one that is killed."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class ChildProcesses:
    """
    Start Python modules as processes of their own and end them all on leaving the context.

    Parameters
    ----------
    environment : dict, optional
        Variables to set besides those of this process.

    """

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> ChildProcesses:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self, name: str, module: str, *words: str) -> None:
        """Run `python -m module words...` in a session of its own, out of reach of Ctrl-C."""
        self._processes[name] = subprocess.Popen(
            [sys.executable, '-m', module, *words],
            env=self._environment,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )

    def ended(self) -> tuple[str, int] | None:
        """Return name and exit code of a process that ended by itself, or None."""
        for name, process in self._processes.items():
            code = process.poll()
            if code is not None:
                return name, code
        return None

    def stop(self) -> None:
        """Interrupt all of them, wait, and kill those that do not listen."""
        for process in self._processes.values():
            self._signal(process, signal.SIGINT)
        for process in self._processes.values():
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._signal(process, signal.SIGKILL)
                process.wait()
        self._processes.clear()

    @staticmethod
    def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        if process.poll() is None:
            os.killpg(process.pid, number)
