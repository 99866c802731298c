"""Answers of a solver are verified, timed, compared and plotted."""

import numpy as np
from players import Entry
import pytest
from report import table
from rounds import driven_miss, Entrant, judged, LOOSE, play, row_of, TIGHT
from tasks.arms import panda
from tasks.fourbar import fourbar_tasks
from tasks.task import Form, Task


class Canned:
    """A worker that returns prepared replies."""

    trouble, has_ended = '', False

    def __init__(self, *replies):
        self.replies = list(replies)

    def ask(self, do, **_):
        return self.replies.pop(0) if do == 'pass' else {'carrier': 0}


def arm_form(count=10):
    rng = np.random.default_rng(0)
    arm = panda()
    q = np.array(arm.home_q) + rng.uniform(-0.05, 0.05, (count, 7))
    return Form(arm, [('tool', 'pose')], np.tile(arm.home_q, (count, 1)), q)


def reply_of(q, times=None, claims=True):
    count = len(q)
    times = np.full(count, 1e-5) if times is None else times
    return {
        'times': list(times),
        'q': np.asarray(q).tolist(),
        'iterations': [4] * count,
        'claims': [claims] * count,
    }


def made_row(form, *replies, entry=None):
    """Return the row of an entry with these replies, the first of which is the warm-up."""
    entry = entry or Entry('ours', 'ours', tolerance=1e-6)
    entrant = Entrant(entry, Canned(), form, list(replies))
    return row_of(Task('task', 'about', {'tree': form}), entrant)


def test_answers_are_verified_at_requested_tolerance():
    """1e-5 is right to 1e-4 only; NaN and limit violations are wrong."""
    form = arm_form(4)
    q = form.witness.copy()
    q[1, 0] += 1e-5
    q[2, 3] = np.nan
    q[3, 0] += 2 * np.pi
    reply = reply_of(q)
    assert judged(form, reply, *TIGHT).tolist() == [True, False, False, False]
    assert judged(form, reply, *LOOSE).tolist() == [True, True, False, False]


def test_driven_joint_must_have_its_value():
    """Angles count modulo full turns; a wrong value fails even if loops are closed."""
    form = next(iter(fourbar_tasks(5, 0))).main
    q = form.witness.copy()
    q[0, 0] += 2 * np.pi
    assert driven_miss(form, q).max() < 1e-12
    assert judged(form, reply_of(q), *TIGHT).all()
    assert not judged(form, reply_of(form.starts), *TIGHT).any()


def test_false_convergence_is_counted():
    form = arm_form(3)
    q = form.witness.copy()
    q[0, 0] += 1e-5
    row = made_row(form, reply_of(q), reply_of(q))
    assert row['false_claims'] == 1
    assert row['solved_1e-6'] == pytest.approx(200 / 3)
    loose = Entry('peer', 'peer', tolerance=1e-4)
    assert made_row(form, reply_of(q), reply_of(q), entry=loose)['false_claims'] == 0
    silent = reply_of(q, claims=None)
    assert made_row(form, silent, silent)['false_claims'] == 0


def test_failing_entry_does_not_stop_others():
    form = arm_form(2)
    workers = {
        'good': Canned(*[reply_of(form.witness)] * 3),
        'bad': Canned(reply_of(form.witness), {'unfit': 'fell over'}),
    }
    entries = [Entry('good', 'good'), Entry('bad', 'bad')]
    ticks = []
    task = Task('arm', '', {'tree': form})
    rows = list(play(task, entries, workers.__getitem__, 2, 1.0, ticks.append))
    assert rows[0]['rounds'] == 2
    assert rows[1] == {'task': 'arm', 'label': 'bad', 'unfit': 'fell over'}
    assert len(ticks) == 6
    assert 'without bad: fell over' in table(rows)
