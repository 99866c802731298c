"""`solve_pose` reads and writes no objects, and names bad input."""

from ik_node.errors import ShapeError, UnknownFrameError
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
NAN, INF = float('nan'), float('inf')


@pytest.fixture
def arm():
    """Return a 7R arm, its solver and a reachable pose."""
    m = MECHANISMS['arm7']()
    solver = m.solver()
    q = m.random_q(solver.joint_names, np.random.default_rng(2))
    return m, solver, m.pose_of('hand', solver.joint_names, q)


def state_of(mechanism):
    """Return all state that a solve could change."""
    return [
        (*frame.position, *frame.quaternion, *getattr(frame, 'dof_values', ()))
        for frame in mechanism.naive().frames
    ]


def test_solve_pose_changes_no_object(arm):
    """Nor q0."""
    m, solver, pose = arm
    before, q0 = state_of(m), solver.q
    kept = q0.copy()
    assert solver.solve_pose({'hand_goal': pose}, q0).status is Status.CONVERGED
    assert state_of(m) == before
    np.testing.assert_array_equal(q0, kept)
    solver.solve_pose({'hand_goal': pose})
    assert state_of(m) == before


def test_same_seed_gives_bitwise_same_solution():
    """In one and two solvers, for unreachable goals with restarts."""
    for name in ['hexapod', 'ball']:
        m = MECHANISMS[name]()
        goal = next(iter(m.goals))
        goals = {goal: ((0.9, 0.9, 1.9), UNIT)}
        options = SolverOptions(restarts=5, seed=3)
        first, second = m.solver(options), MECHANISMS[name]().solver(options)
        answers = [solver.solve_pose(goals) for solver in (first, second, first)]
        assert answers[0].starts > 1
        for answer in answers[1:]:
            assert answer.q.tobytes() == answers[0].q.tobytes()
            assert answer.iterations == answers[0].iterations


def test_replaced_options_apply_to_next_solve(arm):
    """That solve is for the given pose."""
    m, solver, pose = arm
    first = solver.solve_pose({'hand_goal': pose})
    solver.options = SolverOptions(seed=1)
    second = solver.solve_pose({'hand_goal': pose})
    there = m.naive(solver.joint_names, second.q)
    assert max(there.error(m.goals['hand_goal'], pose)) <= 1e-6
    np.testing.assert_array_equal(second.q, first.q)
    solver.options = SolverOptions(max_iterations=1, restarts=0)
    assert solver.solve_pose({'hand_goal': pose}).status is Status.TIMEOUT


def test_link_name_as_key_constrains_six_axes(arm):
    """The key is a link name instead of a goal name."""
    m, solver, pose = arm
    solution = solver.solve_pose({'hand': pose})
    assert solution.status is Status.CONVERGED
    there = m.naive(solver.joint_names, solution.q).world(m.links['hand'])
    np.testing.assert_allclose(there[:3, 3], pose[0], atol=1e-6)
    assert set(solution.goal_errors) == {'hand'}


def test_solve_without_goals_closes_loops():
    """Without loops nothing moves."""
    m = MECHANISMS['fivebar']()
    solver = m.solver()
    solution = solver.solve_pose({}, solver.q + np.array((0.1, 0, 0, -0.05)))
    assert solution.status is Status.CONVERGED
    there = m.naive(solver.joint_names, solution.q)
    assert max(there.error(m.closures['close'])) < 1e-6
    nothing = MECHANISMS['arm6']().solver().solve_pose({})
    assert nothing.message == 'CONVERGED: no closure or goal takes part'


def test_unknown_key_error_lists_known_names(arm):
    """Goals and links."""
    _, solver, pose = arm
    with pytest.raises(UnknownFrameError, match=r"no goal or link named 'nose'; known: hand_goal"):
        solver.solve_pose({'nose': pose})
    with pytest.raises(UnknownFrameError, match='nose'):
        solver.prepare(['nose'])


BAD_POSES = {
    'nan': (((NAN, 0, 0), UNIT), "pose of 'hand_goal': expected finite numbers, got .*nan"),
    'inf': (((0, -INF, 0), UNIT), "pose of 'hand_goal': expected finite numbers, got .*inf"),
    'nan turn': (((0, 0, 0), (0, NAN, 0, 1)), 'finite numbers'),
    'no turn': (((0, 0, 0), (0, 0, 0, 0)), "quaternion of 'hand_goal': .*xyzw, got .*zero"),
    'short': (((0, 0), UNIT), r'\(position \(3,\), .*, got shapes \(2,\) and \(4,\)'),
    'text': (('abc', UNIT), "got \\('abc', "),
    'none': ((None, UNIT), r'got \(None, '),
}  # fmt: skip


def test_bad_pose_is_refused_by_goal_name(arm):
    """The solver works afterwards."""
    for case in BAD_POSES:
        _, solver, good = arm
        pose, message = BAD_POSES[case]
        with pytest.raises(ShapeError, match=message):
            solver.solve_pose({'hand_goal': pose})
        assert solver.solve_pose({'hand_goal': good}).status is Status.CONVERGED


def test_bad_start_is_refused(arm):
    """NaN, infinity and wrong shapes; the error names the joint of a NaN."""
    _, solver, pose = arm
    with pytest.raises(ShapeError, match=r'q: expected finite numbers, got .*j3'):
        solver.solve_pose({'hand_goal': pose}, [0, 0, NAN, 0, 0, 0, 0])
    with pytest.raises(ShapeError, match=r'q: expected finite numbers, got .*j4'):
        solver.solve_pose({'hand_goal': pose}, [0, 0, 0, INF, 0, 0, 0])
    with pytest.raises(ShapeError, match=r'q: expected shape \(7,\), got shape \(6,\)'):
        solver.solve_pose({'hand_goal': pose}, np.zeros(6))


def test_scaled_and_negated_quaternion_are_same_pose(arm):
    """Quaternions are normalised."""
    _, solver, (position, quat) = arm
    first = solver.solve_pose({'hand_goal': (position, quat)})
    for factor in (2.0, -1.0, 1e-6):
        other = solver.solve_pose({'hand_goal': (position, factor * quat)})
        np.testing.assert_allclose(other.q, first.q, atol=1e-9)


def test_bad_window_is_refused_by_name(arm):
    """NaN, negative numbers and wrong shapes."""
    for window in [np.full(7, NAN), np.full(7, -0.1), np.zeros(6)]:
        _, solver, pose = arm
        with pytest.raises(ShapeError, match='max_step'):
            solver.solve_pose({'hand_goal': pose}, max_step=window)


def test_window_limits_step_of_each_joint(arm):
    """Relative to q0."""
    _, solver, pose = arm
    q0, window = solver.q, np.linspace(0.0, 0.3, 7)
    solution = solver.solve_pose({'hand_goal': pose}, q0, max_step=window)
    assert (np.abs(solution.q - q0) <= window + 1e-15).all()
    assert np.abs(solution.q - q0).max() > 0.05
    solver.options = SolverOptions(max_joint_step=0.1)
    solution = solver.solve_pose({'hand_goal': pose}, q0)
    assert np.abs(solution.q - q0).max() == pytest.approx(0.1)


def test_joints_outside_chains_move_to_their_targets(arm):
    """Within limits and window."""
    _, solver, _ = arm
    joint, _ = solver.tree.owner[1]
    joint.set_target_values(-0.5)
    assert solver.solve_pose({}).q[1] == -0.5
    window = np.full(len(solver.joint_names), 0.1)
    assert solver.solve_pose({}, max_step=window).q[1] == pytest.approx(solver.q[1] - 0.1)
