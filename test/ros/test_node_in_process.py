"""The node class in an executor of one's own."""

import pytest

pytest.importorskip('rclpy')

from ik_node.errors import OptionError
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from support.waiting import wait_until

pytestmark = pytest.mark.ros


def test_two_nodes_run_in_one_process(context, urdf):
    """Each has its namespace and its robot, and both share one executor."""
    from ik_node.ros.node import IkNode
    from sensor_msgs.msg import JointState

    executor = SingleThreadedExecutor(context=context)
    received = {'a': [], 'b': []}
    nodes = [
        IkNode(
            context=context,
            namespace=space,
            parameter_overrides=[
                Parameter('robot_description', value=urdf(robot)),
                Parameter('rate', value=50),
            ],
        )
        for space, robot in (('a', 'hexapod'), ('b', 'fivebar'))
    ]
    client = rclpy.create_node('client', context=context)
    for space, messages in received.items():
        client.create_subscription(
            JointState, f'{space}/ik_node/joint_states', messages.append, 10
        )
    for node in (*nodes, client):
        executor.add_node(node)
    wait_until(
        lambda: all(received.values()),
        'joint states of both',
        meanwhile=lambda: executor.spin_once(timeout_sec=0.01),
    )
    assert 'leg0' in received['a'][0].name
    assert 'left_elbow' in received['b'][0].name
    executor.shutdown()
    for node in (*nodes, client):
        node.destroy_node()


def test_failing_tick_does_not_end_the_node(context, urdf, monkeypatch, capfd):
    """It is logged once and is the last error in /diagnostics; later ticks continue."""
    from diagnostic_msgs.msg import DiagnosticArray
    from ik_node.ros.control.motion import Motion
    from ik_node.ros.node import IkNode
    from sensor_msgs.msg import JointState

    tick, failures = Motion.tick, []

    def fail(self, *arguments):
        if len(failures) < 5:
            failures.append(arguments)
            raise ValueError('no room')
        return tick(self, *arguments)

    monkeypatch.setattr(Motion, 'tick', fail)
    node = IkNode(
        context=context,
        parameter_overrides=[Parameter('robot_description', value=urdf('fivebar'))],
    )
    client = rclpy.create_node('client', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    executor.add_node(client)
    heard, values = [], []
    client.create_subscription(JointState, 'ik_node/joint_states', heard.append, 10)
    client.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: values.extend(
            pair.value for row in message.status for pair in row.values if pair.key == 'last_error'
        ),
        10,
    )
    wait_until(
        lambda: heard and 'ValueError: no room' in values,
        'a later joint state and the last error',
        meanwhile=lambda: executor.spin_once(timeout_sec=0.01),
    )
    executor.shutdown()
    for each in (node, client):
        each.destroy_node()
    assert len(failures) == 5
    assert ''.join(capfd.readouterr()).count('a tick failed') == 1


def test_two_nodes_run_in_separate_contexts(urdf):
    """One has simulated time and remapped topics; neither receives from the other."""
    from ik_node.ros.node import IkNode
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    nodes, clients, executors, received, contexts = {}, {}, {}, {}, []
    for space, robot in (('sim', 'hexapod'), ('wall', 'fivebar')):
        context = rclpy.Context()
        words = ['--ros-args', '-r', 'joint_states:=measured', '-r', 'ik_node/joint_states:=out']
        rclpy.init(args=words if space == 'sim' else None, context=context)
        contexts.append(context)
        nodes[space] = IkNode(
            context=context,
            namespace=space,
            parameter_overrides=[
                Parameter('robot_description', value=urdf(robot)),
                Parameter('rate', value=50),
                Parameter('use_sim_time', value=space == 'sim'),
                Parameter('state_source', value='actuated'),
                Parameter('joint_state_timeout', value=1.0),
            ],
        )
        clients[space] = rclpy.create_node('client', context=context, namespace=space)
        executors[space] = SingleThreadedExecutor(context=context)
        for node in (nodes[space], clients[space]):
            executors[space].add_node(node)
        received[space] = []
    topics = {'sim': 'out', 'wall': 'ik_node/joint_states'}
    for space, topic in topics.items():
        clients[space].create_subscription(JointState, topic, received[space].append, 100)
    clock = clients['sim'].create_publisher(Clock, '/clock', 10)
    measure = {
        space: clients[space].create_publisher(JointState, topic, 10)
        for space, topic in (('sim', 'measured'), ('wall', 'joint_states'))
    }
    values = {'sim': ('leg0', 0.001), 'wall': ('left_shoulder', 0.1)}

    def run(seconds, condition):
        message = Clock()

        def turn():
            nonlocal seconds
            seconds += 0.01
            message.clock.sec = int(seconds)
            message.clock.nanosec = int(1e9 * (seconds % 1.0))
            clock.publish(message)
            for space, (joint, value) in values.items():
                measure[space].publish(JointState(name=[joint], position=[value]))
            for executor in executors.values():
                executor.spin_once(timeout_sec=0.005)
                executor.spin_once(timeout_sec=0.005)

        wait_until(condition, 'what was measured', meanwhile=turn)

    def followed(space):
        messages = received[space]
        if not messages:
            return False
        joint, value = values[space]
        assert joint in messages[-1].name
        return messages[-1].position[list(messages[-1].name).index(joint)] == value

    run(1000.0, lambda: followed('sim') and followed('wall'))
    assert 1000 <= received['sim'][-1].header.stamp.sec < 2000
    assert received['wall'][-1].header.stamp.sec > 1e9
    values = {'sim': ('leg0', -0.001), 'wall': ('left_shoulder', -0.1)}
    run(5.0, lambda: received['sim'][-1].header.stamp.sec < 1000 and followed('sim'))
    for messages in received.values():
        for message in messages:
            assert all(abs(velocity) < 1e3 for velocity in message.velocity)
    for space, executor in executors.items():
        executor.shutdown()
        nodes[space].destroy_node()
        clients[space].destroy_node()
    for context in contexts:
        rclpy.try_shutdown(context=context)


def test_no_attribute_hides_one_of_rclpy(context):
    """The attributes of a node class must differ from those of rclpy, private ones too."""
    from ik_node.ros.node import IkNode

    plain = rclpy.create_node('plain', context=context)
    node = IkNode(context=context)
    changed = {
        name
        for name, value in vars(plain).items()
        if type(vars(node)[name]) is not type(value) and value is not None
    }
    assert changed == set()
    for each in (plain, node):
        each.destroy_node()


def test_parameters_are_declared_with_descriptions(context):
    """Every row of the table is a parameter with its description and range."""
    from ik_node.ros.node import IkNode
    from ik_node.ros.parameters.parameter_table import (
        goal_parameters,
        NODE_PARAMETERS,
        solver_parameters,
    )

    node = IkNode(context=context, parameter_overrides=[Parameter('goal_names', value=['hand'])])
    for spec in (*NODE_PARAMETERS, *goal_parameters('hand'), *solver_parameters()):
        descriptor = node.describe_parameter(spec.name)
        assert descriptor.description.startswith(spec.doc)
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        listed = isinstance(spec.default, tuple)  # ROS has no range for the numbers of a list
        assert len(ranges) == (0 if spec.low is None or listed else 1)
        limited = bool(spec.choices) or listed
        assert descriptor.additional_constraints == (spec.allowed if limited else '')
    node.destroy_node()


def test_doubles_may_be_typed_as_ints_or_without_a_point(context):
    """ros2 reads them as int or text; other texts are refused."""
    from ik_node.ros.node import IkNode

    node = IkNode(context=context)
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
    node.destroy_node()


def test_bad_override_raises(context):
    """The caller in the same process gets the exception."""
    from ik_node.ros.node import IkNode

    with pytest.raises(OptionError, match='rate'):
        IkNode(context=context, parameter_overrides=[Parameter('rate', value=0.0)])
