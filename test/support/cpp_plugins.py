"""Plugins of the folder `plugins`, compiled against stubs and run in small hosts of our own."""

from pathlib import Path
import shutil
import subprocess

from ik_node import Solver
from ik_node.export import export_robot
from ik_node.model.rotation import pose_parts
import numpy as np
import pytest
from support.c_programs import shared_library

REPOSITORY = Path(__file__).parents[2]
FLAGS = ('-std=c++17', '-O1', '-Wall', '-Wextra', '-Wpedantic', '-Werror')


def compile_host(folder, host, *sources, more=()):
    """Compile `test/plugins/HOST.cpp` with sources of plugins and return the program."""
    library, program = shared_library(), folder / host
    if shutil.which('g++') is None:
        pytest.skip('no g++')
    tests = REPOSITORY / 'test' / 'plugins'
    headers = (f'-I{tests / "stubs"}', f'-I{REPOSITORY / "include"}')
    files = (str(tests / f'{host}.cpp'), *(str(REPOSITORY / 'plugins' / each) for each in sources))
    linked = (str(library), f'-Wl,-rpath,{library.parent}')
    command = ['g++', *FLAGS, *more, *headers, *files, *linked, '-o', str(program)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return program


class Host:
    """A host that answers each line with a line."""

    def __init__(self, program, folder):
        self.folder, self._log = folder, folder / 'log'
        with self._log.open('w') as log:
            self._process = subprocess.Popen(
                [str(program)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def ask(self, *words):
        flat = [word for each in words for word in (each if isinstance(each, ARRAYS) else [each])]
        self._process.stdin.write(' '.join(map(str, flat)) + '\n')
        self._process.stdin.flush()
        return self._process.stdout.readline().split()

    @property
    def log(self):
        return self._log.read_text()

    def end(self):
        self._process.stdin.close()
        assert self._process.wait(10) == 0
        self._process.stdout.close()

    def export(self, robot, goals=(), transmission=None, **options):
        """Write the file of a robot at its present configuration, and return its path."""
        content = export_robot(
            Solver(robot, **options), goals, 'robot', robot.actuated, transmission
        )
        path = self.folder / 'robot.ikr'
        path.write_bytes(content)
        return path


ARRAYS = (np.ndarray, list, tuple)


def pose_of(matrix):
    return np.concatenate(pose_parts(matrix))
