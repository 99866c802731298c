"""From tick to tick: what goes out is checked, velocities are differences, jumps are windows."""

from types import SimpleNamespace as Data

from ik_node.errors import ShapeError
from ik_node.model.revision import Revision
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.loading.loaded_model import LoadedModel, ModelRequest
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Status
import numpy as np
import pytest

CLOSED = {'loop': Data(position=1e-9, orientation=1e-9)}


class SolverDouble:
    """Answers what it is told to, remembers what it was asked."""

    has_preferences = True
    revision = Revision()

    def __init__(self):
        self.answer = np.zeros(2)
        self.errors = CLOSED
        self.asked = []

    def drive(self, values, q0, steps):
        self.wanted = dict(values)
        closed = {name: Data(position=0.0, orientation=0.0) for name in CLOSED}
        return Data(
            q=self.driven, status=Status.CONVERGED, closure_errors=closed, active_limits=()
        )

    def solve_pose(self, goals, q0, max_step=None):
        self.asked.append((dict(goals), q0.copy(), max_step))
        if isinstance(self.answer, Exception):
            raise self.answer
        return Data(q=self.answer, status=Status.CONVERGED, closure_errors=self.errors)


def model(solver=None, names=('a', 'b'), text='one', start=(0.1, 0.2)):
    """Return a model of two joints within [-1, 1] and 2 rad/s at most."""
    request = ModelRequest(text, '', (), Settings.from_values({}).options)
    return LoadedModel(
        request=request,
        robot=Data(collisions=Data(in_use=False)),
        solver=solver or SolverDouble(),
        offsets={},
        q_start=np.array(start),
        joint_names=tuple(names),
        lower=np.full(2, -1.0),
        upper=np.full(2, 1.0),
        max_velocity=np.array([2.0, np.inf]),
    )


@pytest.fixture
def solver():
    return SolverDouble()


@pytest.mark.parametrize(
    ('own', 'other', 'held'), [('+', '-', True), ('+', '+', False), ('0', '-', False)]
)
def test_solution_in_another_mode_is_held_back_if_wanted(solver, own, other, held):
    """A singular configuration has no mode that it could leave."""
    solver.modes = lambda: Data(labels=lambda q: np.array([own, other]))
    solver.answer = np.array((0.3, 0.3))
    tracker = Tracker(model(solver))
    report = tracker.tick({}, None, Settings.from_values({'stay_in_mode': True}), 0.0)
    assert (f'from mode {own} to {other}' in report.held) == held
    np.testing.assert_allclose(report.q, (0.1, 0.2) if held else (0.3, 0.3))
    solver.modes = None
    tracker.tick({}, None, Settings.from_values({}), 1.0)


@pytest.fixture
def tracker(solver):
    return Tracker(model(solver))


def tick(tracker, now, start=None, **values):
    return tracker.tick({}, start, Settings.from_values(values), now)


@pytest.mark.parametrize(
    ('answer', 'errors', 'words'),
    [
        (np.array([np.nan, 0.0]), CLOSED, 'joint a = nan is outside'),
        (np.array([0.0, np.inf]), CLOSED, 'joint b = inf is outside'),
        (np.array([0.0, 1.1]), CLOSED, r'joint b = 1.1 is outside \[-1, 1\]'),
        (
            np.zeros(2),
            {'pin': Data(position=1e-3, orientation=0.0)},
            'loop pin is open by 0.001 m',
        ),
        (np.zeros(2), {'pin': Data(position=np.nan, orientation=0.0)}, 'loop pin is open'),
        (ShapeError('q', 'finite', 'nan'), CLOSED, 'q: expected finite'),
    ],
)
def test_bad_solution_is_rejected_and_the_last_one_held(tracker, solver, answer, errors, words):
    good = np.array([0.3, 0.3])
    solver.answer = good
    tick(tracker, 1.0)
    solver.answer, solver.errors = answer, errors
    report = tick(tracker, 2.0)
    assert report.q.tolist() == [0.3, 0.3]
    assert report.velocity.tolist() == [0.0, 0.0]
    assert not report.converged
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(report.held)
    solver.answer, solver.errors = good, CLOSED
    assert tick(tracker, 3.0).converged


STANDING = {'hand': ((0.1, 0.2, 0.3), (0.0, 0.0, 0.0, 1.0))}
MOVED = {'hand': ((0.1, 0.2, 0.4), (0.0, 0.0, 0.0, 1.0))}


def settle(tracker, settings):
    for now in (1.0, 2.0):
        tracker.tick(STANDING, None, settings, now)


def test_unchanged_goal_is_not_solved_again(tracker, solver):
    """Once the solution stays the same, it is reported at rest without a solve."""
    settings = Settings.from_values({})
    settle(tracker, settings)
    for now in (3.0, 4.0):
        report = tracker.tick(dict(STANDING), None, settings, now, ('note',))
        assert report.q.tolist() == [0.0, 0.0]
        assert report.velocity.tolist() == [0.0, 0.0]
        assert report.converged
        assert (report.goals, report.notes) == (STANDING, ('note',))
    assert len(solver.asked) == 2
    solver.answer = np.array([0.5, 0.0])
    assert tracker.tick(MOVED, None, settings, 4.5).velocity.tolist() == [1.0, 0.0]


def test_converged_goal_without_joint_targets_is_not_solved_again(tracker, solver):
    solver.has_preferences, solver.answer = False, np.array([0.5, 0.0])
    settings = Settings.from_values({})
    found = [tracker.tick(STANDING, None, settings, now) for now in (1.0, 2.0, 3.0)]
    assert len(solver.asked) == 1
    assert [report.q.tolist() for report in found] == [[0.5, 0.0]] * 3
    assert all(report.converged for report in found)
    assert found[-1].velocity.tolist() == [0.0, 0.0]
    # The other methods promise nothing of the kind.
    other, solver.answer = Settings.from_values({'solver.method': 'ccd'}), np.array([0.2, 0.0])
    for now in (4.0, 5.0, 6.0):
        tracker.tick(STANDING, None, other, now)
    assert len(solver.asked) == 3


def test_changed_input_is_solved_again(tracker, solver):
    """Another goal, other parameters or a measured start lead to a new solve."""
    settings = Settings.from_values({})
    settle(tracker, settings)
    other = Settings.from_values({'solver.damping_factor': 0.5})
    tracker.tick(STANDING, None, other, 3.0)
    tracker.tick(STANDING, tracker.q, other, 4.0)
    tracker.tick(MOVED, None, other, 5.0)
    assert len(solver.asked) == 5
