"""Real nodes in processes of their own, and a client that looks at every message."""

from collections.abc import Callable, Iterator
import contextlib
import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any
import warnings

import pytest
from watched_robot import Moving, Watched

# rclpy imports this at the first message; a library below it imports what Python has deprecated.
with contextlib.suppress(ImportError), warnings.catch_warnings():
    warnings.simplefilter('ignore')
    import rosidl_generator_py  # noqa: F401

PATIENCE = 30.0  # [s]; discovery alone may take three


def _end_with_parent() -> None:
    """Have the kernel end a process with this one, lest it speaks into the next test run."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Graph:
    """Start processes, talk to the node, keep what it says; every joint state is checked."""

    def __init__(self, folder: Path) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.client = rclpy.create_node('client', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.client)
        self.processes: dict[str, subprocess.Popen] = {}
        self.publishers: dict[str, Any] = {}
        self.robots: list[Watched] = []
        self.joint_states: list[Any] = []
        self.statuses: list[Any] = []
        self.diagnostics: dict[str, Any] = {}
        self.faults: list[str] = []

    # -- processes

    def start(self, name: str, *words: str) -> subprocess.Popen:
        """Start `python -m words...`; its output goes to a file."""
        environment = {
            **os.environ,
            'ROS_LOG_DIR': str(self.folder / 'log'),
            'PYTHONUNBUFFERED': '1',
        }
        with (self.folder / f'{name}.txt').open('wb') as output:
            process = subprocess.Popen(
                [sys.executable, '-m', *words],
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        self.processes[name] = process
        return process

    def start_node(self, *words: str) -> subprocess.Popen:
        """Start the node with these words after --ros-args, and listen to it."""
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState

        process = self.start('node', 'ik_node', 'node', '--ros-args', *words)
        client = self.client
        client.create_subscription(JointState, 'ik_node/joint_states', self._on_joints, 50)
        client.create_subscription(
            DiagnosticArray, 'ik_node/solve_status', self.statuses.append, 50
        )
        client.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        return process

    def log(self, name: str = 'node') -> str:
        """Return what a process has printed."""
        return (self.folder / f'{name}.txt').read_text(errors='replace')

    def end(self, name: str, number: int = signal.SIGINT) -> int:
        """Signal a process and its children; return its exit code."""
        process = self.processes.pop(name)
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            return process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise

    def close(self) -> None:
        """End everything."""
        import rclpy

        for name in list(self.processes):
            self.end(name)
        self.executor.shutdown()
        self.client.destroy_node()
        rclpy.try_shutdown(context=self.context)

    # -- the client

    def knows(self, text: str, root: str = 'fixed') -> Watched:
        """Tell the client which robot may be published, so that joint states can be checked."""
        self.robots.append(Watched(text, root))
        return self.robots[-1]

    def wait(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        """Spin until the condition holds and return its value."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)
            assert not self.faults, self.faults[0]
            value = condition()
            if value:
                return value
        pytest.fail(
            f'waited {patience:g} s in vain for {what}; last status: {self.last_status()!r}; '
            f'{len(self.joint_states)} joint states\n{self.log()[-3000:]}'
        )

    def spin_for(self, seconds: float) -> None:
        """Spin for a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)

    def spin(self, messages: int) -> None:
        """Spin until so many more joint states have come."""
        wanted = len(self.joint_states) + messages
        self.wait(lambda: len(self.joint_states) >= wanted, f'{messages} joint states')

    def publish(self, kind: Any, topic: str, message: Any, qos: Any = 10) -> None:
        """Publish once somebody listens."""
        if topic not in self.publishers:
            self.publishers[topic] = self.client.create_publisher(kind, topic, qos)
            publisher = self.publishers[topic]
            self.wait(publisher.get_subscription_count, f'a subscriber of {topic}')
            # The subscriber must have found the publisher as well, and that nobody here can see.
            self.spin_for(0.5)
        self.publishers[topic].publish(message)

    def describe(self, text: str) -> None:
        """Publish a robot description, latched."""
        from ik_node.ros.outputs.latched import LATCHED
        from std_msgs.msg import String

        self.publish(String, 'robot_description', String(data=text), LATCHED)

    def send_goal(
        self, name: str, position: Any, quat_xyzw: Any = (0.0, 0.0, 0.0, 1.0), frame: str = ''
    ) -> None:
        """Send a pose to a goal."""
        from geometry_msgs.msg import PoseStamped

        message = PoseStamped()
        message.header.frame_id = frame
        point, quat = message.pose.position, message.pose.orientation
        point.x, point.y, point.z = map(float, position)
        quat.x, quat.y, quat.z, quat.w = map(float, quat_xyzw)
        self.publish(PoseStamped, f'ik_node/goals/{name}', message, 1)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        """Call a service of the node and return its response."""
        client = self.client.create_client(kind, service)
        self.wait(client.service_is_ready, service)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}')
        self.client.destroy_client(client)
        return future.result()

    def set_parameters(self, **values: Any) -> str:
        """Set parameters together (dots as __); return '' or the reason of the refusal."""
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter

        request = SetParametersAtomically.Request(
            parameters=[
                Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        result = self.call(
            SetParametersAtomically, 'ik_node/set_parameters_atomically', request
        ).result
        assert result.successful or result.reason
        return '' if result.successful else result.reason

    def value(self, joint: str) -> float:
        """Return the last published position of a joint."""
        message = self.joint_states[-1]
        return message.position[list(message.name).index(joint)]

    def measure(self, topic: str = 'joint_states', **values: float) -> None:
        """Publish a measured joint state."""
        from sensor_msgs.msg import JointState

        positions = [float(value) for value in values.values()]
        self.publish(JointState, topic, JointState(name=list(values), position=positions))

    def robot_of(self, message: Any) -> Watched:
        """Return the robot whose joints a joint state names."""
        for robot in self.robots:
            if robot.names == list(message.name):
                return robot
        raise AssertionError(f'joints of no robot that was described: {list(message.name)}')

    def last_status(self) -> str:
        """Return the last word on the first chain."""
        return self.statuses[-1].status[0].message if self.statuses else ''

    def _on_joints(self, message: Any) -> None:
        self.joint_states.append(message)
        try:
            self.robot_of(message).check(message)
        except AssertionError as error:
            self.faults.append(f'joint state {len(self.joint_states)}: {error}')

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            self.diagnostics[status.name] = status


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    """Provide an empty graph of processes, ended after the test."""
    pytest.importorskip('rclpy')
    graph = Graph(tmp_path)
    yield graph
    graph.close()


@pytest.fixture(scope='module')
def lasting_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """Provide a graph of processes for all tests of a file."""
    pytest.importorskip('rclpy')
    graph = Graph(tmp_path_factory.mktemp('graph'))
    yield graph
    graph.close()


@pytest.fixture
def context() -> Iterator[Any]:
    """Provide an rclpy context of the test's own."""
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    rclpy.try_shutdown(context=context)


@pytest.fixture(scope='session')
def moving(urdf: Callable[[str], str]) -> Callable[..., Any]:
    """Return what makes a robot of ours, or a description, tick without ROS."""

    def make(name: str, **values: Any) -> Moving:
        return Moving(urdf(name) if name.isidentifier() else name, values)

    return make


@pytest.fixture(scope='session')
def urdf(repository: Path) -> Callable[[str], str]:
    """Return a reader of our own robots' descriptions."""
    return lambda name: (repository / 'urdf' / f'{name}.urdf').read_text()
