"""`solve_paths` solves many paths at once, within limits of speed and acceleration."""

from concurrent.futures import ThreadPoolExecutor

from ik_node.errors import OptionError, ShapeError
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS

from .test_path import Case

DT = 0.02
SPEED, GAIN = 1.0, 8.0
UNIT = (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize('name', ['arm7', 'hexapod', 'fivebar'])
@pytest.mark.parametrize('threads', [1, 2])
def test_each_path_is_solved_as_alone(name, threads):
    """To the last bit, for paths of different lengths."""
    case = Case(name)
    goals = [case.circle(), case.line(case.plane[0], 0.3 * case.size, 40), case.circle(7)]
    paths = case.solver.solve_paths(goals, dt=DT, threads=threads)
    assert len(paths) == 3
    assert paths.first.tolist() == [0, 120, 160, 167]
    for path, asked in zip(paths, goals, strict=True):
        alone = case.solver.solve_path(asked, dt=DT)
        np.testing.assert_array_equal(path.q, alone.q)
        np.testing.assert_array_equal(path.times, alone.times)
        np.testing.assert_array_equal(path.iterations, alone.iterations)
        assert path.message == alone.message
    np.testing.assert_array_equal(paths.q, np.concatenate([path.q for path in paths]))


def test_paths_of_equal_length_may_be_one_array():
    """With paths and frames as the first two axes; matrices and single positions likewise."""
    case = Case('arm7')
    each = [case.circle(20), case.line(2, -0.02, 20)]
    positions, quats = (np.stack([path[case.name][k] for path in each]) for k in range(2))
    wanted = case.solver.solve_paths(each)
    np.testing.assert_array_equal(
        case.solver.solve_paths({case.name: (positions, quats)}).q, wanted.q
    )
    case.goal.set_goal_dof('X', 'Y', 'Z')
    loose = Solver(case.roots)
    found = loose.solve_paths({case.name: positions})
    reached = [loose.solve_path({case.name: path}).q for path in positions]
    np.testing.assert_array_equal(found.q, np.concatenate(reached))


def test_each_path_may_have_its_start_and_its_times():
    """Given as rows, and as one sequence for each path."""
    case = Case('arm7')
    near = case.solver.q + 0.05
    goals = [case.circle(12), case.circle(12)]
    times = [np.arange(12) * 1.0, np.arange(12) * 2.0]
    paths = case.solver.solve_paths(goals, np.stack((case.solver.q, near)), times=times)
    for path, start, when in zip(paths, (case.solver.q, near), times, strict=True):
        np.testing.assert_array_equal(path.q, case.solver.solve_path(goals[0], start).q)
        np.testing.assert_array_equal(path.times, when)


@pytest.mark.parametrize('name', ['arm7', 'hexapod'])
def test_speeds_and_accelerations_are_kept_at_given_times(name):
    """Joints lag behind a goal that is too fast, say so, and come to it in the end."""
    case = Case(name)
    count = len(case.solver.joint_names)
    goals = case.circle(60, rounds=2.0)
    still = {
        n: (np.repeat(p[-1:], 120, 0), np.repeat(r[-1:], 120, 0)) for n, (p, r) in goals.items()
    }
    asked = {n: tuple(np.concatenate((goals[n][k], still[n][k])) for k in range(2)) for n in goals}
    free = case.solver.solve_path(asked, dt=DT, max_velocity=np.full(count, np.inf))
    fastest = np.abs(np.diff(free.q, axis=0)).max() / DT
    speed, gain = 0.4 * fastest, 4.0 * fastest
    (path,) = case.solver.solve_paths(
        [asked],
        dt=DT,
        max_velocity=np.full(count, speed),
        max_acceleration=np.full(count, gain),
        keep_times=True,
    )
    np.testing.assert_array_equal(path.times, free.times)
    speeds = np.diff(path.q, axis=0) / DT
    assert np.abs(speeds).max() <= speed * (1.0 + 1e-9)
    calm = ~path.too_fast[2:]
    assert np.abs(np.diff(speeds, axis=0)[calm]).max() <= gain * DT * (1.0 + 1e-6)
    assert path.bounded.any()
    assert not path.converged[:60].all()
    assert path.converged[-1]
    assert 'largest speed or acceleration' in path.message
    for error in path.closure_errors.values():
        assert error.position.max() <= 1e-6


def test_joint_brakes_before_its_limit():
    """It arrives at the limit at rest, with the acceleration that it may have."""
    m = Mechanism('slide')
    m.root('base')
    m.joint('slide', 'base', 'X', limits=(-1.0, 0.5))
    m.tip('end', 'slide_link', (0.1, 0.0, 0.0))
    m.goal('goal', 'end', 'X')
    far = np.tile((5.0, 0.0, 0.0), (120, 1))
    (path,) = m.solver().solve_paths(
        [{'goal': (far, np.tile(UNIT, (120, 1)))}],
        [-0.9],
        dt=DT,
        max_velocity=[SPEED],
        max_acceleration=[GAIN],
        keep_times=True,
        max_step=1.0,
    )
    q = path.q[1:, 0]
    speeds = np.diff(q) / DT
    assert q[-1] == 0.5
    assert np.abs(np.diff(speeds)).max() <= GAIN * DT * (1.0 + 1e-9)


def test_failures_name_path_frames_and_reason():
    """Only the path that leaves the workspace has failures."""
    case = Case('arm7')
    paths = case.solver.solve_paths([case.circle(30), case.line(0, -1.0, 30)])
    assert {at for at, *_ in paths.failures} == {1}
    first, last, reason = paths.failures[0][1:]
    assert 0 < first <= last == 29
    assert case.name in reason
    assert paths.message.startswith('1 of 2 paths not solved; path 1: ')


@pytest.mark.parametrize('threads', [None, 2])
def test_workers_of_an_executor_find_the_same_paths(threads):
    """To the last bit, with reasons and residuals."""
    case = Case('hexapod')
    goals = [case.circle(30), case.line(case.plane[0], 6 * case.size, 40), case.circle(9)] * 3
    seen = []
    with ThreadPoolExecutor(3) as executor:
        spread = case.solver.solve_paths(
            goals, threads=threads, executor=executor, progress=lambda *at: seen.append(at)
        )
    together = case.solver.solve_paths(goals)
    np.testing.assert_array_equal(spread.q, together.q)
    assert spread.failures == together.failures
    assert seen[-1] == (237, 237)
    for one, other in zip(spread, together, strict=True):
        np.testing.assert_array_equal(one.torn, other.torn)
        np.testing.assert_array_equal(one.iterations, other.iterations)
        np.testing.assert_array_equal(one.times, other.times)


def test_progress_counts_frames_and_may_end_the_paths():
    """An exception ends them."""
    case = Case('arm7')
    seen = []
    case.solver.solve_paths([case.circle(50)] * 3, progress=lambda *counts: seen.append(counts))
    assert seen[-1] == (150, 150)

    def stop(done, total):
        raise RuntimeError(f'{done} of {total}')

    with pytest.raises(RuntimeError, match='of 150'):
        case.solver.solve_paths([case.circle(50)] * 3, progress=stop)


BAD = {
    'acceleration without times': ({'max_acceleration': np.ones(7)}, OptionError, 'keep_times'),
    'smoothing without compromise': ({'smoothing': 0.1}, OptionError, 'compromise'),
    'negative smoothing': ({'smoothing': -1.0}, OptionError, 'smoothing'),
    'other count of times': ({'times': [np.arange(3.0)]}, ShapeError, 'times'),
    'falling times': ({'times': np.arange(30.0)[::-1]}, ShapeError, 'times'),
    'starts': ({'q0': np.zeros((3, 7))}, ShapeError, 'q0'),
    'zero acceleration': (
        {'max_acceleration': np.zeros(7), 'keep_times': True},
        ShapeError,
        'max_acceleration',
    ),
}


def test_bad_arguments_of_paths_are_refused():
    """The message names the argument."""
    for words, error, name in BAD.values():
        case = Case('arm7')
        with pytest.raises(error, match=name):
            case.solver.solve_paths([case.circle(30), case.circle(30)], **words)


def test_bad_goals_of_paths_are_refused():
    """Different goals, no frames, no paths, and arrays without the axis of paths."""
    m = MECHANISMS['two_arm_box']()
    case = Case('arm7')
    one = case.circle(5)
    for goals in (
        [one, {}],
        [],
        {case.name: one[case.name]},
        [{case.name: (np.zeros((0, 3)), np.zeros((0, 4)))}],
    ):
        with pytest.raises(ShapeError, match='goals'):
            case.solver.solve_paths(goals)
    assert m.goals


def test_coupled_joints_keep_their_speeds_too():
    """A follower by a polynomial is fastest at the end of its master's range."""
    m = MECHANISMS['coupled']()
    solver, rng = m.solver(), np.random.default_rng(4)
    (goal,) = m.goals
    low, high = solver.limits()
    link = m.goals[goal].child.name
    robot_q = [np.clip(rng.uniform(-0.6, 0.6, len(low)), low, high) for _ in range(2)]
    ends = [m.pose_of(link, solver.joint_names, q) for q in robot_q]
    asked = {
        goal: (np.repeat([p for p, _ in ends], 60, 0), np.repeat([r for _, r in ends], 60, 0))
    }
    speed = 0.5 * np.ones(len(low))
    (path,) = solver.solve_paths([asked], dt=DT, max_velocity=speed, keep_times=True)
    assert path.bounded.any()
    assert np.abs(np.diff(path.q, axis=0)).max() <= 0.5 * DT * (1.0 + 1e-9)
