"""What the statuses say."""

import dataclasses
import re
from types import SimpleNamespace as Data

from ik_node.ros.messages.status_row import ERROR, OK, WARN
from ik_node.ros.outputs.diagnostics import input_row, model_row, rate_row, solve_rows, TickReport
from ik_node.ros.process.node_health import NodeCounts
from ik_node.solver import Status
import numpy as np
import pytest


def solution(*statuses, **more):
    """Return something with the fields of a Solution, one goal and one loop a chain."""
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
    goals = {name: error for chain in chains for name, error in chain.goal_errors.items()}
    closures = {name: error for chain in chains for name, error in chain.closure_errors.items()}
    return Data(
        status=max(statuses, default=Status.CONVERGED),
        chains=chains,
        iterations=3,
        starts=1,
        solve_time=1e-4,
        goal_errors=goals,
        closure_errors=closures,
        active_limits=(),
        message='',
        nearest=None,
        **more,
    )


def report(*statuses, held='', notes=()):
    return TickReport(np.zeros(1), np.zeros(1), solution(*statuses), held, notes)


def test_row_has_the_values_of_its_chain():
    """It has iterations, time, limits, and the residuals of the chain's goals and loops."""
    values = solve_rows('ik', report(Status.CONVERGED, Status.STALLED))[1].values
    assert values == {
        'iterations': '4',
        'starts': '1',
        'solve_time': '0.0001',
        'goal.goal1.position': '0.01',
        'goal.goal1.orientation': '1e-09',
        'closure.loop1.position': '1e-09',
        'closure.loop1.orientation': '0',
        'active_limits': 'elbow',
    }


@pytest.mark.parametrize(
    ('status', 'level'),
    [
        (Status.CONVERGED, OK),
        (Status.STALLED, WARN),
        (Status.TIMEOUT, WARN),
        (Status.DIVERGED, ERROR),
    ],
)
def test_each_status_has_a_level(status, level):
    assert solve_rows('ik', report(status))[0].level == level


def test_rejected_solution_is_not_called_converged():
    """The word CONVERGED is not used for a configuration that is not published."""
    (row,) = solve_rows('ik', report(Status.CONVERGED, held='loop a is open'))
    assert row.level == ERROR
    assert row.message.startswith('STALLED: holding')
    assert 'CONVERGED' not in row.message
    assert 'loop a is open' in row.message


def test_motion_to_a_solution_is_not_converged():
    (row,) = solve_rows('ik', dataclasses.replace(report(Status.CONVERGED), under_way=True))
    assert row.level == WARN
    assert row.message == 'STALLED: moving to the solution at the velocity limits'


def test_notes_raise_the_level_to_warning():
    """Stale input is reported although the solve is good."""
    (row,) = solve_rows('ik', report(Status.CONVERGED, notes=('goal a is stale',)))
    assert row.level == WARN
    assert row.message.startswith('CONVERGED')
    assert 'goal a is stale' in row.message


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
