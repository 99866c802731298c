"""Goals by velocity over the middleware, in the frame of any link."""

import math

from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest

PLATFORM = 'platform_link'
TOPIC = 'ik_node/goals/platform/twist'


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    graph.hexapod = graph.knows(urdf('hexapod'))
    graph.start_node(*('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}'))
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    return graph


def twist(frame='', linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    message = TwistStamped()
    message.header.frame_id = frame
    for vector, values in ((message.twist.linear, linear), (message.twist.angular, angular)):
        vector.x, vector.y, vector.z = values
    return message


def pose(graph):
    return graph.hexapod.robot.forward(np.array(graph.joint_states[-1].position), PLATFORM)


def send(graph, message, reached):
    graph.wait(
        lambda: graph.publish(TwistStamped, TOPIC, message, 1, arrives=False) or reached(),
        'the platform',
    )


def halted(graph):
    def rests():
        return len(graph.joint_states) and not np.any(graph.joint_states[-1].velocity)

    graph.wait(rests, 'rest')
    return pose(graph)


def test_platform_moves_in_the_frame_of_the_message(hexapod):
    begin = halted(hexapod)
    send(hexapod, twist(angular=(0.0, 0.0, 0.5)), lambda: pose(hexapod)[1, 0] > begin[1, 0] + 0.1)
    turned = halted(hexapod)
    assert turned[:3, 3] == pytest.approx(begin[:3, 3], abs=1e-4)
    move = twist(PLATFORM, linear=(0.02, 0.0, 0.0))
    send(hexapod, move, lambda: np.linalg.norm((pose(hexapod) - turned)[:3, 3]) > 0.004)
    way = halted(hexapod)[:3, 3] - turned[:3, 3]
    assert way / np.linalg.norm(way) == pytest.approx(turned[:3, 0], abs=0.01)
    # Halted, it stays.
    there = pose(hexapod)
    hexapod.spin(20)
    assert pose(hexapod) == pytest.approx(there, abs=1e-9)


@pytest.mark.parametrize(
    ('message', 'words'),
    [
        (twist(linear=(math.nan, 0.0, 0.0)), 'twist.linear.x = nan'),
        (twist(linear=(0.0, 1e155, 0.0)), 'twist.linear.y = 1e+155'),
        (twist(angular=(1e200, 0.0, 0.0)), 'twist.angular.x = 1e+200'),
        (twist('moon', linear=(0.01, 0.0, 0.0)), 'moon'),
    ],
)
def test_impossible_twist_is_refused(hexapod, message, words):
    there = halted(hexapod)

    def refused():
        hexapod.publish(TwistStamped, TOPIC, message, 1, arrives=False)
        return words in hexapod.row('input')[1]['last']

    hexapod.wait(refused, words)
    assert pose(hexapod) == pytest.approx(there, abs=1e-9)
