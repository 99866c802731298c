"""A process under measurement."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
from types import TracebackType

_TICK = os.sysconf('SC_CLK_TCK')
_PAGE = os.sysconf('SC_PAGE_SIZE')

LINK = 'platform_link'


class NodeProcess:
    """
    A Python process in its own session, which ends with the context.

    Parameters
    ----------
    words : sequence of str
        After the interpreter's name.

    """

    def __init__(self, *words: str) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 -- closed on leaving
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )

    @classmethod
    def ik_node(cls, rate: float, *words: str) -> NodeProcess:
        """Start the node with a goal `platform`; `words` are further ROS arguments."""
        goal = ('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={LINK}')
        arguments = ('--ros-args', '-p', f'rate:={float(rate)}', *goal, *words)
        return cls('-m', 'ik_node', 'node', *arguments)

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._output.close()

    @property
    def runs(self) -> bool:
        """Return True while the process runs."""
        return self._process.poll() is None

    def output(self) -> str:
        """Return the output of the process."""
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), size, 0).decode(errors='replace')

    def cpu(self) -> float:
        """Return the processor time of all its threads [s]."""
        after_name = self._read('stat').rpartition(')')[2].split()
        return (int(after_name[11]) + int(after_name[12])) / _TICK

    def memory(self) -> float:
        """Return its resident memory [MB]."""
        return int(self._read('statm').split()[1]) * _PAGE / 1e6

    def _read(self, name: str) -> str:
        return Path(f'/proc/{self._process.pid}/{name}').read_text()
