"""An ankle's motors measured: velocities, efforts and singularities of its joint space."""

import math

import numpy as np
import pytest
from sensor_msgs.msg import JointState

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']


@pytest.fixture(scope='module')
def ankle(lasting_graph, urdf):
    graph = lasting_graph
    values = {'actuated_joints': MOTORS, 'transmission__joints': JOINTS}
    graph.robot = graph.start_robot(urdf('ankle'), state_source='actuated', **values).robot
    return graph


def answer(graph, position, velocity=(), effort=()):
    """Have the motors measured until it is answered; return the answer's parts by joint."""
    stamp = graph.client.get_clock().now().to_msg()
    message = JointState(name=MOTORS, position=position, velocity=velocity, effort=effort)
    message.header.stamp = stamp

    def answered():
        found = [each for each in graph.joint_states if each.header.stamp == stamp]
        if not found:
            graph.publish(JointState, 'joint_states', message, arrives=False)
        return found

    found = graph.wait(answered, 'the answer')[0]
    return {
        part: dict(zip(found.name, getattr(found, part), strict=False))
        for part in ('position', 'velocity', 'effort')
    }


def values(names, part):
    return np.array([part[name] for name in names])


def test_velocities_and_efforts_of_the_ankle_follow_from_its_motors(ankle):
    found = answer(ankle, [0.3, -0.1], [0.7, -0.4], [2.0, -1.5])
    transmission = ankle.robot.transmission(MOTORS, JOINTS)
    wanted = transmission.to_joints([0.3, -0.1], [0.7, -0.4], [2.0, -1.5])
    assert values(JOINTS, found['position']) == pytest.approx(wanted.joint_position, abs=1e-6)
    assert values(JOINTS, found['velocity']) == pytest.approx(wanted.joint_velocity, abs=1e-5)
    assert values(JOINTS, found['effort']) == pytest.approx(wanted.joint_effort, abs=1e-4)
    assert [*found['velocity'].values()] == pytest.approx(wanted.velocity, abs=1e-5)
    power = values(JOINTS, found['effort']) @ values(JOINTS, found['velocity'])
    assert power == pytest.approx(2.0 * 0.7 + 1.5 * 0.4, rel=1e-9)


def test_unknown_efforts_are_empty(ankle):
    found = answer(ankle, [0.2, 0.1], [0.5, 0.5], [1.0, math.nan])
    assert found['effort'] == {}
    assert values(MOTORS, found['velocity']).tolist() == [0.5, 0.5]
    assert answer(ankle, [0.21, 0.1])['effort'] == {}


def test_position_that_is_nan_is_unknown(ankle):
    before = values(MOTORS, answer(ankle, [0.1, 0.1])['position'])
    found = answer(ankle, [math.nan, 0.15])
    assert values(MOTORS, found['position']).tolist() == [before[0], 0.15]


def test_diagnostics_have_the_singular_values(ankle):
    """They warn at the threshold of the parameter, with the sentence of the library."""
    answer(ankle, [0.0, 0.0])
    message, numbers = ankle.row('transmission')
    assert message == 'no singularity is near'
    singularity = ankle.robot.transmission(MOTORS, JOINTS).singularity(ankle.robot.q)
    assert float(numbers['nearness']) == pytest.approx(singularity.nearness, rel=0.01)
    assert float(numbers['type_2.largest']) == pytest.approx(singularity.type_2[1], rel=0.01)
    assert ankle.set_parameters(transmission__singularity_warning=1.0) == ''
    wanted = (
        'near a singularity of type II (joints move by 0.98 rad or lengths per unit of the '
        'actuators): the actuators lose hold of '
    )
    ankle.wait(lambda: ankle.row('transmission')[0].startswith(wanted), wanted)
    ankle.wait(lambda: f'transmission: {wanted}' in ankle.log(), 'the log line')
    assert ankle.set_parameters(transmission__singularity_warning=0.05) == ''


def test_joint_space_commands_are_commands_of_the_motors(ankle):
    """Beside the measured state, which stays published; efforts and velocities go out too."""
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory

    trajectories, numbers = [], []
    ankle.client.create_subscription(
        JointTrajectory, 'ik_node/joint_trajectory', trajectories.append, 1000
    )
    ankle.client.create_subscription(Float64MultiArray, 'ik_node/commands', numbers.append, 1000)
    assert ankle.set_parameters(output__type='both', output__interface='velocity') == ''
    answer(ankle, [0.0, 0.0])
    ankle.wait(
        lambda: 'there are no goals' in ankle.row('output')[0], 'no commands before there is one'
    )
    command = JointState(name=JOINTS, position=[0.2, -0.1], velocity=[0.0, math.nan])
    ankle.publish(JointState, 'ik_node/joint_command', command, 1)
    wanted = ankle.robot.transmission(MOTORS, JOINTS).to_actuators([0.2, -0.1])
    there = pytest.approx(wanted.actuator_position, abs=1e-5)

    def arrived():
        if trajectories:
            values_of = trajectories[-1].points[-1].positions
            # The robot follows its commands.
            measured = JointState(name=MOTORS, position=values_of)
            ankle.publish(JointState, 'joint_states', measured, arrives=False)
        return trajectories and list(trajectories[-1].points[-1].positions) == there

    ankle.wait(arrived, 'the position')
    assert all(each.joint_names == MOTORS for each in trajectories)
    ankle.wait(lambda: list(numbers[-1].data) == [0.0, 0.0], 'rest')
    assert any(np.abs(each.data).max() > 0.1 for each in numbers)

    def measured_there():
        arrived()
        return ankle.value('ankle_pitch') == pytest.approx(0.2, abs=1e-4)

    ankle.wait(measured_there, 'the ankle')
    refused = JointState(name=['ankle_pitch'], position=[2.0])
    ankle.publish(JointState, 'ik_node/joint_command', refused, 1)
    ankle.wait(lambda: 'its limits are -0.8 and 0.8' in ankle.log(), 'the reason')
    assert ankle.set_parameters(output__type='none', output__interface='position') == ''
