# flake8: noqa: E402, I100
"""A robot whose description rounds its angles, on a running node."""

import pytest
from support.fourbar_urdf import TURNED

pytest.importorskip('rclpy')

pytestmark = pytest.mark.ros


def test_a_loop_that_closes_only_up_to_rounding_follows_its_motor(graph):
    """The crank of a four-bar with angles such as 1.5708 is at its measured value."""
    text = TURNED.format(quarter='1.5708', half='3.1416', kind='hinge')
    graph.knows(text)
    graph.start_node(
        *('-p', 'state_source:=actuated', '-p', 'actuated_joints:=[crank]', '-p', 'rate:=100.0')
    )
    graph.describe(text)
    graph.wait(lambda: 'mobility 1' in graph.log(), 'the mobility')
    for value in (0.5, -1.0):
        graph.measure(crank=value)
        graph.wait(lambda: graph.value('crank') == pytest.approx(value, abs=1e-9), 'the crank')  # noqa: B023
        graph.says('CONVERGED')
