"""Real nodes in processes of their own, and a client that looks at every message."""

from collections.abc import Callable, Iterator, Mapping
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

from ik_node.ros.messages import seconds_from_stamp
import numpy as np
import pytest
from support.waiting import PATIENCE, wait_until
from support.watched_robot import Moving, Watched

# rclpy imports this at the first message; a library below it imports what Python has deprecated.
with contextlib.suppress(ImportError), warnings.catch_warnings():
    warnings.simplefilter('ignore')
    import rosidl_generator_py  # noqa: F401

TESTS = Path(__file__).parents[1]
DEPTH = 200  # of subscriptions: few messages are lost while a test is busy, and none is old
ASK_AGAIN = 1.0  # [s] after which a question to the node is taken for lost
# Ticks after which what was on its way before has arrived.
SOME_TICKS = 3


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
        self.clients: dict[str, Any] = {}
        self.joint_states: list[Any] = []
        self.statuses: list[Any] = []
        self.diagnostics: dict[str, Any] = {}
        self._told: dict[str, float] = {}
        self.faults: list[str] = []
        self._checked: tuple[Any, ...] = ()

    # -- processes

    def start(self, name: str, *words: str) -> subprocess.Popen:
        environment = {
            **os.environ,
            'ROS_LOG_DIR': str(self.folder / 'log'),
            'PYTHONUNBUFFERED': '1',
            'PYTHONPATH': f'{TESTS}{os.pathsep}{os.environ.get("PYTHONPATH", "")}',
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

    def start_node(self, *words: str, depth: int = DEPTH) -> subprocess.Popen:
        """Start the node with these words after --ros-args; keep this many unread messages."""
        process = self.start('node', 'ik_node', 'node', '--ros-args', *words)
        self.listen(depth)
        return process

    def listen(self, depth: int = DEPTH) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState

        client = self.client
        client.create_subscription(JointState, 'ik_node/joint_states', self._on_joints, depth)
        client.create_subscription(
            DiagnosticArray, 'ik_node/solve_status', self.statuses.append, depth
        )
        client.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, DEPTH)

    def start_robot(
        self,
        text: str,
        *words: str,
        goals: Mapping[str, str | tuple[str, str]] | None = None,
        root: str = 'fixed',
        depth: int = DEPTH,
        **parameters: Any,
    ) -> Watched:
        """
        Start the node with parameters (dots as __) for a robot, and wait for its joint states.

        `goals` maps names to links, or to links and axes.
        """
        parameters = {'root': root, **parameters}
        for name, goal in (goals or {}).items():
            link, dof = (goal, 'X Y Z EX EY EZ') if isinstance(goal, str) else goal
            parameters |= {f'goals.{name}.link': link, f'goals.{name}.dof': dof}
            parameters['goal_names'] = list(goals or {})
        for name, value in parameters.items():
            listed = f'[{", ".join(value)}]' if isinstance(value, list | tuple) else value
            told = str(value).lower() if isinstance(value, bool) else listed
            words += ('-p', f'{name.replace("__", ".")}:={told}')
        watched = self.knows(text, root)
        self.start_node(*words, depth=depth)
        self.describe(text)
        self.wait(lambda: self.joint_states, 'the first joint state')
        return watched

    def log(self, name: str = 'node') -> str:
        return (self.folder / f'{name}.txt').read_text(errors='replace')

    def end(self, name: str, number: int = signal.SIGINT) -> int:
        process = self.processes.pop(name)
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise

    def close(self) -> None:
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

    def turn(self) -> None:
        self.executor.spin_once(timeout_sec=0.05)
        assert not self.faults, self.faults[0]

    def wait(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        self.turn()
        return wait_until(
            condition, what, meanwhile=self.turn, patience=patience, about=self._about
        )

    def _about(self) -> str:
        said = f'last status: {self.last_status()!r}; {len(self.joint_states)} joint states'
        logs = (f'{name}:\n{self.log(name)[-3000:]}' for name in self.processes)
        return '\n'.join((said, *logs))

    def catch_up(self) -> None:
        """
        Spin until everything is read that the node said before this call.

        That is when some of its ticks, by their stamps, were after the call.
        """
        begin, first = time.time(), len(self.statuses)

        def ticks() -> int:
            return sum(
                seconds_from_stamp(message.header.stamp) > begin
                for message in self.statuses[first:]
            )

        self.wait(lambda: ticks() >= SOME_TICKS, 'ticks after this moment')

    def read_out(self, messages: list[Any], turns: int = 200) -> None:
        """Spin until no message is added in so many turns, beside a node that stands still."""
        said, quiet = len(messages), 0
        while quiet < turns:
            self.turn()
            said, quiet = len(messages), quiet + 1 if len(messages) == said else 0

    def spin(self, messages: int) -> None:
        """Spin until so many more joint states have come, after all that were on their way."""
        self.catch_up()
        wanted = len(self.joint_states) + messages
        self.wait(lambda: len(self.joint_states) >= wanted, f'{messages} joint states')

    def is_silent(self, messages: list[Any], ticks: int = 20) -> bool:
        """Tell whether nothing is added to a list of messages while the node ticks so often."""
        self.catch_up()
        said, wanted = len(messages), len(self.statuses) + ticks
        self.wait(lambda: len(self.statuses) >= wanted, f'{ticks} ticks')
        return len(messages) == said

    def says(self, words: str) -> Any:
        """Wait until a tick after this call says this of the first chain; return its status."""
        begin = time.time()

        def said() -> bool:
            return bool(self.statuses) and (
                seconds_from_stamp(self.statuses[-1].header.stamp) > begin
                and words in self.last_status()
            )

        self.wait(said, f'the status {words!r}')
        return self.statuses[-1].status[0]

    def publish(
        self, kind: Any, topic: str, message: Any, qos: Any = 10, *, arrives: bool = True
    ) -> None:
        """
        Publish once the node listens, and return when the message has arrived there.

        So the node takes messages of different topics in the order in which a test sends them.
        """
        from ik_node.ros.process import LATCHED
        from rclpy.duration import Duration

        if topic not in self.publishers:
            publisher = self.publishers[topic] = self.client.create_publisher(kind, topic, qos)
            self.wait(publisher.get_subscription_count, f'a subscriber of {topic}')
            if qos is not LATCHED:
                self.be_discovered()
        publisher = self.publishers[topic]
        self.wait(publisher.get_subscription_count, f'a subscriber of {topic}')
        publisher.publish(message)
        if arrives and not publisher.wait_for_all_acked(Duration(seconds=PATIENCE)):
            pytest.fail(f'{topic} has not arrived\n{self._about()}')

    def be_discovered(self) -> None:
        """
        Wait until the node knows every publisher and every service client that is here.

        What is sent to a process that has not discovered its sender is lost, and the sender cannot
        see it. Discovery is in order: when the node has answered a client that was made last, it
        knows all that were made before.
        """
        from rcl_interfaces.srv import GetParameters

        client = self.client.create_client(GetParameters, 'ik_node/get_parameters')
        self.wait(client.service_is_ready, 'the parameters of the node')
        asked: list[tuple[float, Any]] = []

        def answered() -> bool:
            now = time.monotonic()
            if not asked or now - asked[-1][0] > ASK_AGAIN:
                asked.append((now, client.call_async(GetParameters.Request(names=['rate']))))
            return any(future.done() for _, future in asked)

        self.wait(answered, 'an answer of the node')
        self.client.destroy_client(client)

    def describe(self, text: str) -> None:
        from ik_node.ros.process import LATCHED
        from std_msgs.msg import String

        self.publish(String, 'robot_description', String(data=text), LATCHED)

    def send_goal(
        self,
        name: str,
        position: Any,
        quat_xyzw: Any = (0.0, 0.0, 0.0, 1.0),
        frame: str = '',
        **how: Any,
    ) -> None:
        from geometry_msgs.msg import PoseStamped

        message = PoseStamped()
        message.header.frame_id = frame
        point, quat = message.pose.position, message.pose.orientation
        point.x, point.y, point.z = map(float, position)
        quat.x, quat.y, quat.z, quat.w = map(float, quat_xyzw)
        self.publish(PoseStamped, f'ik_node/goals/{name}', message, 1, **how)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        if service not in self.clients:
            self.clients[service] = self.client.create_client(kind, service)
            self.wait(self.clients[service].service_is_ready, service)
            self.be_discovered()
        client = self.clients[service]
        self.wait(client.service_is_ready, service)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}')
        return future.result()

    def forget_clients(self) -> None:
        """Destroy the clients of services that were called, by which the services stay known."""
        for client in self.clients.values():
            self.client.destroy_client(client)
        self.clients.clear()

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
        message = self.joint_states[-1]
        return message.position[list(message.name).index(joint)]

    def pose(self, link: str, message: Any = None) -> np.ndarray:
        """Return the pose (4, 4) of a link by a joint state, the last one unless told."""
        message = self.joint_states[-1] if message is None else message
        return self.robot_of(message).robot.forward(np.array(message.position), link)

    def is_at(self, link: str, position: Any, tolerance: float = 2e-6) -> bool:
        """Tell whether the last joint state has a link at a position [m]."""
        return bool(np.linalg.norm(self.pose(link)[:3, 3] - position) < tolerance)

    def measure(self, topic: str = 'joint_states', **values: float) -> None:
        from sensor_msgs.msg import JointState

        positions = [float(value) for value in values.values()]
        self.publish(JointState, topic, JointState(name=list(values), position=positions))

    def robot_of(self, message: Any) -> Watched:
        for robot in self.robots:
            if robot.names == list(message.name):
                return robot
        raise AssertionError(f'joints of no robot that was described: {list(message.name)}')

    def row(self, name: str) -> tuple[str, dict[str, str]]:
        """Return message and values of a row of /diagnostics that was made after this call."""
        begin = time.time()
        key = f'ik_node: {name}'
        self.wait(lambda: self._told.get(key, 0.0) > begin, f'the row {name} of /diagnostics')
        row = self.diagnostics[key]
        return row.message, {pair.key: pair.value for pair in row.values}

    def last_status(self) -> str:
        return self.statuses[-1].status[0].message if self.statuses else ''

    def _on_joints(self, message: Any) -> None:
        self.joint_states.append(message)
        # A robot at rest is looked at once: a client that is slower than the node falls behind.
        released = tuple(frozenset(robot.released) for robot in self.robots)
        numbers = message.position.tobytes(), message.velocity.tobytes()
        said = (*numbers, tuple(message.name), released)
        if said == self._checked:
            return
        self._checked = said
        try:
            self.robot_of(message).check(message)
        except AssertionError as error:
            self.faults.append(f'joint state {len(self.joint_states)}: {error}')

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            self.diagnostics[status.name] = status
            self._told[status.name] = seconds_from_stamp(message.header.stamp)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    pytest.importorskip('rclpy')
    graph = Graph(tmp_path)
    yield graph
    graph.close()


@pytest.fixture(scope='module')
def lasting_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    pytest.importorskip('rclpy')
    graph = Graph(tmp_path_factory.mktemp('graph'))
    yield graph
    graph.close()


@pytest.fixture
def context() -> Iterator[Any]:
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    rclpy.try_shutdown(context=context)


@pytest.fixture(scope='session')
def moving(urdf: Callable[[str], str]) -> Callable[..., Any]:
    def make(name: str, **values: Any) -> Moving:
        return Moving(urdf(name) if name.isidentifier() else name, values)

    return make


@pytest.fixture(scope='session')
def urdf(repository: Path) -> Callable[[str], str]:
    return lambda name: (repository / 'urdf' / f'{name}.urdf').read_text()
