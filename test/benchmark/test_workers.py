"""Solver processes: the protocol, its failures, and our own worker."""

import json
import os
import subprocess
import sys

import players
from players import Worker
import pytest

PLAYER = """
import sys
from peers.worker import Answer, serve, Unfit

class Player:
    def __init__(self, task, tolerance, options):
        if options.get('unfit'):
            raise Unfit('not for me')
        print('a library says something on stdout')
        self.cases = list(range(5))
    def solve(self, case):
        if case == 3 and OPTIONS.get('raise'):
            raise ZeroDivisionError('at three')
        return case
    def read(self, raw):
        return Answer([raw, 1.0], 2, True)

OPTIONS = {}
serve(Player, '1.2.3')
"""


@pytest.fixture
def worker_of(tmp_path, monkeypatch):
    made = []

    def start(**options):
        script = tmp_path / f'player{len(made)}.py'
        script.write_text(PLAYER.replace('OPTIONS = {}', f'OPTIONS = {options!r}'))
        monkeypatch.setenv('PYTHONPATH', str(players.HERE))
        monkeypatch.setattr(players, 'command_of', lambda solver: [sys.executable, str(script)])
        monkeypatch.setattr(players, 'PEER_VENVS', tmp_path)
        # Like ours it keeps its environment.
        made.append(Worker('ours'))
        return made[-1]

    yield start
    for worker in made:
        worker.close()


def load(worker, **options):
    return worker.ask(do='load', task={}, tolerance=1e-6, options=options)


def test_pass_returns_time_and_answer_of_every_problem(worker_of):
    worker = worker_of()
    assert (worker.version, worker.trouble) == ('1.2.3', '')
    assert load(worker) == {'seat': 0}
    assert load(worker) == {'seat': 1}
    reply = worker.ask(do='pass', seat=1, seconds=9.0)
    assert reply['q'] == [[case, 1.0] for case in range(5)]
    assert reply['iterations'] == [2] * 5
    assert reply['claims'] == [True] * 5
    assert all(time > 0.0 for time in reply['times'])
    assert len(worker.ask(do='pass', seat=0, seconds=0.0)['times']) == 1
    assert worker.ask(do='forget') == {}
    assert load(worker) == {'seat': 0}


def test_worker_that_cannot_do_task_reports_reason(worker_of):
    worker = worker_of(**{'raise': True})
    assert load(worker, unfit=True) == {'unfit': 'not for me'}
    load(worker)
    assert worker.ask(do='pass', seat=0, seconds=9.0) == {'unfit': 'ZeroDivisionError: at three'}
    assert not worker.has_ended


@pytest.fixture(scope='module')
def saved(tmp_path_factory):
    """Run our solver on few problems in separate processes, and return the saved file."""
    path = tmp_path_factory.mktemp('bench') / 'run.json'
    words = ['arm6_home', 'fourbar', 'stewart_track', '--peers', '--count', '3', '--rounds', '1']
    command = [sys.executable, str(players.HERE / 'run.py'), *words, '--save', str(path)]
    environment = {**os.environ, 'PYTHONPATH': str(players.HERE.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert 'fourbar_sweep: four-bar' in done.stdout
    return path


def test_run_saves_verified_answers_and_times(saved):
    report = json.loads(saved.read_text())
    assert list(dict.fromkeys(row['task'] for row in report['rows'])) == [
        'arm6_home',
        'fourbar_crank',
        'fourbar_sweep',
        'fourbar_point',
        'stewart_track',
    ]
    for row in report['rows']:
        assert 'unfit' not in row, row
        assert row['solved_1e-6'] == 100.0, row
        assert row['median_us'] > 0.1
        assert row['false_claims'] == 0
    assert 'numpy' in report['machine']
    assert report['versions']['ours'].startswith('0.')
