"""An ankle's motors measured: velocities, efforts and singularities of its joint space."""

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
