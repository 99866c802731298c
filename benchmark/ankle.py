"""
Time of the transmission of the gallery's ankle, by ik_node and by hand; `bench ankle`.

A call converts position, velocity and effort of the ankle's two joints to those of its two motors,
or back. The ankle moves on an ellipse of pitch and roll in steps of a control loop at 1 kHz, and a
conversion to the ankle starts at the step before. See hand_written_ankle.py for the equations.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
import ctypes
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from time import perf_counter
from typing import Any

import hand_written_ankle as by_hand
from ik_node.description.files import description_path
from ik_node.export import export_robot
from ik_node.native.library import library as kernel_library
from ik_node.robot import load_robot
from ik_node.solver import Solver
from machine import machine
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Call = Callable[[int], Any]

SOURCE = Path(__file__).with_name('hand_written_ankle.c')
NAMES = ('motor_left', 'motor_right'), ('ankle_pitch', 'ankle_roll')
STEPS = 1000  # of the ellipse, once around in a second
PITCH, ROLL = 0.5, 0.25  # half axes [rad]
COUNT = 2000  # calls of a round
ROUNDS = 15


def path_of_ankle() -> tuple[Array, Array]:
    """Return position, velocity and effort of the ankle and of the motors, (STEPS, 6) each."""
    phase = 2.0 * np.pi * np.arange(STEPS) / STEPS
    rate = 2.0 * np.pi
    ankle = np.column_stack(
        (
            PITCH * np.sin(phase),
            ROLL * np.cos(phase),
            rate * PITCH * np.cos(phase),
            -rate * ROLL * np.sin(phase),
            20.0 * np.cos(phase),
            5.0 * np.sin(2.0 * phase),
        )
    )
    motors = np.array([by_hand.fast_to_motors(*row) for row in ankle.tolist()])
    return ankle, motors


def library(folder: Path) -> ctypes.CDLL | None:
    """Compile hand_written_ankle.c and return it, or None if there is no C compiler."""
    compiler = shutil.which('cc') or shutil.which('gcc')
    if compiler is None:
        return None
    built = folder / 'hand_written_ankle.so'
    flags = ['-std=c11', '-O3', '-fPIC', '-shared', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
    subprocess.run([compiler, *flags, str(SOURCE), '-lm', '-o', str(built)], check=True)
    loaded = ctypes.CDLL(str(built))
    loaded.hand_time.restype = loaded.call_time.restype = ctypes.c_double
    loaded.hand_time.argtypes = [
        *(ctypes.c_int, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long)
    ]
    for name, count in (('hand_to_motors', 2), ('hand_to_ankle', 3)):
        function = getattr(loaded, name)
        function.restype, function.argtypes = None, [ctypes.c_void_p] * count
    return loaded


def fastest(do: Call, count: int, rounds: int) -> float:
    """Return the time of one of `count` calls in the fastest round [us]."""
    best = np.inf
    for _ in range(rounds):
        begin = perf_counter()
        do(count)
        best = min(best, perf_counter() - begin)
    return 1e6 * best / count


def python_rows() -> Iterator[tuple[str, Call, Call, int]]:
    """Yield label, calls to the motors and to the ankle, and the share of the count to run."""
    ankle, motors = path_of_ankle()
    starts = np.roll(ankle[:, :2], 1, axis=0)
    given = ankle.tolist()
    # The start is the last argument of the conversion to the ankle.
    back = np.hstack((motors, starts)).tolist()

    def fast_to_motors(count: int) -> None:
        for at in range(count):
            by_hand.fast_to_motors(*given[at % STEPS])

    def fast_to_ankle(count: int) -> None:
        for at in range(count):
            by_hand.fast_to_ankle(*back[at % STEPS])

    def to_motors(count: int) -> None:
        for at in range(count):
            row = ankle[at % STEPS]
            by_hand.to_motors(row[:2], row[2:4], row[4:])

    def to_ankle(count: int) -> None:
        for at in range(count):
            row = motors[at % STEPS]
            by_hand.to_ankle(row[:2], row[2:4], row[4:], starts[at % STEPS])

    robot = load_robot(description_path('ankle.urdf'))
    transmission = robot.transmission(*NAMES)
    prepared_to_motors = transmission.prepare_to_actuators()
    prepared_to_ankle = transmission.prepare_to_joints()

    def our_to_motors(count: int) -> None:
        for at in range(count):
            row = ankle[at % STEPS]
            prepared_to_motors(row[:2], row[2:4], row[4:])

    def our_to_ankle(count: int) -> None:
        for at in range(count):
            row = motors[at % STEPS]
            prepared_to_ankle(row[:2], row[2:4], row[4:])

    yield 'ik_node, prepared call', our_to_motors, our_to_ankle, 1
    yield 'by hand, NumPy', to_motors, to_ankle, 20
    yield 'by hand, floats', fast_to_motors, fast_to_ankle, 1


def c_times(loaded: ctypes.CDLL, count: int, rounds: int) -> tuple[float, float]:
    """Return the fastest times of a call in C to the motors and to the ankle [us]."""
    ankle, motors = path_of_ankle()
    starts = np.ascontiguousarray(np.roll(ankle[:, :2], 1, axis=0))
    found = []
    for is_forward, rows in ((0, ankle), (1, motors)):
        times = [
            loaded.hand_time(is_forward, count, rows.ctypes.data, starts.ctypes.data, STEPS)
            for _ in range(rounds)
        ]
        found.append(1e6 * min(times))
    return found[0], found[1]


def our_c_times(loaded: ctypes.CDLL, count: int, rounds: int) -> list[float]:
    """Return the fastest times of a call of the C interface, to the motors and back [us]."""
    robot = load_robot(description_path('ankle.urdf'))
    transmission = robot.transmission(*NAMES)
    content = export_robot(Solver(robot), (), transmission=transmission)
    ours = ctypes.CDLL(str(kernel_library().path))
    made, carried = ctypes.c_void_p(), ctypes.c_void_p()
    ours.ik_node_load_memory(content, ctypes.c_size_t(len(content)), ctypes.byref(made))
    ours.ik_node_transmission_new(made, ctypes.byref(carried))
    found = []
    for carry, rows in zip(
        (ours.ik_node_to_actuators, ours.ik_node_to_joints), path_of_ankle(), strict=True
    ):
        call = ctypes.cast(carry, ctypes.c_void_p)
        data, steps = rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(STEPS)
        given = (call, carried, ctypes.c_long(count), data, steps)
        found.append(1e6 * min(loaded.call_time(*given) for _ in range(rounds)))
    ours.ik_node_transmission_free(carried)
    ours.ik_node_free(made)
    return found


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog='ik_node bench ankle', description=__doc__)
    parser.add_argument('--count', type=int, default=COUNT, help='calls of a round')
    parser.add_argument('--rounds', type=int, default=ROUNDS, help='the fastest counts')
    args = parser.parse_args(words)
    print(machine())
    print(f'\n{"position, velocity, effort [us]":34s} {"to motors":>10s} {"to ankle":>10s}')
    for label, there, back, share in python_rows():
        count = max(args.count // share, 1)
        times = [fastest(do, count, args.rounds) for do in (there, back)]
        print(f'{label:34s} {times[0]:10.2f} {times[1]:10.2f}')
    with tempfile.TemporaryDirectory() as folder:
        loaded = library(Path(folder))
        if loaded is None:
            print('by hand, C: no C compiler')
        else:
            there_c, back_c = c_times(loaded, 50 * args.count, args.rounds)
            print(f'{"by hand, C":34s} {there_c:10.3f} {back_c:10.3f}')
            there_c, back_c = our_c_times(loaded, 10 * args.count, args.rounds)
            print(f'{"ik_node, C interface":34s} {there_c:10.3f} {back_c:10.3f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
