"""The processes of our solver and of every installed peer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Any

HERE = Path(__file__).resolve().parent
PEER_VENVS = HERE.parent / '.venvs' / 'peers'
ONE_THREAD = dict.fromkeys(
    ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS'), '1'
)


@dataclass(frozen=True)
class Entry:
    """
    A solver with its options.

    Attributes
    ----------
    solver
        Name of the solver, of its worker file, and of its environment.
    label
        What stands in the report.
    form
        Form of a task that suits it.
    tolerance
        What it is asked for, [m] and [rad].
    kind
        'goals' or 'driven' where it is for such tasks only; 'arms' for trees with one goal,
        'loops' for what has loops.

    """

    solver: str
    label: str
    options: dict[str, Any] = field(default_factory=dict)
    form: str = ''
    tolerance: float = 1e-4
    kind: str = ''

    @property
    def is_ours(self) -> bool:
        """Return True for our solver."""
        return self.solver == 'ours'


OURS = [
    Entry('ours', 'ours', {'call': 'prepared'}, '', 1e-6, 'goals'),
    Entry('ours', 'ours, solve_pose', {'call': 'pose'}, '', 1e-6, 'goals'),
    Entry('ours', 'ours, drive', {'call': 'drive'}, '', 1e-6, 'driven'),
    Entry('ours', 'ours, held', {'call': 'held'}, '', 1e-6, 'driven'),
    Entry('ours', 'ours, 3 + 3 legs joints', {'call': 'prepared'}, 'carried', 1e-6, 'goals'),
]
PEERS = [
    Entry('rtb', 'RTB ik_LM chan k=0.1', {'k': 0.1}, kind='arms'),
    Entry('rtb', 'RTB ik_LM chan k=0.1, 1e-6', {'k': 0.1}, tolerance=1e-6, kind='arms'),
    Entry('eaik', 'EAIK, nearest of all', kind='arms'),
    Entry('pytracik', 'TRAC-IK speed, 5 ms', kind='arms'),
    Entry('ikpy', 'ikpy frame', kind='arms'),
    Entry('placo', 'placo loop', form='carried'),
    Entry('placo', 'placo, loops hard', {'loops': 'hard'}, form='carried', kind='loops'),
    Entry('placo', 'placo loop, 1e-6', {'regularization': 1e-8}, 'carried', 1e-6),
    Entry('pin', 'pinocchio, NumPy LM, restarts', form='carried'),
    Entry('mink', 'mink loop, DAQP', {'damping': 1e-2}, form='carried'),
    Entry('closed_chain_ik', 'closed-chain-ik (npm), SVD', {'useSVD': True}),
    Entry('closed_chain_ik', 'closed-chain-ik (npm)'),
    Entry('placo', 'placo, restarts', {'steps': 40, 'starts': 25}, kind='arms'),
]


def command_of(solver: str) -> list[str] | None:
    """Return the command that starts the worker of a solver, or None if not installed."""
    if solver == 'ours':
        return [sys.executable, '-m', 'peers.ours']
    if solver == 'closed_chain_ik':
        node, modules = shutil.which('node'), PEER_VENVS / solver / 'node_modules'
        script = HERE / 'peers' / 'closed_chain_ik.mjs'
        return [node, str(script)] if node and modules.is_dir() else None
    python = PEER_VENVS / solver / 'bin' / 'python'
    # As a module: a script named like its library would be imported in its place.
    return [str(python), '-m', f'peers.{solver}'] if python.is_file() else None


class Worker:
    """The process of a solver."""

    def __init__(self, solver: str) -> None:
        command = command_of(solver)
        assert command is not None
        environment = {**os.environ, **ONE_THREAD}
        if solver != 'ours':
            # What our environment or a sourced ROS 2 put there is not for another Python.
            for name in ('PYTHONPATH', 'LD_LIBRARY_PATH', 'VIRTUAL_ENV'):
                environment.pop(name, None)
            environment['PEER_FOLDER'] = str(PEER_VENVS / solver)
        self._noise = tempfile.TemporaryFile('w+')  # noqa: SIM115  open as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            text=True,
            cwd=HERE,
            env=environment,
        )
        hello = self._read()
        self.version = hello.get('version', '')
        self.trouble = '' if self.version else hello.get('unfit', 'said nothing')

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the reply."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + '\n')
            self._process.stdin.flush()
        except BrokenPipeError:
            return {'unfit': self._end()}
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {'unfit': self._end()}
        reply: dict[str, Any] = json.loads(line)
        return reply

    @property
    def has_ended(self) -> bool:
        """Return True if the process must be started again."""
        return self._process.poll() is not None

    def _end(self) -> str:
        code = self._process.wait()
        self._noise.seek(0)
        said = self._noise.read().strip().splitlines()
        why = f'killed by signal {-code}' if code < 0 else f'code {code}'
        return f'its process ended, {why}: {said[-1][:160] if said else "it said nothing"}'

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.terminate()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._noise):
            with suppress(BrokenPipeError):
                stream.close()
