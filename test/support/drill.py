"""The fault drill: what a client of the node does and waits for; every joint state is checked."""

from collections.abc import Callable
import math
import subprocess
import time
from typing import Any

from ik_node.ros.messages import seconds_from_stamp
import numpy as np

RATE = 50.0  # ticks a second
PLATFORM = 'platform_link'
HOME = np.array([0.0, 0.0, 0.088326])  # where the hexapod's platform starts [m]

Offset = tuple[float, float, float]


class Drill:
    """
    What a client does to the node of a graph of processes, which checks all that the node says.

    Offsets are of the platform from where it starts [m].
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.knows, self.wait, self.says = graph.knows, graph.wait, graph.says
        graph.listen()

    # -- what it hears

    @property
    def count(self) -> int:
        return len(self.graph.joint_states)

    @property
    def last(self) -> Any:
        return self.graph.joint_states[-1]

    @property
    def status(self) -> str:
        return self.graph.last_status()

    @property
    def robot(self) -> Any:
        """Return the robot of the last joint state."""
        return self.graph.robot_of(self.last)

    def at(self, offset: Offset) -> bool:
        return self.count > 0 and self.graph.is_at(PLATFORM, HOME + offset)

    def offset(self) -> np.ndarray:
        return self.graph.pose(PLATFORM)[:3, 3] - HOME

    def row(self, name: str) -> str:
        """Return the sentence of a row of /diagnostics that was made after this call."""
        return self.graph.row(name)[0]

    def value(self, name: str, key: str) -> str:
        """Return a value in a row of /diagnostics that was made after this call, or ''."""
        return self.graph.row(name)[1].get(key, '')

    # -- what it waits for

    def flows(self, messages: int = 10) -> None:
        """Wait until so many more joint states have come, after all that were on their way."""
        now = time.time()
        self.wait(
            lambda: self.count and seconds_from_stamp(self.last.header.stamp) > now,
            'a joint state after this moment',
        )
        wanted = self.count + messages
        self.wait(lambda: self.count >= wanted, f'{messages} joint states')

    def arrives(self, offset: Offset) -> None:
        self.wait(lambda: self.at(offset), f'the platform at {offset}')

    # -- what it does

    def start(self, *words: str, name: str = 'node') -> subprocess.Popen:
        goal = ('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}')
        rate = ('-p', f'rate:={RATE}')
        return self.graph.start(name, 'ik_node', 'node', '--ros-args', *rate, *goal, *words)

    def start_client(self, name: str, offset: Offset, *words: str) -> subprocess.Popen:
        """Start a client that sends goals from a process of its own."""
        return self.graph.start(name, 'support.drill_client', *map(str, HOME + offset), *words)

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
