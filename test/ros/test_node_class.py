"""What somebody meets who has the node class in a program of their own."""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.errors import OptionError
from ik_node.ros.control.motion import Motion
from ik_node.ros.node import IkNode
from ik_node.ros.parameters.parameter_table import (
    goal_parameters,
    NODE_PARAMETERS,
    solver_parameters,
)
from ik_node.ros.process import LATCHED
import pytest
from rcl_interfaces.msg import Log
import rclpy
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.waiting import wait_until


class Bench:
    """Nodes of one's own in one executor."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes = []

    def add(self, *names, on_robot=lambda: None, namespace='', cli_args=None, **values):
        overrides = [Parameter(n.replace('__', '.'), value=v) for n, v in values.items()]
        how = {'namespace': namespace, 'cli_args': cli_args, 'on_robot': on_robot}
        return self.take(
            IkNode(*names, context=self.context, parameter_overrides=overrides, **how)
        )

    def take(self, node):
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def listen(self, kind, topic):
        messages = []
        client = self.take(rclpy.create_node(f'client{len(self.nodes)}', context=self.context))
        client.create_subscription(kind, topic, messages.append, 10)
        return messages

    def sender(self, kind, topic, qos=10):
        node = self.take(rclpy.create_node(f'sender{len(self.nodes)}', context=self.context))
        return node.create_publisher(kind, topic, qos)

    def wait(self, condition):
        wait_until(condition, 'it', meanwhile=lambda: self.executor.spin_once(timeout_sec=0.02))

    def close(self):
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown(context=self.context)


def last_values(rows):
    return {pair.value for message in rows for row in message.status for pair in row.values}


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.close()


def test_on_robot_is_called_for_a_new_robot_only(bench, urdf):
    """A slow callback does not delay a robot in motion when its goals change."""
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
    publisher = bench.sender(String, 'robot_description', LATCHED)
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


def test_goals_of_a_best_effort_sender_are_received(bench, urdf):
    """Reliable senders are still received, and parameters may override the QoS."""
    node = bench.add(
        goal_names=['tool', 'other'],
        goals__tool__link='tool_link',
        goals__tool__dof='X Y',
        robot_description=urdf('fivebar'),
        **{'qos_overrides./ik_node/goals/other.subscription.reliability': 'best_effort'},
    )

    def reliability(name):
        topic = f'/ik_node/goals/{name}'
        found = client.get_subscriptions_info_by_topic(topic)
        return [each.qos_profile.reliability for each in found if each.node_name == 'ik_node']

    client = bench.take(rclpy.create_node('sender', context=bench.context))
    bench.wait(lambda: reliability('tool') == [ReliabilityPolicy.RELIABLE])
    bench.wait(lambda: reliability('other') == [ReliabilityPolicy.BEST_EFFORT])
    assert node.has_parameter('qos_overrides./ik_node/goals/tool.subscription.depth')
    states = bench.listen(JointState, '/ik_node/joint_states')
    reached = bench.listen(PoseStamped, '/ik_node/reached/tool')
    bench.wait(lambda: states and reached)
    x = reached[-1].pose.position.x
    for policy in (ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE):
        qos = QoSProfile(depth=1, reliability=policy)
        # rclpy's own callback would warn of the QoS that does not fit yet.
        quiet = PublisherEventCallbacks(use_default_callbacks=False)
        publisher = client.create_publisher(
            PoseStamped, '/ik_node/goals/tool', qos, event_callbacks=quiet
        )
        bench.wait(publisher.get_subscription_count)
        x += 0.005
        message = PoseStamped(pose=reached[-1].pose)
        message.pose.position.x = x

        def arrived(publisher=publisher, message=message, x=x):
            publisher.publish(message)
            return abs(reached[-1].pose.position.x - x) < 1e-6

        bench.wait(arrived)


def test_a_bad_description_is_refused_as_a_parameter(bench, urdf):
    node = bench.add(robot_description=urdf('fivebar'))
    heard = bench.listen(JointState, '/ik_node/joint_states')
    bench.wait(lambda: heard)
    still = '<robot name="still"><link name="a"/></robot>'
    for text, words in (('<robot', '<text>'), ('not XML', 'begins with <'), (still, 'no movable')):
        result = node.set_parameters([Parameter('robot_description', value=text)])[0]
        assert not result.successful
        assert words in result.reason
        assert '\n' not in result.reason
    assert node.get_parameter('robot_description').value == urdf('fivebar')
    # A robot and a goal for it, set together, are checked together.
    changes = {'robot_description': urdf('hexapod'), 'goal_names': ['platform']}
    parameters = [Parameter(name, value=value) for name, value in changes.items()]
    assert node.set_parameters_atomically(parameters).successful
    bench.wait(lambda: 'leg0' in heard[-1].name)


def test_commanded_joints_without_a_motor_are_named(bench, urdf):
    log = bench.listen(Log, '/rosout')
    motors = ['left_shoulder', 'right_shoulder']
    joints = ['left_shoulder', 'left_elbow']
    bench.add(robot_description=urdf('fivebar'), actuated_joints=motors, output__joints=joints)
    bench.wait(lambda: [line for line in log if 'output.joints: left_elbow' in line.msg])


def test_node_is_ready_before_simulated_time_starts(bench, urdf):
    rows = bench.listen(DiagnosticArray, '/diagnostics')
    heard = bench.listen(JointState, '/ik_node/joint_states')
    node = bench.add(use_sim_time=True, robot_description=urdf('fivebar'))
    said = {}

    def look(name):
        said.update({row.name: row.message for message in rows for row in message.status})
        return said.get(f'ik_node: {name}', '')

    bench.wait(lambda: look('model') == 'robot fivebar')
    bench.wait(lambda: 'is paused at 0.000 s' in look('clock'))
    assert node.set_parameters([Parameter('goal_names', value=['tool'])])[0].successful
    bench.wait(lambda: '/ik_node/goals/tool' in dict(node.get_topic_names_and_types()))
    assert not heard
    publisher = bench.sender(Clock, '/clock')
    message = Clock()

    def advance():
        message.clock.nanosec += 1_000_000
        publisher.publish(message)
        return heard

    bench.wait(advance)


def test_failing_tick_does_not_end_the_node(bench, urdf, monkeypatch, capfd):
    """It is logged once and is the last error in /diagnostics; later ticks continue."""
    tick, failures = Motion.tick, []

    def fail(self, *arguments):
        if len(failures) < 5:
            failures.append(arguments)
            raise ValueError('no room')
        return tick(self, *arguments)

    monkeypatch.setattr(Motion, 'tick', fail)
    heard = bench.listen(JointState, 'ik_node/joint_states')
    rows = bench.listen(DiagnosticArray, '/diagnostics')
    bench.add(robot_description=urdf('fivebar'))

    bench.wait(lambda: heard and 'ValueError: no room' in last_values(rows))
    assert len(failures) == 5
    assert ''.join(capfd.readouterr()).count('a tick failed') == 1


def test_node_waits_for_events_of_subscriptions_only(bench):
    """The default callbacks of one publisher would cost a tick 2 %."""
    node = bench.add(output__type='both', goal_names=['hand'])
    topics = {each.topic_name: each.event_handlers for each in node.publishers}
    assert '/ik_node/reached/hand' in topics
    # That one is rclpy's own.
    assert [topic for topic, handlers in topics.items() if handlers] == ['/parameter_events']
    assert not [each.topic_name for each in node.subscriptions if not each.event_handlers]


def test_parameters_are_declared_with_descriptions(bench):
    node = bench.add(goal_names=['hand'])
    for spec in (*NODE_PARAMETERS, *goal_parameters('hand'), *solver_parameters()):
        descriptor = node.describe_parameter(spec.name)
        assert descriptor.description.startswith(spec.doc)
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        listed = isinstance(spec.default, tuple)  # ROS has no range for the numbers of a list
        assert len(ranges) == (0 if spec.low is None or listed else 1)
        limited = bool(spec.choices) or listed
        assert descriptor.additional_constraints == (spec.allowed if limited else '')


def test_doubles_may_be_typed_as_ints_or_without_a_point(bench):
    node = bench.add()
    for value, expected in ((3, 3.0), ('1e-6', 1e-6), ('2E3', 2000.0), ('5e-1', 0.5)):
        name = 'solver.translation_converge_threshold'
        assert node.set_parameters([Parameter(name, value=value)])[0].successful
        assert node.get_parameter(name).value == expected
    clamp = 'solver.translation_error_clamp'
    assert node.set_parameters([Parameter(clamp, value='inf')])[0].successful
    for value in ('1e9', 'inf', '0.5', 'e5', 'fast'):
        result = node.set_parameters([Parameter('rate', value=value)])[0]
        assert not result.successful
        assert result.reason
    with pytest.raises(OptionError, match='rate'):
        bench.add('other', rate=0.0)
