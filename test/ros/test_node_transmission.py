"""An ankle's singularities, in the diagnostics of a node."""

import pytest

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']


def test_diagnostics_have_the_singular_values(graph, urdf):
    """They warn at the threshold of the parameter, with the sentence of the library."""
    ankle, values = graph, {'actuated_joints': MOTORS, 'transmission__joints': JOINTS}
    robot = graph.start_robot(urdf('ankle'), state_source='actuated', **values).robot
    message, numbers = ankle.row('transmission')
    assert message == 'no singularity is near'
    singularity = robot.transmission(MOTORS, JOINTS).singularity(robot.q)
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
