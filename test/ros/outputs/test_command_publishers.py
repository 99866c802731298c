"""Commands as the messages that controllers take."""

import dataclasses

from ik_node.ros.outputs.command_publishers import (
    CommandedState,
    CommandPublishers,
    HardwareCommand,
    numbers,
    trajectory,
)
from ik_node.ros.parameters.settings import Outlet, outlets_of_all
import numpy as np
import pytest

COMMAND = HardwareCommand(('b', 'a'), np.array([0.1, 0.2]), np.array([1.0, -1.0]), 0.01)


class NodeDouble:
    """Keeps publishers by topic, and what they publish."""

    def __init__(self):
        self.topics = {}

    def create_publisher(self, kind, topic, depth, event_callbacks):
        self.topics[topic] = []
        self.last = topic
        return PublisherDouble(topic, self.topics[topic])

    def create_timer(self, period, callback, *, clock, autostart):
        assert not autostart
        self.timer = TimerDouble(callback)
        return self.timer

    def destroy_publisher(self, publisher):
        del self.topics[publisher.topic]


class TimerDouble:
    """Calls its callback when the test says so, unless it is cancelled."""

    def __init__(self, callback):
        self.callback, self.runs = callback, False

    def is_canceled(self):
        return not self.runs

    def reset(self):
        self.runs = True

    def cancel(self):
        self.runs = False

    def elapse(self):
        for _ in range(20):
            if self.runs:
                self.callback()


class PublisherDouble:
    """Keeps what it publishes."""

    def __init__(self, topic, messages):
        self.topic = topic
        self.messages = messages

    def publish(self, message):
        self.messages.append(message)

    def wait_for_all_acked(self, timeout):
        """Return at once."""


def test_trajectory_has_one_point_a_period_ahead():
    message = trajectory(COMMAND)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    assert message.joint_names == ['b', 'a']
    (point,) = message.points
    assert list(point.positions) == [0.1, 0.2]
    assert list(point.velocities) == [1.0, -1.0]
    assert list(point.accelerations) == []
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (0, 10_000_000)


@pytest.mark.parametrize(
    ('period', 'expected'),
    [(10.0, (10, 0)), (1 / 3, (0, 333333333)), (5e-4, (0, 500000)), (1 - 1e-12, (1, 0))],
)
def test_time_of_the_point_has_seconds_and_nanoseconds(period, expected):
    command = HardwareCommand(('a',), np.zeros(1), np.zeros(1), period)
    time = trajectory(command).points[0].time_from_start
    assert (time.sec, time.nanosec) == expected


def test_commands_are_positions_in_order():
    assert list(numbers(COMMAND).data) == [0.1, 0.2]


@pytest.mark.parametrize(
    ('output', 'topics'),
    [
        ('none', set()),
        ('joint_trajectory', {'~/joint_trajectory'}),
        ('commands', {'~/commands'}),
        ('both', {'~/joint_trajectory', '~/commands'}),
    ],
)
def test_topics_follow_the_output_type(output, topics):
    for before in ('none', 'commands', 'both'):
        node = NodeDouble()
        publishers = CommandPublishers(node)
        publishers.set_outlets(outlets_of_all(before, ''))
        publishers.set_outlets(outlets_of_all(output, ''))
        assert set(node.topics) == topics
        publishers.publish(COMMAND)
        assert all(len(messages) == 1 for messages in node.topics.values())


@pytest.mark.parametrize(
    ('interface', 'values'), [('velocity', [1.0, -1.0]), ('effort', [5.0, 6.0])]
)
def test_drives_of_velocities_and_efforts_are_stopped(interface, values):
    """Without further commands they would keep the last numbers; positions need no stop."""
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('commands', ''), interface)
    publishers.publish(None)
    publishers.publish(dataclasses.replace(COMMAND, efforts=np.array([5.0, 6.0])))
    publishers.publish(None)
    publishers.publish(None)
    sent = [list(message.data) for message in node.topics['~/commands']]
    assert sent == [values, [0.0, 0.0]]
    publishers.set_outlets(outlets_of_all('commands', ''), 'position')
    publishers.publish(COMMAND)
    publishers.publish(None)
    assert list(node.topics['~/commands'][-1].data) == [0.1, 0.2]


def test_trajectory_in_motion_is_stopped():
    """The end is where the last point is, at rest, unless a plan replaces the command."""
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('joint_trajectory', ''))
    sent = node.topics['~/joint_trajectory']
    for _ in range(2):
        publishers.publish(dataclasses.replace(COMMAND, efforts=np.array([5.0, 6.0])))
        publishers.publish(None)
        publishers.publish(None)
    assert len(sent) == 4
    (end,) = sent[-1].points
    assert (list(end.positions), list(end.velocities)) == ([0.1, 0.2], [0.0, 0.0])
    assert (list(end.effort), end.time_from_start.nanosec) == ([0.0, 0.0], 10_000_000)
    publishers.publish(dataclasses.replace(COMMAND, velocities=np.zeros(2)))
    publishers.publish(None)
    publishers.publish(COMMAND)
    publishers.leave_to_plan()
    publishers.publish(None)
    assert len(sent) == 6


def test_end_of_commands_is_repeated_until_the_next_command():
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('both', ''), 'velocity')
    numbers, points = node.topics['~/commands'], node.topics['~/joint_trajectory']
    publishers.publish(COMMAND)
    node.timer.elapse()
    assert (len(numbers), len(points)) == (1, 1)
    publishers.publish(None)
    node.timer.elapse()
    assert [list(message.data) for message in numbers[1:]] == 5 * [[0.0, 0.0]]
    assert points[1:] == 5 * [points[1]]
    publishers.publish(COMMAND)
    publishers.publish(None)
    publishers.publish(COMMAND)
    node.timer.elapse()
    assert (len(numbers), len(points)) == (9, 9)
    # A plan is not ended by what ended the commands before it, but drives of numbers are.
    publishers.publish(None)
    plan = trajectory(COMMAND)
    publishers.publish_trajectory(plan)
    node.timer.elapse()
    assert points[10:] == [plan]
    assert len(numbers) == 14


def test_end_of_a_plan_comes_at_the_same_time_however_often_it_is_sent():
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('joint_trajectory', ''))
    publishers.stop_plan(trajectory(dataclasses.replace(COMMAND, period=0.2)))
    node.timer.elapse()
    times = [each.points[0].time_from_start for each in node.topics['~/joint_trajectory']]
    assert [time.nanosec for time in times] == [each * 10**7 for each in (20, 18, 16, 14, 12)]


@pytest.mark.parametrize('interface', ['velocity', 'position'])
def test_end_of_commands_is_repeated_before_their_topic_or_meaning_changes(interface):
    """Zeros would be positions afterwards."""
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('commands', ''), 'velocity')
    sent = node.topics['~/commands']
    publishers.publish(COMMAND)
    outlets = outlets_of_all('none' if interface == 'velocity' else 'commands', '')
    publishers.set_outlets(outlets, interface)
    assert [list(message.data) for message in sent[1:]] == 5 * [[0.0, 0.0]]
    node.timer.elapse()
    assert len(sent) == 6


def test_joints_that_are_no_longer_commanded_are_stopped():
    node = NodeDouble()
    publishers = CommandPublishers(node)
    publishers.set_outlets(outlets_of_all('commands', ''), 'velocity')
    publishers.publish(COMMAND)
    publishers.publish(COMMAND.of(['a']))
    sent = [list(message.data) for message in node.topics['~/commands']]
    assert sent == [[1.0, -1.0], *(5 * [[0.0, 0.0]]), [-1.0]]


def test_each_group_gets_its_joints_in_its_order():
    node = NodeDouble()
    publishers = CommandPublishers(node)
    arm = Outlet('joint_trajectory', '/arm', ('a',), '', 'arm')
    gripper = Outlet('commands', '/gripper', ('b',), '', 'gripper')
    publishers.set_outlets([arm, gripper], 'velocity')
    state = CommandedState(0.0, np.array([0.3, 0.4]), np.array([3.0, 4.0]))
    command = dataclasses.replace(COMMAND, begin=state, efforts=np.array([5.0, 6.0]))
    publishers.publish(command)
    publishers.publish(None)
    first, end = node.topics['/arm']
    assert first.joint_names == end.joint_names == ['a']
    assert [list(point.positions) for point in first.points] == [[0.4], [0.2]]
    assert [list(point.effort) for point in first.points] == [[6.0], [6.0]]
    assert [list(point.velocities) for point in end.points] == [[0.0]]
    assert [list(message.data) for message in node.topics['/gripper']] == [[1.0], [0.0]]
    plan = trajectory(dataclasses.replace(COMMAND.of(['a']), velocities=np.zeros(1)))
    assert publishers.publish_trajectory(plan) == ''
    assert node.topics['/arm'][-1] == plan
    assert publishers.publish_trajectory(trajectory(COMMAND)) == 'no controller takes plans for b'


def test_efforts_are_in_the_trajectory_if_they_are_commanded():
    with_efforts = dataclasses.replace(COMMAND, efforts=np.array([5.0, 6.0]))
    assert list(trajectory(with_efforts).points[0].effort) == [5.0, 6.0]
    assert list(trajectory(COMMAND).points[0].effort) == []
