"""What statuses and joint states say, and how messages are written over."""

import dataclasses
import re
from types import SimpleNamespace as Data

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.messages.status_row import ERROR, fill_diagnostics, OK, StatusRow, WARN
from ik_node.ros.outputs import node_outputs
from ik_node.ros.outputs.diagnostics import input_row, model_row, rate_row, solve_rows, TickReport
from ik_node.ros.outputs.node_outputs import JointStateOutput, StatusOutput
from ik_node.ros.process.node_health import NodeCounts
from ik_node.solver import Status
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

NODE = Data(get_fully_qualified_name=lambda: '/ik_node')


def report(*statuses, held='', notes=()):
    """Return a report on chains with these statuses, one goal and one loop each."""
    chains = tuple(
        Data(
            status=status,
            iterations=3 + at,
            starts=1,
            solve_time=1e-4,
            goal_errors={f'goal{at}': Data(position=0.01 * at, orientation=1e-9)},
            closure_errors={f'loop{at}': Data(position=1e-9, orientation=0.0)},
            active_limits=('elbow',) if status is Status.STALLED else (),
            message=f'{status.name}: words',
        )
        for at, status in enumerate(statuses)
    )
    solution = Data(status=max(statuses), chains=chains, message='', nearest=None)
    return TickReport(np.zeros(1), np.zeros(1), solution, held, notes)


def test_each_chain_has_a_row_with_its_values():
    rows = solve_rows('ik', report(Status.CONVERGED, Status.STALLED))
    assert [(row.level, row.name) for row in rows] == [(OK, 'ik: goal0'), (WARN, 'ik: goal1')]
    assert rows[0].message.startswith('CONVERGED')
    assert rows[1].message.startswith('STALLED')
    assert rows[1].values == {
        'iterations': '4',
        'starts': '1',
        'solve_time': '0.0001',
        'goal.goal1.position': '0.01',
        'goal.goal1.orientation': '1e-09',
        'closure.loop1.position': '1e-09',
        'closure.loop1.orientation': '0',
        'active_limits': 'elbow',
    }


MOVING = 'STALLED: moving to the solution at the velocity limits'


@pytest.mark.parametrize(
    ('status', 'more', 'level', 'words'),
    [
        (Status.CONVERGED, {}, OK, '^CONVERGED'),
        (Status.TIMEOUT, {}, WARN, '^TIMEOUT'),
        (Status.DIVERGED, {}, ERROR, '^DIVERGED'),
        # What is not published, or not reached yet, is not called converged.
        (Status.CONVERGED, {'held': 'loop a is open'}, ERROR, '^STALLED: holding.*loop a is open'),
        (Status.CONVERGED, {'under_way': True}, WARN, f'^{MOVING}$'),
        (Status.CONVERGED, {'notes': ('goal a is stale',)}, WARN, '^CONVERGED.*goal a is stale'),
    ],
)
def test_level_and_words_tell_how_bad_a_status_is(status, more, level, words):
    (row,) = solve_rows('ik', dataclasses.replace(report(status), **more))
    assert row.level == level
    assert re.search(words, row.message)
    assert ('CONVERGED' in row.message) == ('CONVERGED' in words)


MODEL = Data(
    robot=Data(name='arm', closures={}, goals={'hand': None}), joint_names=('a', 'b'), mobility=2
)


@pytest.mark.parametrize(
    ('model', 'refused', 'level', 'words'),
    [
        (None, '', WARN, 'waiting'),
        (None, 'bad', ERROR, 'no model: bad'),
        (MODEL, '', OK, 'arm'),
        (MODEL, 'bad', ERROR, 'keeping arm.*refused: bad'),
    ],
)
def test_model_row_names_model_and_refusal(model, refused, level, words):
    row = model_row('ik', model, refused, False)
    assert row.level == level
    assert re.search(words, row.message)


def test_rate_row_warns_when_one_tick_in_twenty_is_missing():
    """It says how late they were; a count of one second is inexact by one."""
    counts = NodeCounts(ticks=7, missed_ticks=2)
    for begin in (10.0, 10.01, 10.06, 10.07):
        counts.add_tick(0.001, 0.01, begin)
    for rate, wanted in ((99.0, 100.0), (94.0, 100.0), (9.0, 10.0), (1.0, 1.0), (0.6, 1.0)):
        assert rate_row('ik', rate, wanted, counts).level == OK
    for rate, wanted in ((90.0, 100.0), (74.0, 200.0), (110.0, 500.0), (8.0, 10.0)):
        row = rate_row('ik', rate, wanted, counts)
        assert row.level == WARN
        assert 'ticks are late, by up to 0.05 s between two' in row.message
    assert row.values['missed_ticks'] == '2'
    assert row.values['longest_interval'] == '0.05'


def test_input_row_warns_about_new_refusals():
    row = input_row('ik', {'goals/a': 3}, 'NaN', 1)
    assert (row.level, row.values) == (WARN, {'goals/a': '3', 'last': 'NaN'})
    assert input_row('ik', {'goals/a': 3}, 'NaN', 0).level == OK


# -- messages that are written over are those that would have been made anew


def arrived(message):
    """Return what a subscriber reads out of a message."""
    return deserialize_message(serialize_message(message), type(message))


def test_reused_diagnostics_have_only_their_own_rows():
    few = [StatusRow(OK, 'node: hand', 'CONVERGED', {'starts': '1'})]
    many = [
        StatusRow(ERROR, 'node: left', 'DIVERGED', {'starts': '2', 'iterations': '30'}),
        StatusRow(WARN, 'node: right', 'STALLED'),
    ]
    message = DiagnosticArray()
    for sec, rows in enumerate((few, many, few, [], many)):
        fill_diagnostics(message, rows, Time(sec=sec), 'arm')
        read = arrived(message)
        assert read.header.stamp.sec == sec
        assert [(each.hardware_id, each.name, each.message) for each in read.status] == [
            ('arm', row.name, row.message) for row in rows
        ]
        for each, row in zip(read.status, rows, strict=True):
            assert ord(each.level) == int(row.level)
            assert {pair.key: pair.value for pair in each.values} == row.values


@pytest.fixture
def heard(monkeypatch):
    """Provide all messages that outputs publish, as subscribers read them."""
    messages = []
    publisher = Data(
        get_subscription_count=lambda: 1, publish=lambda message: messages.append(arrived(message))
    )
    monkeypatch.setattr(node_outputs, 'add_publisher', lambda *arguments: publisher)
    return messages


@pytest.mark.ros
def test_joint_state_keeps_names_and_changes_numbers(heard):
    output = JointStateOutput(NODE)
    for names in (('a', 'b'), ('left_elbow', 'x', 'y')):
        output.set_model(Data(joint_names=names))
        for k in range(2):
            numbers = np.arange(len(names)) + 0.5 * k
            output.publish(numbers, -numbers, Time(sec=k, nanosec=7))
            expected = JointState(name=names, position=numbers, velocity=-numbers)
            expected.header.stamp = Time(sec=k, nanosec=7)
            assert heard[-1] == arrived(expected)


@pytest.mark.ros
def test_repeated_status_changes_only_its_stamp(heard):
    output, model = StatusOutput(NODE), Data(robot=Data(name='arm'))
    plain = TickReport(np.zeros(1), np.zeros(1), Data(chains=()))
    said = {
        'CONVERGED: no goal and no loop': plain,
        'CONVERGED: no goal and no loop; goal hand is stale': dataclasses.replace(
            plain, notes=('goal hand is stale',)
        ),
        'not solved: paused': dataclasses.replace(plain, solution=None, held='paused'),
        'not solved: closing pin': dataclasses.replace(plain, solution=None, held='closing pin'),
    }
    for text, each in said.items():
        for sec in range(4):
            output.publish(each, model, Time(sec=sec))
            (status,) = heard[-1].status
            assert (status.message, status.hardware_id) == (text, 'arm')
            assert heard[-1].header.stamp.sec == sec
    model.robot.name = 'leg'
    output.publish(each, model, Time())
    assert heard[-1].status[0].hardware_id == 'leg'
