"""A client that sends goals to a node in another process and records all replies."""

from __future__ import annotations

from dataclasses import dataclass, field
import random
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.ros.process import LATCHED
from node.node_process import NodeProcess
import numpy as np
from numpy.typing import NDArray
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tqdm import tqdm

Array = NDArray[np.float64]

GOALS_PER_SECOND = 100.0
RADIUS = 0.004  # of the goals' path [m]; two goals are 0.25 mm apart
_WARM_UP = 1.0  # [s] of goals that do not count
_PATIENCE = 60.0


@dataclass
class Run:
    """
    Sent goals and received messages; times of one monotonic clock [s].

    Attributes
    ----------
    goals : ndarray, shape (n, 3)
        Wanted positions of the platform, root frame [m].
    sent : ndarray, shape (n,)
        When each was published.
    joint_states : list of (float, JointState)
        With the time at which the client had it in hand.
    cpu : float
        Share of one core that the node took.
    memory : list of float
        The node's resident memory, once a second [MB].
    ticks, missed : int
        The node's own count, by /diagnostics; 0 where it does not say.

    """

    goals: Array
    sent: Array
    joint_states: list[tuple[float, JointState]] = field(default_factory=list)
    cpu: float = 0.0
    memory: list[float] = field(default_factory=list)
    ticks: int = 0
    missed: int = 0


def _path(home: Array, count: int) -> Array:
    turn = 2.0 * np.pi * np.arange(count) / GOALS_PER_SECOND
    circle = np.stack((np.cos(turn) - 1.0, np.sin(turn), 0.3 * np.sin(2.0 * turn)), axis=1)
    return home + RADIUS * circle


class Client:
    """
    One ROS node that subscribes ~/joint_states and ~/solve_status and sends goals.

    Parameters
    ----------
    text : str
        The robot description to publish.

    """

    def __init__(self, text: str) -> None:
        self._node = rclpy.create_node('benchmark_client')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._seen: list[tuple[float, JointState]] = []
        self._statuses = 0
        self._counts: list[tuple[int, int]] = []
        deep = QoSProfile(depth=200)
        subscribe = self._node.create_subscription
        subscribe(JointState, 'ik_node/joint_states', self._on_joints, deep)
        # Not unpacked: it is subscribed so that the node has to say it.
        subscribe(DiagnosticArray, 'ik_node/solve_status', self._on_status, deep, raw=True)
        subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, deep)
        self._goals = self._node.create_publisher(PoseStamped, 'ik_node/goals/platform', 1)
        self._description = self._node.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=text))

    def close(self) -> None:
        """End the ROS node."""
        self._executor.shutdown()
        self._node.destroy_node()

    def _on_joints(self, message: JointState) -> None:
        self._seen.append((time.perf_counter(), message))

    def _on_status(self, message: bytes) -> None:
        self._statuses += 1

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for row in message.status:
            if row.name == 'ik_node: ticks':
                values = {pair.key: pair.value for pair in row.values}
                self._counts.append((int(values['ticks']), int(values['missed_ticks'])))

    def run(self, process: NodeProcess, home: Array, rate: float, seconds: float) -> Run:
        """Send a hundred goals a second for a time, each at a random time between ticks."""
        self._wait_for(process)
        self._stream(process, _path(home, int(_WARM_UP * GOALS_PER_SECOND)), rate, '')
        self._counts.clear()
        goals = _path(home, int(seconds * GOALS_PER_SECOND))
        self._seen = []
        run = self._stream(process, goals, rate, f'{rate:g} Hz')
        self._spin(0.2)
        run.joint_states = self._seen
        if len(self._counts) > 1:
            (first, missed), (last, missed_last) = self._counts[0], self._counts[-1]
            run.ticks, run.missed = last - first, missed_last - missed
        return run

    def _stream(self, process: NodeProcess, goals: Array, rate: float, label: str) -> Run:
        chance = random.Random(1)
        message = PoseStamped()
        sent = np.zeros(len(goals))
        run = Run(goals, sent)
        whole = round(len(goals) / GOALS_PER_SECOND)
        bar = tqdm(total=whole, desc=label, unit='s', disable=None, leave=False)
        begin, cpu = time.perf_counter(), process.cpu()
        for k, (x, y, z) in enumerate(goals.tolist()):
            # Timers of one machine keep step: sent on the dot, all goals would wait equally long.
            due = begin + k / GOALS_PER_SECOND + chance.uniform(0.0, 1.0 / rate)
            self._spin(due - time.perf_counter())
            point = message.pose.position
            point.x, point.y, point.z = x, y, z
            sent[k] = time.perf_counter()
            self._goals.publish(message)
            if sent[k] - begin > len(run.memory):
                bar.update()
                run.memory.append(process.memory())
        self._spin(1.0 / GOALS_PER_SECOND)
        run.cpu = (process.cpu() - cpu) / (time.perf_counter() - begin)
        bar.close()
        return run

    def _spin(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while True:
            left = end - time.perf_counter()
            if left <= 0.0:
                return
            self._executor.spin_once(timeout_sec=left)

    def _wait_for(self, process: NodeProcess) -> None:
        end = time.perf_counter() + _PATIENCE
        while not (self._seen and self._goals.get_subscription_count()):
            self._executor.spin_once(timeout_sec=0.1)
            if not process.runs or time.perf_counter() > end:
                raise SystemExit(f'the node did not start:\n{process.output()}')
        self._spin(1.0)
