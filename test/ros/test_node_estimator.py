"""The node as an estimator: measured motors in, the whole robot out, with the same stamps."""

from ik_node.ros.messages import seconds_from_stamp
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.fourbar_urdf import FOURBAR

# A crank that turns for ever, and moves a rocker.
CRANK = FOURBAR.replace('name="drive" type="revolute"', 'name="drive" type="continuous"')
SPEED = 1.5  # of the crank [rad/s]
COUNT = 150  # measurements of a test
SOME = 10  # measurements after which what the node did before has been heard


class Encoder:
    """The sensor of a motor that turns evenly: 50 measurements a second, while it is on."""

    def __init__(self, graph):
        self.stamps = []
        self.on = True
        self.angle = 0.0
        self._begin = None
        self._clock = graph.client.get_clock()
        self._publisher = graph.client.create_publisher(JointState, 'joint_states', 1000)
        graph.client.create_timer(0.02, self._measure)

    def _measure(self):
        if self.on:
            self.publish(self._clock.now().to_msg())

    def publish(self, stamp):
        message = JointState(name=['drive'])
        message.header.stamp = stamp
        time = seconds_from_stamp(stamp)
        self._begin = time if self._begin is None else self._begin
        self.angle = 1.0 + SPEED * (time - self._begin)
        message.position = [self.angle]
        self.stamps.append((stamp.sec, stamp.nanosec))
        self._publisher.publish(message)


def stamp_of(message):
    return message.header.stamp.sec, message.header.stamp.nanosec


@pytest.fixture(scope='module')
def crank(lasting_graph):
    """Provide the graph with a crank that is measured before the node knows its robot."""
    graph = lasting_graph
    graph.robot = graph.knows(CRANK).robot
    graph.encoder = Encoder(graph)
    graph.start_node(
        *('-p', 'state_source:=actuated', '-p', 'actuated_joints:=[drive]', '-p', 'rate:=100.0'),
        # No measurement and no answer is lost, although a busy computer may stop this process
        # for seconds: the node goes on to publish 100 joint states a second.
        *('-p', 'qos_overrides./joint_states.subscription.reliability:=reliable'),
        *('-p', 'qos_overrides./joint_states.subscription.depth:=1000'),
        depth=5000,
    )
    graph.wait(lambda: 'waiting for' in graph.log(), 'the node')
    early = len(graph.encoder.stamps) + SOME
    graph.wait(lambda: len(graph.encoder.stamps) > early, 'measurements before the robot')
    graph.describe(CRANK)
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    return graph


def answers(graph, count=COUNT):
    """
    Return the answers to so many measurements from now on, while the crank turns.

    On a busy computer a measurement may be late; ticks then publish the configuration at rest. And
    an answer may be lost on its way to this process, so that the first one may be any.
    """
    graph.encoder.on = True
    sent = len(graph.encoder.stamps) + SOME

    def begin():
        measured = set(graph.encoder.stamps[sent:])
        return [n for n, each in enumerate(graph.joint_states) if stamp_of(each) in measured]

    first = graph.wait(begin, 'the answer to a measurement')[0]

    def answered():
        measured = set(graph.encoder.stamps)
        return [each for each in graph.joint_states[first:] if stamp_of(each) in measured]

    graph.wait(lambda: len(answered()) >= count, f'{count} answers')
    return answered()[:count]


def test_every_measurement_is_answered_once_with_its_stamp(crank):
    heard = [stamp_of(message) for message in answers(crank)]
    begin = crank.encoder.stamps.index(heard[0])
    assert heard == crank.encoder.stamps[begin : begin + COUNT]


def test_ticks_publish_when_measurements_stop(crank):
    """They publish the last configuration at rest, and statuses give the reason."""
    assert crank.set_parameters(joint_state_timeout=0.2) == ''
    last = answers(crank)[-1]
    crank.encoder.on = False
    crank.says('joint_states is stale: drive')
    crank.spin(20)
    for message in crank.joint_states[-20:]:
        assert stamp_of(message) not in crank.encoder.stamps
        assert stamp_of(message) > stamp_of(last)
        assert np.abs(message.velocity).max() == 0.0
    assert crank.value('drive') == crank.encoder.angle
    # The first answer afterwards says how fast the crank was in between. On a busy computer it may
    # be late, but it must not count as stale.
    assert crank.set_parameters(joint_state_timeout=10.0) == ''
    crank.encoder.on = True
    wanted = crank.encoder.stamps[-1]
    crank.wait(lambda: crank.encoder.stamps[-1] != wanted, 'a measurement')
    first = crank.encoder.stamps[crank.encoder.stamps.index(wanted) + 1]
    crank.wait(lambda: first in map(stamp_of, crank.joint_states), 'its answer')
    (message,) = [each for each in crank.joint_states if stamp_of(each) == first]
    velocity = message.velocity[list(message.name).index('drive')]
    assert velocity == pytest.approx(SPEED, rel=1e-3)
    assert crank.set_parameters(joint_state_timeout=0.0) == ''
