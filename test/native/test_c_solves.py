"""Solves through the C interface are those of Python, to the bit."""

from ik_node import SolverOptions
from ik_node.export import export_robot
import numpy as np
import pytest
from support.c_programs import (
    ARGUMENT,
    CHAINS,
    CLOSURES,
    CONVERGED,
    CRobot,
    GOALS,
    INPUT,
    LINKS,
    RUNNING,
)
from support.mechanisms import heavy_arm, MECHANISMS
from support.sums import chained, wrist

KINDS = {kind: lambda kind=kind: heavy_arm(kind) for kind in ('look_at', 'centre_of_mass')}
ALL = {**MECHANISMS, **KINDS, 'wrist': wrist, 'chained': chained}
# Enough for every outcome of a solve, without the long searches.
OPTIONS = SolverOptions(restarts=3)


def random_problems(m, solver, count):
    """Return starts and goal poses around the present ones; some are out of reach."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        poses = {}
        for name, goal in m.goals.items():
            turn = np.array(goal.quaternion) + rng.uniform(-0.1, 0.1, 4)
            position = np.array(goal.position) + rng.uniform(-0.1, 0.1, 3)
            poses[name] = position, turn / np.linalg.norm(turn)
        yield solver.q + rng.uniform(-0.1, 0.1, len(solver.joint_names)), poses


def assert_equal(robot, code, solution):
    """Compare an answer of the C interface with a solution."""
    assert code == solution.status
    assert robot.q.tobytes() == solution.q.tobytes()
    counters = (solution.iterations, solution.closing_iterations, solution.starts)
    assert robot.counters == counters
    assert robot.errors(GOALS) == {k: tuple(v) for k, v in solution.goal_errors.items()}
    assert robot.errors(CLOSURES) == {k: tuple(v) for k, v in solution.closure_errors.items()}


def test_c_answers_equal_python_answers_to_the_bit():
    """Configuration, status, steps and residuals, of one chain or several, with followers."""
    for name in ALL:
        m = ALL[name]().go_home()
        solver = m.solver(OPTIONS)
        robot = CRobot(export_robot(solver, list(m.goals)))
        for q0, poses in random_problems(m, solver, 5):
            solution = solver.solve_pose(poses, q0)
            assert_equal(robot, robot.solve(q0, poses.values()), solution)
            assert robot.count(CHAINS) == len(solution.chains)


@pytest.mark.parametrize('name', ['two_arms', 'coupled', 'walker'])
def test_slices_of_steps_do_not_change_the_answer(name):
    """A solve in slices of two steps counts all steps, and ends where a whole one does."""
    m = ALL[name]().go_home()
    solver = m.solver(OPTIONS)
    whole, sliced = (CRobot(export_robot(solver, list(m.goals))) for _ in range(2))
    slices = 0
    for q0, poses in random_problems(m, solver, 3):
        expected = whole.solve(q0, poses.values())
        code = sliced.solve(q0, poses.values(), 2)
        while code == RUNNING:
            slices += 1
            code = sliced.go_on(2)
        assert (code, sliced.counters) == (expected, whole.counters)
        assert sliced.q.tobytes() == whole.q.tobytes()
        assert sliced.go_on(2) == code
    assert slices > 0


def test_solve_without_goals_closes_the_loops_from_the_robots_start():
    """Without q0 the start is that of the export."""
    m = MECHANISMS['fourbar']().go_home()
    solver = m.solver()
    solver.q = solver.q + 0.1
    robot = CRobot(export_robot(solver, ()))
    np.testing.assert_array_equal(robot.values('start'), solver.q)
    assert_equal(robot, robot.solve(None, ()), solver.solve_pose({}))


def test_robot_without_chains_is_clamped_and_its_followers_follow():
    """Nothing is solved, but limits and couplings hold; a value that is not finite is refused."""
    m = MECHANISMS['coupled']()
    m.goals.clear()
    solver = m.solver()
    robot = CRobot(export_robot(solver, ()))
    q0 = np.full(len(solver.joint_names), 9.0)
    assert robot.count(CHAINS) == 0
    assert_equal(robot, robot.solve(q0, ()), solver.solve_pose({}, q0))
    assert robot.solve(np.full(len(q0), np.nan), ()) == INPUT


@pytest.mark.parametrize('name', ['two_arms', 'standing'])
def test_interrupted_solve_ends_soon_with_closed_loops(name):
    """After the call the solve takes a few dozen steps, whatever the restarts."""
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(restarts=1000))
    robot = CRobot(export_robot(solver, list(m.goals)))
    far = [((9.0, 9.0, 9.0), (0.0, 0.0, 0.0, 1.0)) for _ in m.goals]
    assert robot.solve(None, far, 20) == RUNNING
    assert robot.c.ik_node_interrupt(robot.problem) == 0
    assert robot.go_on(300 * robot.count(CHAINS)) in (1, 3)
    assert robot.count(CLOSURES) == len(m.closures)
    assert all(max(error) < 1e-6 for error in robot.errors(CLOSURES).values())


def test_limits_of_a_problem_keep_answers_near_a_configuration_and_joints_where_they_start():
    """Limits wider than the robot's do not count, and bad ones change nothing."""
    robot = CRobot(export_robot(MECHANISMS['arm7']().solver(), ['hand']))
    sought = np.linspace(0.3, 0.9, 7)
    pose = robot.forward(sought)[robot.names(LINKS).index('hand')]
    poses, far = [(pose[:3], pose[3:])], sought + np.linspace(0.6, -0.6, 7)
    assert robot.solve(far, poses) == CONVERGED
    free, nearest = robot.q, np.r_[sought[0], sought[1:] - 0.2]
    assert np.abs(free - sought).max() > 0.2
    assert robot.limits(nearest, np.r_[sought[0], sought[1:] + 0.2]) == 0
    assert robot.solve(np.r_[sought[0], sought[1:] + 0.15], poses) == CONVERGED
    assert robot.q[0] == sought[0]
    assert np.abs(robot.q - sought).max() <= 0.2 + 1e-12
    kept = robot.q
    assert robot.limits(sought, nearest) == ARGUMENT
    assert robot.limits(nearest, sought * np.nan) == ARGUMENT
    assert robot.solve(np.r_[sought[0], sought[1:] + 0.15], poses) == CONVERGED
    np.testing.assert_array_equal(robot.q, kept)
    assert robot.limits(np.full(7, -np.inf), np.full(7, np.inf)) == 0
    assert robot.solve(far, poses) == CONVERGED
    np.testing.assert_array_equal(robot.q, free)
