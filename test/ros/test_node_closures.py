"""Loops are released and made over the middleware while the platform moves."""

from itertools import pairwise

from ik_node.ros.messages import seconds_from_stamp
import numpy as np
import pytest
from std_srvs.srv import SetBool

PLATFORM = 'platform_link'
# A name that a topic cannot have.
BALL, SERVICE = 'leg-0 ball', 'ik_node/closures/leg_0_ball/enable'


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    text = urdf('hexapod').replace('name="leg0_ball"', f'name="{BALL}"')
    goals = {'platform': PLATFORM}
    graph.hexapod = graph.start_robot(text, rate=100.0, max_joint_velocity=1.0, goals=goals)
    return graph


def enable(graph, value, service=SERVICE):
    return graph.call(SetBool, service, SetBool.Request(data=value))


def gap(graph):
    """Return how far the loop is open by the last joint state [m]."""
    return graph.hexapod.gap(BALL, np.array(graph.joint_states[-1].position))


def told_of_model(graph):
    status = graph.diagnostics.get('ik_node: model')
    return set() if status is None else {value.key for value in status.values}


def test_closure_is_released_and_closed_in_motion(hexapod):
    """The leg stays behind, returns at its velocity limits, and is enforced again."""
    hexapod.hexapod.released.add(BALL)
    response = enable(hexapod, False)
    assert (response.success, response.message) == (True, f'closure {BALL} is released')
    hexapod.send_goal('platform', hexapod.hexapod.place(PLATFORM, (0.006, 0.004, 0.0)))
    hexapod.wait(lambda: gap(hexapod) > 1e-3, 'an open loop')
    hexapod.says('CONVERGED')
    hexapod.wait(lambda: 'released' in told_of_model(hexapod), 'the diagnostic')
    first = len(hexapod.joint_states)
    response = enable(hexapod, True)
    assert (response.success, response.message) == (True, f'closure {BALL} is being closed')
    hexapod.wait(lambda: gap(hexapod) < 1e-6, 'a closed loop')
    hexapod.says('CONVERGED')
    hexapod.hexapod.released.clear()
    assert any(f'closing {BALL}' in array.status[0].message for array in hexapod.statuses)
    for before, after in pairwise(hexapod.joint_states[first:]):
        elapsed = seconds_from_stamp(after.header.stamp) - seconds_from_stamp(before.header.stamp)
        step = np.abs(np.array(after.position) - np.array(before.position))
        assert (step <= hexapod.hexapod.robot.max_velocity * (elapsed + 1e-6) + 1e-9).all()
    hexapod.spin(20)


def test_only_closures_of_the_present_robot_have_services(hexapod, urdf):
    def offered():
        return {
            name
            for name, _ in hexapod.client.get_service_names_and_types()
            if '/closures/' in name
        }

    hexapod.forget_clients()
    hexapod.wait(lambda: f'/{SERVICE}' in offered() and len(offered()) == 6, 'its services')
    hexapod.knows(urdf('fivebar'))
    assert hexapod.set_parameters(goals__platform__link='') == ''
    hexapod.describe(urdf('fivebar'))
    hexapod.wait(lambda: offered() == {'/ik_node/closures/pin/enable'}, 'its service')
    assert enable(hexapod, True, 'ik_node/closures/pin/enable').message == 'closure pin is closed'
    hexapod.spin(5)
