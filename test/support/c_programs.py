"""C programs over the C interface: compiled for tests, and the interface called through ctypes."""

import ctypes
from pathlib import Path
import shutil
import subprocess

from ik_node.native.layout_header import layout_header
from ik_node.native.library import library
from ik_node.native.places import HERE
import numpy as np
import pytest

SOURCES = Path(__file__).parents[1] / 'native'
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Werror')
JOINTS, LINKS, GOALS, CLOSURES, CHAINS, ACTUATORS, ROWS = range(7)
CONVERGED, STALLED, DIVERGED, TIMEOUT, RUNNING = range(5)
ARGUMENT, FILE, FORMAT, VERSION, MEMORY, PROCESSOR, INPUT = range(-1, -8, -1)

_POINTERS = ('lower', 'upper', 'start', 'q', 'transmission_q', 'transmission_get')
_TEXTS = ('name', 'robot_name', 'text', 'digest')
_LONG = ('steps', 'closing_steps', 'starts')


def shared_library():
    """Return the path of the library; without one, or without a C compiler, skip the test."""
    path = library().path
    if path is None or shutil.which('gcc') is None:
        pytest.skip('no compiled kernels or no gcc')
    return path


def compile_c(name, folder, *more):
    """Compile `test/native/NAME.c`, or PATH.c, with the library, and return the program."""
    path, program = shared_library(), folder / name
    flags = ('-std=c11', '-D_GNU_SOURCE', '-O1', '-pthread', *WARNINGS)
    linked = (str(path), f'-Wl,-rpath,{path.parent}', '-lm')
    headers = f'-I{HERE.parents[1] / "include"}'
    source = str(SOURCES / f'{name}.c')
    command = ['gcc', *flags, headers, source, *more, *linked, '-o', str(program)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return program


def interface_source(folder):
    """Return compiler arguments that compile the interface itself into a program."""
    (folder / 'layout.h').write_text(layout_header())
    return (f'-I{folder}', '-ffp-contract=off', str(HERE / 'ik_node.c'))


def run(program, *words, **more):
    words = [str(word) for word in words]
    ended = subprocess.run([str(program), *words], capture_output=True, text=True, **more)
    assert ended.returncode == 0, (ended.returncode, ended.stdout, ended.stderr)
    return ended.stdout


def interface():
    opened = ctypes.CDLL(str(shared_library()))
    for name in _POINTERS:
        getattr(opened, f'ik_node_{name}').restype = ctypes.POINTER(ctypes.c_double)
    for name in _TEXTS:
        getattr(opened, f'ik_node_{name}').restype = ctypes.c_char_p
    for name in _LONG:
        getattr(opened, f'ik_node_{name}').restype = ctypes.c_int64
    opened.ik_node_length.restype = ctypes.c_double
    return opened


def _pointer(array):
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


def _array(values, *shape):
    if values is None:
        return None
    made = np.ascontiguousarray(values, dtype=np.float64)
    assert made.size == np.prod(shape), (made.shape, shape)
    return made


class Loaded:
    """A robot that the C interface has loaded."""

    def __init__(self, content):
        self.c, self.robot = interface(), ctypes.c_void_p()
        self.code = load(self.c, content, self.robot)
        counted = range(7 if self.code == 0 else 0)
        self.counts = [self.c.ik_node_count(self.robot, what) for what in counted]

    def __del__(self):
        self.c.ik_node_free(self.robot)

    def count(self, what):
        return self.counts[what]

    def names(self, what):
        at = range(self.counts[what])
        return [self.c.ik_node_name(self.robot, what, index).decode() for index in at]

    def joint_values(self, pointer):
        return np.ctypeslib.as_array(pointer, (self.counts[JOINTS],)).copy()


class CRobot(Loaded):
    """A robot and one problem of it, through the C interface."""

    def __init__(self, content):
        super().__init__(content)
        self.problem = ctypes.c_void_p()
        if self.code == 0:
            assert self.c.ik_node_problem_new(self.robot, ctypes.byref(self.problem)) == 0

    def __del__(self):
        self.c.ik_node_problem_free(self.problem)
        super().__del__()

    def values(self, name):
        return self.joint_values(getattr(self.c, f'ik_node_{name}')(self.robot))

    def solve(self, q0, poses, steps=0):
        count = self.count(GOALS)
        positions = _array([p for p, _ in poses], count, 3)
        quats = _array([r for _, r in poses], count, 4)
        start = _array(q0, self.count(JOINTS))
        given = (_pointer(start), _pointer(positions), _pointer(quats), steps)
        return self.c.ik_node_solve(self.problem, *given)

    def limits(self, lower, upper):
        arrays = [_array(each, self.count(JOINTS)) for each in (lower, upper)]
        return self.c.ik_node_limits(self.problem, *map(_pointer, arrays))

    def go_on(self, steps=0):
        return self.c.ik_node_continue(self.problem, steps)

    @property
    def q(self):
        return self.joint_values(self.c.ik_node_q(self.problem))

    @property
    def counters(self):
        return tuple(getattr(self.c, f'ik_node_{name}')(self.problem) for name in _LONG)

    def errors(self, what):
        function = self.c.ik_node_goal_error if what == GOALS else self.c.ik_node_closure_error
        found, error = {}, np.zeros(2)
        for index, name in enumerate(self.names(what)):
            assert function(self.problem, index, _pointer(error)) == 0
            found[name] = tuple(error.tolist())
        return found

    def forward(self, q):
        poses = np.full((self.count(LINKS), 7), np.nan)
        start = _array(q, self.count(JOINTS))
        assert self.c.ik_node_forward(self.problem, _pointer(start), _pointer(poses)) == 0
        return poses

    def jacobian(self, q, link):
        made = np.full((6, self.count(JOINTS)), np.nan)
        given = (_pointer(_array(q, self.count(JOINTS))), link, _pointer(made))
        assert self.c.ik_node_jacobian(self.problem, *given) == 0
        return made


class CTransmission(Loaded):
    """The transmission of a robot, through the C interface."""

    def __init__(self, content):
        super().__init__(content)
        self.transmission = ctypes.c_void_p()
        made = ctypes.byref(self.transmission)
        assert self.c.ik_node_transmission_new(self.robot, made) == 0

    def __del__(self):
        self.c.ik_node_transmission_free(self.transmission)
        super().__del__()

    def start(self, q):
        given = _pointer(_array(q, self.counts[JOINTS]))
        return self.c.ik_node_transmission_start(self.transmission, given)

    def carry(self, inverse, *given):
        """Carry position, velocity and effort to joints or to actuators; return the code."""
        call = self.c.ik_node_to_actuators if inverse else self.c.ik_node_to_joints
        count = self.counts[ROWS if inverse else ACTUATORS]
        arrays = [_array(each, count) for each in given] + [None] * (3 - len(given))
        return call(self.transmission, *map(_pointer, arrays))

    @property
    def q(self):
        return self.joint_values(self.c.ik_node_transmission_q(self.transmission))

    def part_pointer(self, part):
        found = self.c.ik_node_transmission_get(self.transmission, part)
        return found or None

    def part(self, part):
        count = self.counts[JOINTS if part == 0 else (ACTUATORS if part < 4 else ROWS)]
        return np.ctypeslib.as_array(self.part_pointer(part), (count,)).copy()


def load(opened, content, into):
    return opened.ik_node_load_memory(content, ctypes.c_size_t(len(content)), ctypes.byref(into))
