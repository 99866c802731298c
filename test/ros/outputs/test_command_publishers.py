"""Commands as the messages that controllers take."""

import dataclasses
from types import SimpleNamespace as Data

from ik_node.ros.outputs import CommandedState, CommandPublishers, HardwareCommand, trajectory
from ik_node.ros.parameters.settings import Outlet, outlets_of_all
import numpy as np
import pytest

COMMAND = HardwareCommand(('b', 'a'), np.array([0.1, 0.2]), np.array([1.0, -1.0]), 0.01)
WITH_EFFORTS = dataclasses.replace(COMMAND, efforts=np.array([5.0, 6.0]))
ZEROS = [0.0, 0.0]


class NodeDouble:
    """Keeps what is published, by topic, and a timer that runs when the test says so."""

    def __init__(self):
        self.topics, self.runs = {}, False

    def create_publisher(self, kind, topic, depth, event_callbacks):
        self.topics[topic] = sent = []
        return Data(topic=topic, publish=sent.append, wait_for_all_acked=lambda timeout: None)

    def destroy_publisher(self, publisher):
        del self.topics[publisher.topic]

    def create_timer(self, period, callback, *, clock, autostart):
        assert not autostart
        self.callback = callback
        return Data(
            is_canceled=lambda: not self.runs,
            reset=lambda: setattr(self, 'runs', True),
            cancel=lambda: setattr(self, 'runs', False),
        )

    def elapse(self):
        """Let time pass for long."""
        for _ in range(20):
            if self.runs:
                self.callback()

    def numbers(self, topic='~/commands'):
        """Return the numbers of all messages on a topic."""
        return [list(message.data) for message in self.topics[topic]]


def publishing(outlets, interface='position'):
    """Return publishers of these outlets, by the type of all unless they are given, and a node."""
    node = NodeDouble()
    publishers = CommandPublishers(node)
    outlets = outlets_of_all(outlets, '') if isinstance(outlets, str) else outlets
    publishers.set_outlets(outlets, interface)
    return publishers, node


def test_trajectory_has_one_point_a_period_ahead():
    """Its stamp of zero means now; controllers of positions refuse points with efforts."""
    message = trajectory(COMMAND)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    assert message.joint_names == ['b', 'a']
    (point,) = message.points
    assert list(point.positions) == [0.1, 0.2]
    assert list(point.velocities) == [1.0, -1.0]
    assert list(point.accelerations) == list(point.effort) == []
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (0, 10_000_000)
    assert list(trajectory(WITH_EFFORTS).points[0].effort) == [5.0, 6.0]


@pytest.mark.parametrize(
    ('interface', 'values'), [('velocity', [1.0, -1.0]), ('effort', [5.0, 6.0])]
)
def test_drives_of_velocities_and_efforts_are_stopped(interface, values):
    """Without further commands they would keep the last numbers; positions need no stop."""
    publishers, node = publishing('commands', interface)
    for command in (None, WITH_EFFORTS, None, None):
        publishers.publish(command)
    assert node.numbers() == [values, ZEROS]
    publishers.set_outlets(outlets_of_all('commands', ''), 'position')
    publishers.publish(COMMAND)
    publishers.publish(None)
    assert node.numbers()[-1] == [0.1, 0.2]


def test_trajectory_in_motion_is_stopped():
    """The end is where the last point is, at rest, unless a plan replaces the command."""
    publishers, node = publishing('joint_trajectory')
    sent = node.topics['~/joint_trajectory']
    for command in 2 * (WITH_EFFORTS, None, None):
        publishers.publish(command)
    assert len(sent) == 4
    (end,) = sent[-1].points
    assert (list(end.positions), list(end.velocities)) == ([0.1, 0.2], ZEROS)
    assert (list(end.effort), end.time_from_start.nanosec) == (ZEROS, 10_000_000)
    publishers.publish(dataclasses.replace(COMMAND, velocities=np.zeros(2)))
    publishers.publish(None)
    publishers.publish(COMMAND)
    publishers.leave_to_plan()
    publishers.publish(None)
    assert len(sent) == 6


def test_end_of_commands_is_repeated_until_the_next_command():
    """Controllers take commands without a guarantee of delivery."""
    publishers, node = publishing('both', 'velocity')
    points = node.topics['~/joint_trajectory']
    publishers.publish(COMMAND)
    node.elapse()
    assert (len(node.numbers()), len(points)) == (1, 1)
    publishers.publish(None)
    node.elapse()
    assert node.numbers()[1:] == 5 * [ZEROS]
    assert points[1:] == 5 * [points[1]]
    for command in (COMMAND, None, COMMAND):
        publishers.publish(command)
    node.elapse()
    assert (len(node.numbers()), len(points)) == (9, 9)
    # A plan is not ended by what ended the commands before it, but drives of numbers are.
    publishers.publish(None)
    plan = trajectory(COMMAND)
    publishers.publish_trajectory(plan)
    node.elapse()
    assert points[10:] == [plan]
    assert len(node.numbers()) == 14


def test_end_of_a_plan_comes_at_the_same_time_however_often_it_is_sent():
    publishers, node = publishing('joint_trajectory')
    publishers.stop_plan(trajectory(dataclasses.replace(COMMAND, period=0.2)))
    node.elapse()
    times = [each.points[0].time_from_start for each in node.topics['~/joint_trajectory']]
    assert [time.nanosec for time in times] == [each * 10**7 for each in (20, 18, 16, 14, 12)]


@pytest.mark.parametrize(('output', 'interface'), [('none', 'velocity'), ('commands', 'position')])
def test_end_of_commands_is_repeated_before_their_topic_or_meaning_changes(output, interface):
    """Zeros would be positions afterwards."""
    publishers, node = publishing('commands', 'velocity')
    sent = node.topics['~/commands']
    publishers.publish(COMMAND)
    publishers.set_outlets(outlets_of_all(output, ''), interface)
    node.elapse()
    assert [list(message.data) for message in sent[1:]] == 5 * [ZEROS]


def test_joints_that_are_no_longer_commanded_are_stopped():
    """Numbers for other joints do not stop the drives of these."""
    publishers, node = publishing('commands', 'velocity')
    publishers.publish(COMMAND)
    publishers.publish(COMMAND.of(['a']))
    assert node.numbers() == [[1.0, -1.0], *(5 * [ZEROS]), [-1.0]]


def test_each_group_gets_its_joints_in_its_order():
    """Of one command, of its end, and of a plan."""
    arm = Outlet('joint_trajectory', '/arm', ('a',), '', 'arm')
    gripper = Outlet('commands', '/gripper', ('b',), '', 'gripper')
    publishers, node = publishing([arm, gripper], 'velocity')
    state = CommandedState(0.0, np.array([0.3, 0.4]), np.array([3.0, 4.0]))
    publishers.publish(dataclasses.replace(WITH_EFFORTS, begin=state))
    publishers.publish(None)
    first, end = node.topics['/arm']
    assert first.joint_names == end.joint_names == ['a']
    assert [list(point.positions) for point in first.points] == [[0.4], [0.2]]
    assert [list(point.effort) for point in first.points] == [[6.0], [6.0]]
    assert [list(point.velocities) for point in end.points] == [[0.0]]
    assert node.numbers('/gripper') == [[1.0], [0.0]]
    plan = trajectory(dataclasses.replace(COMMAND.of(['a']), velocities=np.zeros(1)))
    assert publishers.publish_trajectory(plan) == ''
    assert node.topics['/arm'][-1] == plan
    assert publishers.publish_trajectory(trajectory(COMMAND)) == 'no controller takes plans for b'
