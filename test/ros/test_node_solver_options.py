"""Each option of the solver is a parameter of the running node, told with its range."""

import math

from ik_node.ros.parameters.parameter_table import solver_parameters
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python

PLATFORM = 'platform_link'
SPECS = {spec.name: spec for spec in solver_parameters()}


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    robot = graph.knows(urdf('hexapod')).robot
    goal = ('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}')
    graph.start_node('-p', 'rate:=100.0', *goal)
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    graph.place = lambda: robot.forward(np.array(graph.joint_states[-1].position), PLATFORM)
    graph.home = robot.forward(robot.q, PLATFORM)[:3, 3]
    return graph


def others(spec):
    if spec.choices:
        return [choice for choice in spec.choices if choice != spec.default]
    if isinstance(spec.default, bool):
        return [not spec.default]
    if isinstance(spec.default, int):
        return [spec.default + 1]
    usual = 0.1 if spec.default in (0.0, math.inf) else 2.0 * spec.default
    return [min(max(usual, spec.low), spec.high)]


def values(graph, names):
    request = GetParameters.Request(names=list(names))
    answer = graph.call(GetParameters, 'ik_node/get_parameters', request)
    return [parameter_value_to_python(value) for value in answer.values]


@pytest.mark.parametrize('name', SPECS)
def test_each_option_can_change_in_motion(hexapod, name):
    spec = SPECS[name]
    for step, value in enumerate(others(spec)):
        hexapod.send_goal('platform', hexapod.home + np.array([0.002 * (-1) ** step, 0.001, 0]))
        before = values(hexapod, SPECS)
        both = {name: value, 'publish_on': 'never'}
        assert 'publish_on' in hexapod.set_parameters(**both)
        assert values(hexapod, SPECS) == before
        refusal = hexapod.set_parameters(**{name: value})
        if value == 'ccd':
            assert 'would not stay closed' in refusal
            continue
        assert refusal == ''
        assert values(hexapod, [name]) == [value]
        hexapod.spin(3)
    assert hexapod.set_parameters(**{name: spec.default}) == ''
    place = hexapod.home + np.array([0.001, -0.002, 0.001])
    hexapod.send_goal('platform', place)
    hexapod.wait(lambda: np.abs(hexapod.place()[:3, 3] - place).max() < 2e-6, 'the platform')


def test_million_restarts_do_not_silence_the_node(hexapod):
    """A solve ends at its deadline with the best result so far, and parameters are answered."""
    most = {'solver.restarts': 1_000_000, 'solver.agreeing_starts': 1_000_000}
    assert hexapod.set_parameters(**most) == ''
    hexapod.send_goal('platform', hexapod.home + np.array([0.0, 0.0, 5.0]))
    hexapod.spin(20)
    count = len(hexapod.joint_states)
    hexapod.wait(lambda: len(hexapod.joint_states) >= count + 5, 'more joint states')
    assert hexapod.set_parameters(**{name: SPECS[name].default for name in most}) == ''
