"""What statuses and joint states say, and how messages are written over."""

import dataclasses
import re
from types import SimpleNamespace as Data

from ik_node.ros.messages import ERROR, OK, WARN
from ik_node.ros.outputs import model_row, rate_row, solve_rows, TickReport
from ik_node.ros.process import NodeCounts
from ik_node.solver import Status
import numpy as np
import pytest


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
    rows = solve_rows(report(Status.CONVERGED, Status.STALLED))
    assert [(row.level, row.name) for row in rows] == [(OK, 'goal0'), (WARN, 'goal1')]
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
    (row,) = solve_rows(dataclasses.replace(report(status), **more))
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
    row = model_row(model, refused, False)
    assert row.level == level
    assert re.search(words, row.message)


def test_rate_row_warns_when_one_tick_in_twenty_is_missing():
    """It says how late they were; a count of one second is inexact by one."""
    counts = NodeCounts(ticks=7, missed_ticks=2)
    for begin in (10.0, 10.01, 10.06, 10.07):
        counts.add_tick(0.001, 0.01, begin)
    for rate, wanted in ((99.0, 100.0), (94.0, 100.0), (9.0, 10.0), (1.0, 1.0), (0.6, 1.0)):
        assert rate_row(rate, wanted, counts).level == OK
    for rate, wanted in ((90.0, 100.0), (74.0, 200.0), (110.0, 500.0), (8.0, 10.0)):
        row = rate_row(rate, wanted, counts)
        assert row.level == WARN
        assert 'ticks are late, by up to 0.05 s between two' in row.message
    assert row.values['missed_ticks'] == '2'
    assert row.values['longest_interval'] == '0.05'


# -- messages that are written over are those that would have been made anew
