# flake8: noqa: E402, I100
"""The node class in an executor of one's own."""

import pytest

pytest.importorskip('rclpy')

from ik_node.errors import OptionError
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

pytestmark = pytest.mark.ros


@pytest.fixture
def context():
    """Provide an rclpy context of the test's own."""
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    rclpy.try_shutdown(context=context)


def test_two_nodes_in_one_process(context, urdf):
    """Each in its namespace, with a robot of its own, in one executor."""
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
    for _ in range(6000):
        executor.spin_once(timeout_sec=0.01)
        if all(received.values()):
            break
    assert 'leg0' in received['a'][0].name
    assert 'left_elbow' in received['b'][0].name
    executor.shutdown()
    for node in (*nodes, client):
        node.destroy_node()


def test_parameters_are_declared_with_descriptions(context):
    """Every row of the table is a parameter with its description and range."""
    from ik_node.ros.node import IkNode
    from ik_node.ros.parameters import goal_parameters, NODE_PARAMETERS, solver_parameters

    node = IkNode(context=context, parameter_overrides=[Parameter('goal_names', value=['hand'])])
    for spec in (*NODE_PARAMETERS, *goal_parameters('hand'), *solver_parameters()):
        descriptor = node.describe_parameter(spec.name)
        assert descriptor.description.startswith(spec.doc)
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert len(ranges) == (0 if spec.low is None else 1)
    node.destroy_node()


def test_bad_override_raises(context):
    """A caller in the same process gets the exception."""
    from ik_node.ros.node import IkNode

    with pytest.raises(OptionError, match='rate'):
        IkNode(context=context, parameter_overrides=[Parameter('rate', value=0.0)])
