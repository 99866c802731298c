"""Rows become messages, written over from one time to the next."""

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
    return [(pair.key, pair.value) for pair in status.values]


def told(message):
    read = deserialize_message(serialize_message(message), DiagnosticArray)
    return read.header.stamp.sec, [
        (each.level, each.name, each.message, each.hardware_id, pairs(each))
        for each in read.status
    ]


def test_each_row_becomes_one_status():
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


def test_reused_message_has_only_its_own_rows():
    message = DiagnosticArray()
    for sec, rows in enumerate((FEW, MANY, FEW, [], MANY)):
        fill_diagnostics(message, rows, Time(sec=sec), 'arm')
        fresh = DiagnosticArray()
        fill_diagnostics(fresh, rows, Time(sec=sec), 'arm')
        assert told(message) == told(fresh)
