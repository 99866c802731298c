"""The hexapod follows goals and twists in motion, whatever is set or called meanwhile."""

import math
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from ik_node.ros.parameters.parameter_table import solver_parameters
import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

PLATFORM = 'platform_link'
TWIST = 'ik_node/goals/platform/twist'
SPECS = {spec.name: spec for spec in solver_parameters()}


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf, repository: Path):
    """Provide the graph with the hexapod's description, the node and a client."""
    graph = lasting_graph
    files = (repository / 'config' / name for name in ('ik_node.yaml', 'hexapod.yaml'))
    words = [word for file in files for word in ('--params-file', str(file))]
    graph.hexapod = graph.start_robot(urdf('hexapod'), *words, rate=100)
    graph.reached = []
    graph.client.create_subscription(
        PoseStamped, 'ik_node/reached/platform', graph.reached.append, 10
    )
    graph.home = graph.hexapod.place(PLATFORM)
    return graph


@pytest.fixture(autouse=True)
def at_home(hexapod):
    """Begin each test with the platform at its start, no goal, and the usual parameters."""
    usual = {'rate': 100.0, 'goal_timeout': 0.0, 'on_stale': 'hold', 'max_joint_velocity': 0.0}
    assert hexapod.set_parameters(**usual) == ''
    hexapod.call(Trigger, 'ik_node/reset', Trigger.Request())
    # A joint state from before the reset must not be taken for one from after it.
    hexapod.wait(lambda: at(hexapod, hexapod.home), 'the platform at its start')
    hexapod.spin(3)


def send(graph, offset, quat_xyzw=(0.0, 0.0, 0.0, 1.0), frame='', **how):
    """Send a goal so far from where the platform starts; return where that is."""
    position = graph.home + np.array(offset)
    graph.send_goal('platform', position, quat_xyzw, frame, **how)
    return position


def at(graph, position, tolerance=2e-6):
    return graph.is_at(PLATFORM, position, tolerance)


def go(graph, offset, **more):
    position = send(graph, offset, **more)
    graph.wait(lambda: at(graph, position), f'the platform at {offset}')


def test_goals_are_followed_one_after_the_other(hexapod):
    for offset in ([0.004, 0, 0], [0, 0.005, 0.002], [-0.004, -0.003, -0.002], [0, 0, 0]):
        go(hexapod, offset)
    status = hexapod.says('CONVERGED')
    assert status.level == DiagnosticStatus.OK
    values = {pair.key: pair.value for pair in status.values}
    assert float(values['goal.platform.position']) <= 1e-6
    for leg in range(6):
        assert float(values[f'closure.leg{leg}_ball.position']) <= 1e-6


def test_reached_has_the_pose_of_the_goal(hexapod):
    quat = (0.0, 0.0, math.sin(0.05), math.cos(0.05))
    go(hexapod, [0.002, 0, 0], quat_xyzw=quat)
    there = pytest.approx((*(hexapod.hexapod.place(PLATFORM, (0.002, 0, 0))), *quat), abs=2e-6)

    def reached():
        point, turn = hexapod.reached[-1].pose.position, hexapod.reached[-1].pose.orientation
        return point.x, point.y, point.z, turn.x, turn.y, turn.z, turn.w

    hexapod.wait(lambda: hexapod.reached and reached() == there, f'reached to be {there}')
    assert hexapod.reached[-1].header.frame_id == 'base_link'


def test_goal_in_the_frame_of_a_link_moves_it_once(hexapod):
    go(hexapod, [0.003, 0, 0])
    hexapod.send_goal('platform', (0.0, 0.002, 0.0), frame=PLATFORM)
    position = hexapod.hexapod.place(PLATFORM, (0.003, 0.002, 0))
    hexapod.wait(lambda: at(hexapod, position), 'the goal in its own frame')
    hexapod.spin(20)
    assert at(hexapod, position)


def test_goal_can_be_added_and_removed(hexapod):
    """A second goal has a topic and parameters once it is named, and moves the platform."""
    assert hexapod.set_parameters(goal_names=['platform', 'centre']) == ''
    assert (
        hexapod.set_parameters(
            goals__platform__enabled=False,
            goals__centre__link=PLATFORM,
            goals__centre__dof='X Y Z',
            goals__centre__offset=[0.0, 0.0, 0.01, 0.0, 0.0, 0.0],
        )
        == ''
    )
    hexapod.wait(lambda: 'goals: platform, centre' in hexapod.log(), 'the new solver')
    hexapod.send_goal('centre', hexapod.hexapod.place(PLATFORM, (0.002, 0, 0.012)))

    def centre():
        return hexapod.pose(PLATFORM) @ np.array([0, 0, 0.01, 1.0])

    wanted = np.append(hexapod.hexapod.place(PLATFORM, (0.002, 0, 0.012)), 1.0)
    hexapod.wait(lambda: np.linalg.norm(centre() - wanted) < 2e-6, 'the centre at its goal')
    assert hexapod.set_parameters(goal_names=['platform'], goals__platform__enabled=True) == ''
    go(hexapod, [0.001, 0, 0])


def test_pause_publishes_joint_states_at_rest(hexapod):
    assert hexapod.call(SetBool, 'ik_node/enable', SetBool.Request(data=False)).success
    position = send(hexapod, [0.004, 0, 0])
    hexapod.says('paused')
    hexapod.spin(20)
    assert not at(hexapod, position)
    assert set(hexapod.joint_states[-1].velocity) == {0.0}
    assert hexapod.call(SetBool, 'ik_node/enable', SetBool.Request(data=True)).success
    hexapod.wait(lambda: at(hexapod, position), 'the goal of before')


def test_residuals_are_numbers_with_labels(hexapod):
    received = []
    subscription = hexapod.client.create_subscription(
        Float64MultiArray, 'ik_node/residuals', received.append, 10
    )
    go(hexapod, [0.002, 0, 0])
    message = hexapod.wait(
        lambda: received and len(received[-1].data) == 14 and received[-1], 'residuals'
    )
    labels = message.layout.dim[0].label.split(',')
    assert labels == ['platform', *(f'leg{leg}_ball' for leg in range(6))]
    assert [dim.size for dim in message.layout.dim] == [7, 2]
    hexapod.wait(lambda: max(received[-1].data) <= 1e-6, 'small residuals')
    hexapod.client.destroy_subscription(subscription)


def test_million_restarts_do_not_silence_the_node(hexapod):
    """A solve ends at its deadline with the best result so far, and parameters are answered."""
    most = {'solver.restarts': 1_000_000, 'solver.agreeing_starts': 1_000_000}
    assert hexapod.set_parameters(**most) == ''
    send(hexapod, (0.0, 0.0, 5.0))
    hexapod.spin(20)
    count = len(hexapod.joint_states)
    hexapod.wait(lambda: len(hexapod.joint_states) >= count + 5, 'more joint states')
    assert hexapod.set_parameters(**{name: SPECS[name].default for name in most}) == ''


def twist(frame='', linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    message = TwistStamped()
    message.header.frame_id = frame
    for vector, values in ((message.twist.linear, linear), (message.twist.angular, angular)):
        vector.x, vector.y, vector.z = values
    return message


def drive(graph, message, reached):
    graph.wait(
        lambda: graph.publish(TwistStamped, TWIST, message, 1, arrives=False) or reached(),
        'the platform',
    )


def halted(graph):
    def rests():
        return len(graph.joint_states) and not np.any(graph.joint_states[-1].velocity)

    graph.wait(rests, 'rest')
    return graph.pose(PLATFORM)


def test_platform_moves_in_the_frame_of_the_message(hexapod):
    begin = halted(hexapod)
    drive(
        hexapod,
        twist(angular=(0.0, 0.0, 0.5)),
        lambda: hexapod.pose(PLATFORM)[1, 0] > begin[1, 0] + 0.1,
    )
    turned = halted(hexapod)
    assert turned[:3, 3] == pytest.approx(begin[:3, 3], abs=1e-4)
    move = twist(PLATFORM, linear=(0.02, 0.0, 0.0))
    drive(hexapod, move, lambda: np.linalg.norm((hexapod.pose(PLATFORM) - turned)[:3, 3]) > 0.004)
    way = halted(hexapod)[:3, 3] - turned[:3, 3]
    assert way / np.linalg.norm(way) == pytest.approx(turned[:3, 0], abs=0.01)
    # Halted, it stays.
    there = hexapod.pose(PLATFORM)
    hexapod.spin(20)
    assert hexapod.pose(PLATFORM) == pytest.approx(there, abs=1e-9)


def test_impossible_twist_is_refused(hexapod):
    there = halted(hexapod)
    for message, words in (
        (twist(linear=(math.nan, 0.0, 0.0)), 'twist.linear.x = nan'),
        (twist(angular=(1e200, 0.0, 0.0)), 'twist.angular.x = 1e+200'),
        (twist('moon', linear=(0.01, 0.0, 0.0)), 'moon'),
    ):

        def refused(message=message, words=words):
            hexapod.publish(TwistStamped, TWIST, message, 1, arrives=False)
            return words in hexapod.row('input')[1]['last']

        hexapod.wait(refused, words)
    assert hexapod.pose(PLATFORM) == pytest.approx(there, abs=1e-9)
