"""Joints with several masters, on a running node."""

from ik_node.model.rotation import quat_from_euler, quat_multiply
import pytest
from std_msgs.msg import Float64MultiArray
from support.wrist import ELEMENTS, wrist


def test_differential_wrist_follows_goals(graph):
    """The couplings of both motors with pitch and roll are exact in every joint state."""
    commands = []
    graph.client.create_subscription(
        Float64MultiArray, 'ik_node/commands', lambda message: commands.append([*message.data]), 10
    )
    motors, goals = ['left', 'right'], {'hand': 'hand'}
    values = {'actuated_joints': motors, 'output__type': 'commands'}
    graph.start_robot(wrist(ELEMENTS), rate=50.0, goals=goals, **values)
    graph.measure(left=0.1, right=0.0)
    for pitch, roll in ((0.3, 0.2), (-0.4, -0.1), (0.2, -0.5)):
        motors = {'left': 0.1 + 2.0 * pitch + roll, 'right': 2.0 * pitch - roll}
        turns = (quat_from_euler(*each) for each in ((0, pitch, 0), (roll, 0, 0)))
        graph.send_goal('hand', (0, 0, 0), quat_multiply(*turns))
        graph.wait(lambda: abs(graph.value('pitch') - pitch) < 1e-6, 'the pitch')  # noqa: B023
        graph.says('CONVERGED')
        assert {name: graph.value(name) for name in (*motors, 'roll')} == pytest.approx(
            {**motors, 'roll': roll}, abs=1e-6
        )
        graph.wait(
            lambda: commands and commands[-1] == pytest.approx([*motors.values()], abs=1e-6),  # noqa: B023
            'the commands of both motors',
        )
    for message in graph.joint_states:
        at = dict(zip(message.name, message.position, strict=True))
        assert at['left'] == pytest.approx(0.1 + 2.0 * at['pitch'] + at['roll'], abs=1e-12)
        assert at['right'] == pytest.approx(2.0 * at['pitch'] - at['roll'], abs=1e-12)
