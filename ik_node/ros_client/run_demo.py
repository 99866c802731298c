"""Demo of a gallery robot: the node in its own process, goals from this one, measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import ctypes
import os
import signal
import statistics
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.description.files import description_path
from ik_node.errors import IkError
from ik_node.gallery.gallery_item import GalleryItem
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.request import request_of
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import Array
from ik_node.robot import load_robot, Robot
from ik_node.ros.messages import fill_pose
from ik_node.ros.parameters.parameter_table import yaml_value
import numpy as np
from numpy.typing import NDArray
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState

# Number of sent goals that are kept, because a joint state may belong to any of them.
_GOALS_KEPT = 20
_WORST = ('CONVERGED', 'STALLED', 'DIVERGED', 'TIMEOUT')


class DemoWatch:
    """
    The measurement of joint states by forward kinematics, independent of the node's reports.

    `robot`: the robot of the node, read a second time. `goals`: goal name to its link. `dof`: goal
    name to its constrained axes; a goal that is not named has all six.
    """

    def __init__(
        self, robot: Robot, goals: dict[str, str], dof: Mapping[str, str] | None = None
    ) -> None:
        self._robot = robot
        self.q = robot.q  # Values of the last joint state (nq,) [rad or m].
        self._goals = goals
        # For each goal, which of X Y Z EX EY EZ it constrains.
        self._flags = {
            name: np.isin(tuple(DOF), parse_dofs((dof or {}).get(name, DOF_NAMES)))
            for name in goals
        }
        self._order = {name: index for index, name in enumerate(robot.joint_names)}
        self._sent: dict[str, deque[Array]] = {name: deque(maxlen=_GOALS_KEPT) for name in goals}
        self.converged = 0
        self.ticks = 0
        self._begin_second()

    def _begin_second(self) -> None:
        self._seen = 0
        self._status = ''
        self._times: list[float] = []
        self._loop = 0.0
        self._goal = (0.0, 0.0)

    def sent(self, name: str, pose: Array) -> None:
        """Record a goal pose (4, 4) that was sent."""
        self._sent[name].append(pose)

    def saw_joints(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Measure the residuals of one joint state."""
        q = self.q
        q[[self._order[name] for name in names]] = positions
        self._seen += 1
        self.ticks += 1
        self._robot.q = q
        for closure in self._robot.closures.values():
            gap = closure.get_residual()[: request_of(closure).metre_row_count]
            self._loop = max(self._loop, float(np.linalg.norm(gap)))
        for name, sent in self._sent.items():
            if sent:
                here = self._robot.links[self._goals[name]].matrix_world
                nearest = min(_goal_error(here, goal, self._flags[name]) for goal in sent)
                self._goal = max(self._goal, nearest)

    def saw_status(self, status: str, solve_time: float) -> None:
        """Record one status of a chain; `solve_time` in [s]."""
        self.converged += status == 'CONVERGED'
        self._times.append(solve_time)
        if status in _WORST and (
            not self._status or _WORST.index(status) > _WORST.index(self._status)
        ):
            self._status = status

    def line(self, elapsed: float, interval: float) -> str:
        """Return the line about the last `interval` [s], and start the next interval."""
        solve = f'{1e3 * statistics.median(self._times):.3f}' if self._times else '-'
        text = (
            f'{elapsed:5.1f} s  {self._status or "no status":9}  {self._seen / interval:5.1f} Hz  '
            f'solve {solve} ms  loops <= {self._loop:.1e} m  '
            f'goal <= {self._goal[0]:.1e} m, {self._goal[1]:.1e} rad'
        )
        self._begin_second()
        return text


def _goal_error(pose: Array, goal: Array, flags: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the norms of the residual of a goal: position [m] and orientation [rad]."""
    rows = residual_rows('frame', 'world', flags, 0.0, pose, goal)
    position, orientation = np.split(rows, [np.count_nonzero(flags[:3])])
    return float(np.linalg.norm(position)), float(np.linalg.norm(orientation))


_PATIENCE = 10.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None


def _end_with_parent() -> None:
    """Make the kernel end this process with its parent, even if the parent is killed."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def _node_process(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `ik_node node words...`, which Ctrl-C does not reach; end it at the end."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'ik_node', 'node', *words],
        env={**os.environ, **_own_machine()},
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


_GOAL_PERIOD = 0.01
# Longest wait for the first joint state [s]; the first run on a machine compiles the kernels.
_LONGEST_START = 180.0


def run_demo(item: GalleryItem, rate: float, seconds: float | None) -> int:
    """
    Run until `seconds` after the first joint state, or until interrupted.

    `item`: a robot of the gallery. `rate`: tick rate of the node [Hz]. `seconds`: duration [s];
    None = until interrupted. Return 0 if the node converged at least once, else 1.
    """
    path = description_path(item.description)
    print(f'reading {path.name}', flush=True)
    # Read before the node starts, because two processes would both compile all kernels.
    robot = load_robot(path)
    client = None
    started = False
    # A closed terminal ends the demo and its processes as Ctrl-C does.
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        with _node_process(str(path), '--ros-args', *node_words(item, rate)) as process:
            os.environ.update(_own_machine())
            rclpy.init()
            started = True
            client = _DemoClient(item, robot)
            return client.follow(process, seconds)
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    except Exception:
        # A shutdown in the middle of a call may raise anything; that is not an error.
        if not started or rclpy.ok():
            raise
        return 0
    finally:
        if client is not None:
            client.destroy_node()
        rclpy.try_shutdown()


def node_words(item: GalleryItem, rate: float) -> list[str]:
    """Return the node's arguments after --ros-args: its rate [Hz] and the item's parameters."""
    values = {'rate': rate, **item.parameters}
    words = []
    for name, value in values.items():
        text = yaml_value(tuple(value) if isinstance(value, list) else value)
        words += ['-p', f'{name}:={text}']
    return words


def _own_machine() -> dict[str, str]:
    """Return variables that limit discovery to this machine, unless the user has set them."""
    name = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
    if name in os.environ or 'ROS_LOCALHOST_ONLY' in os.environ:
        return {}
    return {name: 'LOCALHOST'}


class _DemoClient(Node):
    """A node that sends the goals of the motion and measures the joint states."""

    def __init__(self, item: GalleryItem, robot: Robot) -> None:
        super().__init__('ik_node_demo')
        self._item = item
        self._robot = robot
        self._homes = {name: robot.forward(robot.q, link) for name, link in item.goals.items()}
        self.watch = DemoWatch(robot, dict(item.goals), item.dof)
        self._start: float | None = None
        self._goal_publishers = {
            name: self.create_publisher(PoseStamped, f'ik_node/goals/{name}', 1)
            for name in item.goals
        }
        self._target_publisher = self.create_publisher(JointState, 'ik_node/joint_targets', 1)
        self.create_subscription(JointState, 'ik_node/joint_states', self._on_joints, 10)
        self.create_subscription(DiagnosticArray, 'ik_node/solve_status', self._on_status, 10)
        self.create_timer(_GOAL_PERIOD, self._send)

    def follow(self, process: subprocess.Popen[bytes], seconds: float | None) -> int:
        """Print one line per second until the time is over; return the exit code."""
        started = time.monotonic()
        last_line = started
        while True:
            rclpy.spin_once(self, timeout_sec=0.1)
            now = time.monotonic()
            code = process.poll()
            if code is not None:
                raise IkError(f'the node process ended with exit code {code}')
            if self._start is None:
                if now - started > _LONGEST_START:
                    raise IkError(f'no joint state within {_LONGEST_START:.0f} s')
                if now - last_line >= 5.0:
                    last_line = now
                    print('waiting for the node', flush=True)
                second_start = now
                continue
            elapsed = now - self._start
            if now - second_start >= 1.0:
                print(self.watch.line(elapsed, now - second_start), flush=True)
                second_start = now
            if seconds is not None and elapsed >= seconds:
                return 0 if self.watch.converged else 1

    def _send(self) -> None:
        if self._start is None:
            return
        now = time.monotonic() - self._start
        for name, goal in self._item.poses(now, self._homes, self._here).items():
            message = PoseStamped()
            fill_pose(message.pose, goal)
            self.watch.sent(name, goal)
            self._goal_publishers[name].publish(message)
        if self._item.joint_targets:
            targets = self._item.joint_targets(now)
            state = JointState(name=list(targets), position=list(targets.values()))
            self._target_publisher.publish(state)

    def _here(self, link: str) -> Array:
        """Return the pose (4, 4) of a link at the last joint state."""
        return self._robot.forward(self.watch.q, link)

    def _on_joints(self, message: JointState) -> None:
        if self._start is None:
            self._start = time.monotonic()
        self.watch.saw_joints(message.name, message.position)

    def _on_status(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            name = status.message.split(':')[0].split(';')[0]
            self.watch.saw_status(name, float(values.get('solve_time', 'nan')))
