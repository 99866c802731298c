# flake8: noqa: E402, I100
"""What somebody meets who has the node class in a program of their own."""

import time

import pytest

pytest.importorskip('rclpy')

from ik_node.ros.node import IkNode
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

pytestmark = pytest.mark.ros

PATIENCE = 60.0


class Bench:
    """Nodes of one's own in one executor."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes = []

    def add(self, *names, on_robot=lambda: None, namespace='', **values):
        """Return a node with these parameters (dots as __)."""
        overrides = [Parameter(n.replace('__', '.'), value=v) for n, v in values.items()]
        node = IkNode(
            *names,
            context=self.context,
            namespace=namespace,
            on_robot=on_robot,
            parameter_overrides=overrides,
        )
        return self.take(node)

    def take(self, node):
        """Have a node of any kind spun and ended."""
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def listen(self, kind, topic):
        """Return the list that messages on a topic go into."""
        messages = []
        client = self.take(rclpy.create_node(f'client{len(self.nodes)}', context=self.context))
        client.create_subscription(kind, topic, messages.append, 10)
        return messages

    def wait(self, condition):
        """Spin until something is so."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end
            self.executor.spin_once(timeout_sec=0.02)

    def close(self):
        """End all."""
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture
def bench():
    """Provide a bench."""
    bench = Bench()
    yield bench
    bench.close()


def test_names_of_ones_own(bench, urdf):
    """Two in one namespace; topics and the names of statuses are different."""
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import JointState

    rows = bench.listen(DiagnosticArray, '/diagnostics')
    bench.add('left', namespace='/arms', robot_description=urdf('fivebar'))
    bench.add('right', namespace='/arms', robot_description=urdf('fivebar'))
    bench.add(robot_description=urdf('fivebar'))
    heard = [
        bench.listen(JointState, f'{name}/joint_states')
        for name in ('/arms/left', '/arms/right', '/ik_node')
    ]
    bench.wait(lambda: all(heard))
    rows.clear()
    wanted = {'arms/left: model', 'arms/right: model', 'ik_node: model'}
    bench.wait(lambda: wanted <= {row.name for message in rows for row in message.status})


def test_another_robot_is_told_another_goal_is_not(bench, urdf):
    """Who waits a while for each robot does not keep one in motion waiting for its goals."""
    from ik_node.ros.outputs.latched import LATCHED
    from rcl_interfaces.msg import Log
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    described = urdf('fivebar').replace('<limit', '<unlimited')
    log = bench.listen(Log, '/rosout')

    def notes(robot):
        return len([line for line in log if f"{robot}: joint 'left_elbow'" in line.msg])

    told = []
    node = bench.add(
        on_robot=lambda: told.append(node.get_parameter('goals.tool.dof').value),
        goal_names=['tool'],
        goals__tool__link='tool_link',
        goals__tool__dof='X Y',
    )
    client = bench.take(rclpy.create_node('describing', context=bench.context))
    publisher = client.create_publisher(String, 'robot_description', LATCHED)
    publisher.publish(String(data=described))
    heard = bench.listen(JointState, '/ik_node/joint_states')
    bench.wait(lambda: heard)
    assert told == ['X Y']
    for dof in ('X', 'Y'):
        assert node.set_parameters([Parameter('goals.tool.dof', value=dof)])[0].successful
        count = len(heard)
        bench.wait(lambda count=count: len(heard) > count + 5 and not node.is_building)
    assert told == ['X Y']
    publisher.publish(String(data=described.replace('fivebar', 'another')))
    bench.wait(lambda: len(told) == 2)
    assert told == ['X Y', 'Y']
    bench.wait(lambda: notes('another'))
    assert notes('fivebar') == 1


def test_ready_before_simulated_time_begins(bench, urdf):
    """Without ticks a robot and its parameters are taken all the same; joint states wait."""
    from diagnostic_msgs.msg import DiagnosticArray
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    rows = bench.listen(DiagnosticArray, '/diagnostics')
    heard = bench.listen(JointState, '/ik_node/joint_states')
    node = bench.add(use_sim_time=True, robot_description=urdf('fivebar'))
    said = {}

    def look(name):
        said.update({row.name: row.message for message in rows for row in message.status})
        return said.get(f'ik_node: {name}', '')

    bench.wait(lambda: look('model') == 'robot fivebar')
    bench.wait(lambda: 'stands still at 0.000 s' in look('clock'))
    assert node.set_parameters([Parameter('goal_names', value=['tool'])])[0].successful
    topics = [f'/ik_node/goals/{name}' for name in ('tool',)]
    bench.wait(lambda: set(topics) <= {name for name, _ in node.get_topic_names_and_types()})
    assert not heard
    clock = bench.take(rclpy.create_node('clock', context=bench.context))
    publisher = clock.create_publisher(Clock, '/clock', 10)
    message = Clock()

    def advance():
        message.clock.nanosec += 1_000_000
        publisher.publish(message)
        return heard

    bench.wait(advance)
