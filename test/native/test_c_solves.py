"""Solves through the C interface are those of Python, to the bit."""

from ik_node import gallery, load_robot, Solver, SolverOptions
from ik_node.description.files import description_path
from ik_node.export import export_robot
import numpy as np
import pytest
from support.c_programs import (
    ARGUMENT,
    CHAINS,
    CLOSURES,
    compile_c,
    CONVERGED,
    CRobot,
    GOALS,
    INPUT,
    LINKS,
    run,
    RUNNING,
)
from support.fourbar_urdf import TURNED
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


@pytest.mark.parametrize('name', ['hexapod', 'two_arms', 'coupled', 'walker', 'standing'])
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


def test_prepared_solve_with_unnormalised_quaternions_is_equal():
    """Quaternions of any length are normalised in the same way."""
    m = MECHANISMS['hexapod']()
    solver = m.solver()
    prepared = solver.prepare(list(m.goals))
    robot = CRobot(export_robot(solver, list(m.goals)))
    for q0, poses in random_problems(m, solver, 5):
        longer = [(p, 3.7 * r) for p, r in poses.values()]
        solution = prepared(*(np.array(each) for each in zip(*longer, strict=True)), q0)
        assert_equal(robot, robot.solve(q0, longer), solution)


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


def test_redundant_closures_of_rounded_numbers_are_solved_in_the_same_way():
    """Goals within and out of reach of a four-bar whose loop closes up to rounding only."""
    made = load_robot(TURNED.format(quarter='1.57', half='3.14', kind='hinge'))
    assert made.redundancies
    solver = Solver(made, OPTIONS)
    robot = CRobot(export_robot(solver, ['rocker']))
    for height in (-0.5, 0.0, 0.5):
        pose = (made.forward(made.q, 'rocker')[:3, 3] + [0.0, height, 0.0], (0.0, 0.0, 0.0, 1.0))
        assert_equal(
            robot, robot.solve(made.q, [pose]), solver.solve_pose({'rocker': pose}, made.q)
        )


def test_new_solve_ends_the_one_under_way():
    """A solve that was left after a slice has no effect on the next."""
    m = MECHANISMS['two_arms']()
    solver = m.solver()
    robot = CRobot(export_robot(solver, list(m.goals)))
    (q0, first), (q1, second) = random_problems(m, solver, 2)
    robot.solve(q0, first.values(), 2)
    assert_equal(robot, robot.solve(q1, second.values()), solver.solve_pose(second, q1))


@pytest.mark.parametrize('name', ['hexapod', 'two_arms', 'standing'])
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


@pytest.mark.parametrize('name', ['hexapod', 'gripper', 'palletizer', 'two_arms_one_box'])
def test_c_program_solves_a_file_of_problems_like_python(name, tmp_path):
    """Robots of the gallery, by a C program that links the library, whole and in slices."""
    item = gallery.gallery_item(name)
    robot = load_robot(description_path(item.description))
    for goal, link in item.goals.items():
        robot.add_goal(link, name=goal)
    solver = Solver(robot, OPTIONS)
    (tmp_path / 'robot.ikr').write_bytes(export_robot(solver, list(item.goals), robot.name))
    rng = np.random.default_rng(3)
    starts = robot.q + rng.uniform(-0.05, 0.05, (20, robot.q.size))
    problems, solutions = [], []
    for q0 in starts:
        poses = {}
        for goal, made in robot.goals.items():
            position = np.array(made.position) + rng.uniform(-0.01, 0.01, 3)
            poses[goal] = position, np.array(made.quaternion)
        flat = [np.ravel([pose[k] for pose in poses.values()]) for k in (0, 1)]
        problems.append(np.concatenate([q0, *flat]))
        solutions.append(solver.solve_pose(poses, q0))
    np.array(problems).tofile(tmp_path / 'problems')
    program = compile_c('solve_file', tmp_path)
    for steps in (0, 5):
        run(program, *(tmp_path / n for n in ('robot.ikr', 'problems', 'answers')), steps)
        answers = np.fromfile(tmp_path / 'answers').reshape(len(starts), -1)
        for answer, solution in zip(answers, solutions, strict=True):
            assert answer[:2].tolist() == [solution.status, solution.iterations]
            assert answer[2 : 2 + robot.q.size].tobytes() == solution.q.tobytes()


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
