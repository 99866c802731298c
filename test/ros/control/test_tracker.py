"""From tick to tick: what goes out is checked, and an answer is not computed twice."""

from types import SimpleNamespace as Data

from ik_node.errors import ShapeError
from ik_node.solver import Status
import numpy as np
import pytest


class Answers:
    """A five-bar whose solver answers what it is told to; the number of solves is counted."""

    def __init__(self, moving, monkeypatch, **values):
        goals = {'goal_names': ('tool',), 'goals__tool__link': 'tool_link'}
        self.robot = moving('fivebar', **goals, goals__tool__dof='X Y', **values)
        solver, self.count, self.changes = self.robot.model.solver, 0, {}
        solve = solver.solve_pose

        def answer(goals, q0=None, max_step=None):
            self.count += 1
            if isinstance(self.changes, Exception):
                raise self.changes
            found = solve(goals, q0, max_step=max_step)
            honest = {'q': found.q, 'status': Status.CONVERGED}
            return Data(**{**honest, 'closure_errors': found.closure_errors, **self.changes})

        monkeypatch.setattr(solver, 'solve_pose', answer)

    def tick(self):
        return self.robot.tick()[0]


@pytest.fixture
def answers(moving, monkeypatch):
    made = Answers(moving, monkeypatch)
    made.robot.goal('tool', (0.01, 0.0, 0.0))
    return made


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'q': np.array([np.nan, 0.0, 0.0, 0.0])}, 'joint left_shoulder = nan is outside'),
        ({'q': np.array([0.0, np.inf, 0.0, 0.0])}, 'joint left_elbow = inf is outside'),
        ({'q': np.array([0.0, 0.0, 9.0, 0.0])}, 'joint right_shoulder = 9 is outside'),
        ({'closure_errors': {'pin': Data(position=1e-3, orientation=0.0)}}, 'open by 0.001'),
        ({'closure_errors': {'pin': Data(position=np.nan, orientation=0.0)}}, 'pin is open'),
        (ShapeError('q', 'finite', 'nan'), 'q: expected finite'),
    ],
)
def test_bad_solution_is_rejected_and_the_last_one_held(answers, changes, words):
    good = answers.tick()
    answers.robot.goal('tool', (0.0, 0.01, 0.0))
    answers.changes = changes
    report = answers.tick()
    assert report.q.tolist() == good.q.tolist()
    assert report.velocity.tolist() == [0.0] * 4
    assert not report.converged
    assert words in report.held
    # It is tried again.
    answers.changes = {}
    assert answers.tick().converged


@pytest.mark.parametrize(
    ('own', 'other', 'held'), [('+', '-', True), ('+', '+', False), ('0', '-', False)]
)
def test_solution_in_another_mode_is_held_back_if_wanted(answers, monkeypatch, own, other, held):
    """A singular configuration has no mode that it could leave."""
    answers.robot.configure(stay_in_mode=True)
    modes = Data(labels=lambda q: np.array([own, other]))
    monkeypatch.setattr(answers.robot.model.solver, 'modes', lambda: modes)
    assert (f'from mode {own} to {other}' in answers.tick().held) == held


def test_unchanged_goal_is_not_solved_again(answers):
    """The last solution is reported at rest, until a goal or a parameter changes."""
    first = answers.tick()
    for _ in range(3):
        report = answers.tick()
        assert report.q is first.q
        assert report.converged
        assert report.velocity.tolist() == [0.0] * 4
    assert answers.count == 1
    answers.robot.goal('tool', (0.0, 0.01, 0.0))
    answers.tick()
    answers.robot.configure(solver__damping_factor=0.5)
    answers.tick()
    answers.robot.motion.closures.release(answers.robot.model, 'pin')
    answers.tick()
    assert answers.count == 4


def test_drift_to_a_rest_pose_is_solved_until_it_ends(moving, monkeypatch):
    answers = Answers(moving, monkeypatch, rest_pose='{left_shoulder: 0.3}')
    for _ in range(300):
        report = answers.tick()
    assert answers.robot.value('left_shoulder', report.q) == pytest.approx(0.3, abs=1e-2)
    assert 1 < answers.count < 300
