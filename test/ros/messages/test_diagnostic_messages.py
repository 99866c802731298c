# flake8: noqa: E402, I100
"""Rows become messages, written over from one time to the next."""

import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from ik_node.ros.messages.status_row import ERROR, fill_diagnostics, OK, StatusRow, WARN
from rclpy.serialization import deserialize_message, serialize_message

FEW = [StatusRow(OK, 'node: hand', 'CONVERGED', {'starts': '1'})]
MANY = [
    StatusRow(ERROR, 'node: left', 'DIVERGED', {'starts': '2', 'iterations': '30'}),
    StatusRow(WARN, 'node: right', 'STALLED'),
]


def pairs(status):
    """Return the labels and values of a status."""
    return [(pair.key, pair.value) for pair in status.values]


def told(message):
    """Return what a subscriber reads out of a message."""
    read = deserialize_message(serialize_message(message), DiagnosticArray)
    return read.header.stamp.sec, [
        (each.level, each.name, each.message, each.hardware_id, pairs(each))
        for each in read.status
    ]


def test_one_status_a_row():
    """Everything of a row is in its status."""
    message = DiagnosticArray()
    fill_diagnostics(message, MANY, Time(sec=5), 'arm')
    assert told(message) == (
        5,
        [
            (
                DiagnosticStatus.ERROR,
                'node: left',
                'DIVERGED',
                'arm',
                [('starts', '2'), ('iterations', '30')],
            ),
            (DiagnosticStatus.WARN, 'node: right', 'STALLED', 'arm', []),
        ],
    )


def test_nothing_is_left_of_the_message_before():
    """More rows and values, then fewer again: each message says only what it was given."""
    message = DiagnosticArray()
    for sec, rows in enumerate((FEW, MANY, FEW, [], MANY)):
        fill_diagnostics(message, rows, Time(sec=sec), 'arm')
        fresh = DiagnosticArray()
        fill_diagnostics(fresh, rows, Time(sec=sec), 'arm')
        assert told(message) == told(fresh)


def test_what_is_there_is_used_again():
    """Messages of one shape are the same objects: to make them takes far longer."""
    message = DiagnosticArray()
    fill_diagnostics(message, FEW, Time(), 'arm')
    pair = message.status[0].values[0]
    fill_diagnostics(message, FEW, Time(), 'arm')
    assert message.status[0].values[0] is pair
