"""
The fault drill's monitor: every joint state is checked, whatever is done to the node.

The check is the slow oracle's, `naive.py`: 4x4 products over what the description says, nothing of
the kernels. A verdict is kept, so that a robot at rest costs nothing.
"""

from collections.abc import Callable
import math
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

from ik_node.ros.messages.convert import seconds_from_stamp
import numpy as np
from support.naive import Naive

RATE = 50.0  # ticks a second
CLOSED = 1e-6  # what counts as a closed loop [m, rad]
# The longest pause of a node that works [s]: far longer than any that a busy machine makes.
SILENCE = 15.0
PLATFORM = 'platform_link'
HOME = np.array([0.0, 0.0, 0.088326])  # where the hexapod's platform starts [m]

Offset = tuple[float, float, float]


class Oracle:
    """One robot that may be published: what its description says of a configuration."""

    def __init__(self, text: str) -> None:
        from ik_node.robot import load_robot

        robot = load_robot(text)
        self.joint_names = tuple(robot.joint_names)
        self._roots = robot.roots
        self._verdicts: dict[bytes, str] = {}

    def at(self, positions: Any) -> Naive:
        return Naive(self._roots, dict(zip(self.joint_names, positions, strict=True)))

    def verdict(self, positions: Any) -> str:
        key = np.array(positions).tobytes()
        if key not in self._verdicts:
            self._verdicts[key] = self._judge(positions)
        return self._verdicts[key]

    def _judge(self, positions: Any) -> str:
        if not np.isfinite(positions).all():
            return f'not finite: {list(positions)}'
        robot = self.at(positions)
        if robot.limit_excess() > 0.0:
            return f'{robot.limit_excess():.3g} outside the limits'
        for name, closer in robot.closers.items():
            if not max(robot.error(closer)) <= CLOSED:
                return f'loop {name} is open by {robot.error(closer)} m, rad'
        return ''

    def place(self, positions: Any, link: str) -> np.ndarray:
        """Return where a link is [m], root frame."""
        robot = self.at(positions)
        frame = next(frame for frame in robot.frames if frame.name == link)
        return robot.world(frame)[:3, 3]


class Drill:
    """
    A monitor over a graph of processes, and what a client of the node does.

    Offsets are of the platform from where it starts [m]. A bad joint state ends the next wait of
    the graph.
    """

    def __init__(self, graph: Any) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState

        self.graph = graph
        self.oracles: list[Oracle] = []
        self.count = 0
        self.last: Any = None
        self.status, self.said = '', 0.0
        self.longest_silence = 0.0
        self._started = self._last_stamp = 0.0
        subscribe = graph.client.create_subscription
        subscribe(JointState, 'ik_node/joint_states', self._on_joints, 1000)
        subscribe(DiagnosticArray, 'ik_node/solve_status', self._on_status, 1000)
        subscribe(DiagnosticArray, '/diagnostics', graph.take_diagnostics, 1000)

    # -- what it hears

    def _on_joints(self, message: Any) -> None:
        self.count += 1
        self.last = message
        fault = self._fault(message)
        if fault:
            self.graph.faults.append(f'joint state {self.count}: {fault}')

    def _fault(self, message: Any) -> str:
        stamp = seconds_from_stamp(message.header.stamp)
        before, self._last_stamp = self._last_stamp, stamp
        # Between the last word of one node and the first of the next it is quiet.
        silence = stamp - before if before > self._started else 0.0
        self.longest_silence = max(self.longest_silence, silence)
        if silence > SILENCE:
            return f'none for {silence:.2f} s before it'
        if len(message.velocity) != len(message.name) or not np.isfinite(message.velocity).all():
            return f'velocity {list(message.velocity)}'
        oracle = self.oracle
        if oracle is None:
            return f'joints of no robot that was described: {list(message.name)}'
        return oracle.verdict(message.position)

    def _on_status(self, message: Any) -> None:
        self.status, self.said = (
            message.status[0].message,
            seconds_from_stamp(message.header.stamp),
        )

    @property
    def oracle(self) -> Oracle | None:
        """Return the robot of the last joint state; None when no such one was described."""
        names = tuple(self.last.name)
        return next((each for each in self.oracles if each.joint_names == names), None)

    def at(self, offset: Offset) -> bool:
        if self.last is None or self.oracle is None:
            return False
        return bool(np.linalg.norm(self.offset() - offset) < 2e-6)

    def offset(self) -> np.ndarray:
        return self.oracle.place(self.last.position, PLATFORM) - HOME

    def row(self, name: str) -> str:
        """Return the sentence of a row of /diagnostics that was made after this call."""
        return self.graph.row(name)[0]

    def value(self, name: str, key: str) -> str:
        """Return a value in a row of /diagnostics that was made after this call, or ''."""
        return self.graph.row(name)[1].get(key, '')

    # -- what it waits for

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        return self.graph.wait(condition, what)

    def flows(self, messages: int = 10) -> None:
        """Wait until so many more joint states have come, after all that were on their way."""
        now = time.time()
        self.wait(lambda: self._last_stamp > now, 'a joint state after this moment')
        wanted = self.count + messages
        self.wait(lambda: self.count >= wanted, f'{messages} joint states')

    def arrives(self, offset: Offset) -> None:
        self.wait(lambda: self.at(offset), f'the platform at {offset}')

    def says(self, words: str) -> None:
        now = time.time()
        self.wait(lambda: self.said > now and words in self.status, f'the status {words!r}')

    # -- what it does

    def knows(self, text: str) -> Oracle:
        self.oracles.append(Oracle(text))
        return self.oracles[-1]

    def start(self, *words: str, name: str = 'node') -> subprocess.Popen:
        self._started = time.time()
        goal = ('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}')
        rate = ('-p', f'rate:={RATE}')
        return self.graph.start(name, 'ik_node', 'node', '--ros-args', *rate, *goal, *words)

    def start_client(self, name: str, offset: Offset, *words: str) -> subprocess.Popen:
        """Start drill_client.py, a client that sends goals from a process of its own."""
        script = Path(__file__).with_name('drill_client.py')
        centre = map(str, HOME + offset)
        with (self.graph.folder / f'{name}.txt').open('wb') as output:
            process = subprocess.Popen(
                [sys.executable, str(script), str(os.getpid()), *centre, *words],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.graph.processes[name] = process
        return process

    def send(self, offset: Offset, frame: str = '', stamp: float = 0.0) -> None:
        """Send the platform to a place; `stamp` [s], 0 is none."""
        from geometry_msgs.msg import PoseStamped

        message = PoseStamped()
        message.header.frame_id = frame
        message.header.stamp.sec = int(stamp)
        point = message.pose.position
        point.x, point.y, point.z = (HOME + offset).tolist()
        self.graph.publish(PoseStamped, 'ik_node/goals/platform', message, 1, arrives=False)

    def go(self, offset: Offset = (0.0, 0.0, 0.0)) -> None:
        """Send the platform to a place, again and again as clients do, until it is there."""
        told = -math.inf

        def arrived() -> bool:
            nonlocal told
            if time.monotonic() - told > 0.2:
                told = time.monotonic()
                self.send(offset)
            return self.at(offset)

        self.wait(arrived, f'the platform at {offset}')

    def circle(
        self, steps: int = 25, meanwhile: dict[int, Callable[[], Any]] | None = None
    ) -> None:
        """
        Lead the platform on a circle, one goal a tick, and wait for the last goal.

        `meanwhile` maps a step to what happens to the node at it.
        """
        offset = (0.0, 0.0, 0.0)
        for step in range(steps):
            turn = 0.05 * (step + 1)
            offset = (0.003 * math.cos(turn) - 0.003, 0.003 * math.sin(turn), 0.0)
            self.send(offset)
            if meanwhile and step in meanwhile:
                meanwhile[step]()
            self.flows(1)
        self.arrives(offset)
