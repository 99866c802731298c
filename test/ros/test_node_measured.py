"""Measured joint states as the start of every tick."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger


@pytest.fixture(scope='module')
def bench(lasting_graph, urdf):
    graph = lasting_graph
    graph.fivebar = graph.knows(urdf('fivebar'))
    graph.start_node(
        '-p', 'rate:=100.0', '-p', 'state_source:=measured', '-r', 'joint_states:=measured'
    )
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    return graph


def measure(graph, **values):
    message = JointState(name=list(values), position=[float(value) for value in values.values()])
    graph.publish(JointState, 'measured', message)


def position(graph, joint):
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
