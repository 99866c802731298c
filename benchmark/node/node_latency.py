"""
The node under load: time from a goal message to the first joint state that meets it.

    make bench ARGS='node [--seconds 60] [--rate 250 --rate 500] [--no-start]'

A client in another process leads the hexapod's platform on a path, a hundred goals a second, and
finds by its own forward kinematics the first joint state with the platform at each goal. In the
same run, with the same client, a bare rclpy node with a timer and an echo shows what rclpy and
the middleware take by themselves. Then what starting takes, see node_start.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import os
from pathlib import Path

from ik_node.description.files import description_path
from ik_node.robot import load_robot, Robot
from machine import machine
from node.node_client import Client, GOALS_PER_SECOND, Run
from node.node_process import LINK, NodeProcess
from node.node_start import print_start
import numpy as np
from numpy.typing import NDArray
import rclpy
from sensor_msgs.msg import JointState

Array = NDArray[np.float64]

# The node's goals are met to 1e-6 m.
TOLERANCE = 2e-6
ECHO = str(Path(__file__).with_name('node_echo.py'))


def latencies(run: Run, place_of: Callable[[JointState], Array]) -> Array:
    """Return the time from each goal to the joint state that meets it [s]; nan if none."""
    seen = np.array([at for at, _ in run.joint_states])
    places = np.array([place_of(message) for _, message in run.joint_states])
    times = np.full(len(run.goals), np.nan)
    ends = np.append(run.sent[1:], np.inf)
    for k, (goal, sent, end) in enumerate(zip(run.goals, run.sent, ends, strict=True)):
        # A joint state that answers this goal may come while the next one is on its way.
        first, last = np.searchsorted(seen, (sent, end + 1.0 / GOALS_PER_SECOND))
        hits = np.flatnonzero(np.abs(places[first:last] - goal).max(axis=1) < TOLERANCE)
        if len(hits):
            times[k] = seen[first + hits[0]] - sent
    return times


def measure(
    process: NodeProcess,
    text: str,
    home: Array,
    rate: float,
    seconds: float,
    place_of: Callable[[JointState], Array],
) -> tuple[Run, Array]:
    """Run one node, then end it."""
    with process:
        client = Client(text)
        try:
            run = client.run(process, home, rate, seconds)
        finally:
            client.close()
    return run, latencies(run, place_of)


def row(name: str, rate: float, run: Run, times: Array) -> str:
    """Return one line of the table."""
    p50, p99 = 1e3 * np.nanpercentile(times, (50, 99))
    late = np.count_nonzero(np.isnan(times))
    shared = len(run.memory) // 4
    before, after = np.median(run.memory[shared : 2 * shared]), np.median(run.memory[-shared:])
    achieved = len(run.joint_states) / (run.joint_states[-1][0] - run.joint_states[0][0])
    missed = f'{100 * run.missed / run.ticks:.3f} %' if run.ticks else '-'
    return (
        f'| {name} | {rate:g} Hz | {p50:.2f} ms | {p99:.2f} ms | {1e3 * np.nanmax(times):.1f} ms '
        f'| {late} of {len(times)} | {achieved:.1f} Hz | {missed} | {100 * run.cpu:.0f} % '
        f'| {before:.1f}, {after:.1f} MB |'
    )


def place_in(robot: Robot) -> Callable[[JointState], Array]:
    """Return a function from joint states to the platform's position, with a cache."""
    known: dict[bytes, Array] = {}

    def place(message: JointState) -> Array:
        q = np.array(message.position)
        key = q.tobytes()
        if key not in known:
            known[key] = robot.forward(q, LINK)[:3, 3]
        return known[key]

    return place


def print_latency(rates: list[float], seconds: float) -> None:
    """Print the table of both nodes at every rate, and their comparison."""
    path = description_path('hexapod.urdf')
    text = Path(path).read_text(encoding='utf-8')
    robot = load_robot(path)
    home = robot.forward(robot.q, LINK)[:3, 3]
    print(f'hexapod, {GOALS_PER_SECOND:g} goals a second for {seconds:g} s\n')
    print('| node | timer | median | p99 | worst | not met | joint states | overrun | CPU | RSS |')
    print('|---|---|---|---|---|---|---|---|---|---|', flush=True)
    ratios = []
    for rate in rates:
        cases = (
            ('bare rclpy', NodeProcess(ECHO, str(rate)), lambda message: message.position[:3]),
            ('ik_node', None, place_in(robot)),
        )
        medians = []
        for name, process, place_of in cases:
            process = process or NodeProcess.ik_node(rate)
            run, times = measure(process, text, home, rate, seconds, place_of)
            print(row(name, rate, run, times), flush=True)
            medians.append(np.nanpercentile(times, (50, 99)))
        ratios.append((rate, *(medians[1] / medians[0])))
    print()
    for rate, p50, p99 in ratios:
        print(f'ik_node over bare rclpy at {rate:g} Hz: median {p50:.2f}, p99 {p99:.2f} times')


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--seconds', type=float, default=60.0, help='of goals, each run [s]')
    parser.add_argument('--rate', type=float, action='append', help='ticks a second [Hz]')
    parser.add_argument('--no-start', action='store_true', help='leave out what starting takes')
    args = parser.parse_args()
    if args.seconds < 4.0:
        parser.error('--seconds: at least 4')
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    print(machine())
    rclpy.init()
    print_latency(args.rate or [250.0, 500.0], args.seconds)
    if not args.no_start:
        print_start()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
