"""What the statuses say."""

import dataclasses
import re
from types import SimpleNamespace as Data

from ik_node.ros.messages.status_row import ERROR, OK, WARN
from ik_node.ros.outputs.diagnostics import (
    input_row,
    model_row,
    output_row,
    rate_row,
    residual_labels,
    residual_numbers,
    solve_rows,
)
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.process.node_counts import NodeCounts
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
        **more,
    )


def report(*statuses, held='', notes=()):
    """Return a report on these chains."""
    return TickReport(np.zeros(1), np.zeros(1), solution(*statuses), held, notes)


def test_one_row_a_chain():
    """Each chain says its own status."""
    rows = solve_rows('ik', report(Status.CONVERGED, Status.STALLED))
    assert [row.level for row in rows] == [OK, WARN]
    assert [row.name for row in rows] == ['ik: goal0', 'ik: goal1']
    assert rows[0].message.startswith('CONVERGED')
    assert rows[1].message.startswith('STALLED')
    assert 'CONVERGED' not in rows[1].message


def test_values_of_a_row():
    """Iterations, time, the residuals of the chain's own goals and loops, limits."""
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
def test_levels(status, level):
    """How bad each status is."""
    assert solve_rows('ik', report(status))[0].level == level


def test_an_answer_that_does_not_go_out_is_no_convergence():
    """The word CONVERGED is not used for a configuration that is not published."""
    (row,) = solve_rows('ik', report(Status.CONVERGED, held='loop a is open'))
    assert row.level == ERROR
    assert row.message.startswith('STALLED: holding')
    assert 'CONVERGED' not in row.message
    assert 'loop a is open' in row.message


def test_under_way():
    """On the way to a solution that converged, at the velocity limits: not yet converged."""
    (row,) = solve_rows('ik', dataclasses.replace(report(Status.CONVERGED), under_way=True))
    assert row.level == WARN
    assert row.message == 'STALLED: moving to the solution at the velocity limits'


def test_notes_are_warnings():
    """Stale input is told though the solve is good."""
    (row,) = solve_rows('ik', report(Status.CONVERGED, notes=('goal a is stale',)))
    assert row.level == WARN
    assert row.message.startswith('CONVERGED')
    assert 'goal a is stale' in row.message


def test_without_a_solve():
    """A paused node says why."""
    (row,) = solve_rows('ik', TickReport(np.zeros(1), np.zeros(1), None, 'paused'))
    assert (row.level, row.message) == (WARN, 'not solved: paused')


def test_without_chains():
    """An open robot without a goal has nothing to solve."""
    (row,) = solve_rows('ik', report())
    assert row.level == OK
    assert row.message.startswith('CONVERGED')


def test_residuals():
    """Labels and numbers are in one order: goals, then loops; position, then orientation."""
    both = solution(Status.CONVERGED, Status.CONVERGED)
    assert residual_labels(both) == ('goal0', 'goal1', 'loop0', 'loop1')
    assert residual_numbers(both) == [0.0, 1e-9, 0.01, 1e-9, 1e-9, 0.0, 1e-9, 0.0]


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
def test_model_row(model, refused, level, words):
    """Whether there is a model, and why the last description is not it."""
    row = model_row('ik', model, refused, False)
    assert row.level == level
    assert re.search(words, row.message)


def test_building_is_told():
    """The first model has a message, one beside another model a value."""
    row = model_row('ik', None, '', True)
    assert (row.level, row.message) == (WARN, 'building the first model')
    row = model_row('ik', MODEL, '', True)
    assert (row.level, row.message, row.values['building']) == (OK, 'robot arm', 'true')


def test_released_closures_are_told():
    """By name, and only when there are any."""
    assert 'released' not in model_row('ik', MODEL, '', False).values
    assert model_row('ik', MODEL, '', False, {'b', 'a'}).values['released'] == 'a b'


@pytest.mark.parametrize(
    ('commanding', 'note', 'level', 'message'),
    [
        (False, 'no goal yet', WARN, 'silent: no goal yet'),
        (True, '', OK, 'commanding'),
        (True, 'goal a is stale', WARN, 'commanding: goal a is stale'),
    ],
)
def test_output_row(commanding, note, level, message):
    """Whether hardware is commanded, and what keeps it from following."""
    row = output_row('ik', commanding, note)
    assert (row.level, row.message) == (level, message)


def test_output_row_of_a_joint_that_does_not_follow():
    """An error, also while commands go out."""
    row = output_row('ik', True, '', 'joint a does not follow')
    assert (row.level, row.message) == (ERROR, 'commanding: joint a does not follow')


def test_rate_row():
    """A node that ticks at less than half its rate warns."""
    counts = NodeCounts(ticks=7, missed_ticks=2)
    assert rate_row('ik', 99.0, 100.0, counts).level == OK
    row = rate_row('ik', 40.0, 100.0, counts)
    assert row.level == WARN
    assert row.values['missed_ticks'] == '2'


def test_input_row():
    """New refusals warn, old ones are only counted."""
    row = input_row('ik', {'goals/a': 3}, 'NaN', 1)
    assert (row.level, row.values) == (WARN, {'goals/a': '3', 'last': 'NaN'})
    assert input_row('ik', {'goals/a': 3}, 'NaN', 0).level == OK
