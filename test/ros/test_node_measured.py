"""Measured joint states as the start of every tick."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def bench(lasting_graph, urdf):
    """Provide the graph with a five-bar whose node starts from joint_states."""
    graph = lasting_graph
    graph.fivebar = graph.knows(urdf('fivebar'))
    graph.start_node(
        '-p', 'rate:=100.0', '-p', 'state_source:=measured', '-r', 'joint_states:=measured'
    )
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    return graph


def measure(graph, **values):
    """Publish a measured joint state."""
    message = JointState(name=list(values), position=[float(value) for value in values.values()])
    graph.publish(JointState, 'measured', message)


def position(graph, joint):
    """Return the last published position of a joint."""
    message = graph.joint_states[-1]
    return message.position[list(message.name).index(joint)]


def test_missing_measurement_is_reported(bench):
    """Joint states are published, and the status says that nothing was measured."""
    bench.wait(lambda: 'no joint_states yet' in bench.last_status(), 'the note')


def test_solve_starts_at_the_measured_values(bench):
    """A measured state with closed loops is unchanged; without a goal nothing moves."""
    robot = bench.fivebar.robot
    q = robot.q
    names = list(robot.joint_names)
    # The five-bar is symmetric: mirrored motor angles keep it so, and the loop says the elbows.
    measure(bench, left_shoulder=0.1, right_shoulder=-0.1)
    bench.wait(lambda: abs(position(bench, 'left_shoulder')) > 0.01, 'a step from the start')
    bench.spin(5)
    solved = dict(zip(names, bench.joint_states[-1].position, strict=True))
    measure(bench, **solved)
    bench.spin(30)
    last = np.array(bench.joint_states[-1].position)
    assert last == pytest.approx(np.array(list(solved.values())), abs=2e-4)
    assert not np.allclose(last, q, atol=1e-3)


def test_unknown_joint_is_logged_once(bench):
    """One line names it."""
    for _ in range(3):
        measure(bench, gripper=0.1)
    bench.wait(lambda: 'the robot has no joint gripper' in bench.log(), 'the warning')
    bench.spin(10)
    assert bench.log().count('no joint gripper') == 1


@pytest.mark.parametrize(
    ('message', 'words'),
    [
        (JointState(name=['left_shoulder'], position=[]), '1 names need as many positions'),
        (JointState(name=['left_shoulder'], position=[float('nan')]), 'left_shoulder = nan'),
    ],
)
def test_bad_joint_states_are_refused(bench, message, words):
    """Wrong sizes and NaN are counted and reported; joint states continue."""

    def last():
        status = bench.diagnostics.get('ik_node: input')
        return {pair.key: pair.value for pair in status.values}['last'] if status else ''

    bench.publish(JointState, 'measured', message)
    bench.wait(lambda: words in last(), 'the refusal')
    bench.spin(5)


def test_joint_targets_move_free_joints(bench):
    """A target is met as far as the loop allows, also with state_source solution."""
    assert bench.set_parameters(state_source='solution') == ''
    bench.publish(JointState, 'ik_node/joint_targets', JointState(name=['nose'], position=[0.2]))
    bench.publish(
        JointState, 'ik_node/joint_targets', JointState(name=['left_shoulder'], position=[0.25])
    )
    bench.wait(lambda: abs(position(bench, 'left_shoulder') - 0.25) < 1e-4, 'the wish')
    bench.call(Trigger, 'ik_node/reset', Trigger.Request())
    bench.wait(lambda: abs(position(bench, 'left_shoulder')) < 1e-4, 'the start')
    assert bench.set_parameters(state_source='measured') == ''


def test_stale_joint_states_are_reported_and_not_used(bench):
    """The node continues from its solution."""
    assert bench.set_parameters(joint_state_timeout=0.2) == ''
    measure(bench, left_shoulder=0.0)
    bench.wait(lambda: 'joint_states is stale' in bench.last_status(), 'the note')
    bench.spin(5)
    assert bench.set_parameters(joint_state_timeout=0.0) == ''
