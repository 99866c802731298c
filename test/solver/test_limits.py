"""Answers keep the limits for every status and start, also from starts outside."""

from dataclasses import replace

from ik_node.robot import load_robot
from ik_node.solver import Solver
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def random_goals(mechanism, rng, size):
    """Draw poses of every goal, reachable or not."""
    return {n: (rng.uniform(-size, size, 3), rng.normal(size=4)) for n in mechanism.goals}


def test_limits_hold_after_every_number_of_steps():
    """After 1, 2, 3, ... allowed iterations."""
    for name in ['mixed', 'ball_limited', 'coupled', 'walker', 'two_arm_box']:
        m = MECHANISMS[name]()
        rng = np.random.default_rng(7)
        statuses = set()
        for steps in (1, 2, 3, 5, 8, 13, 40):
            solver = m.solver(SolverOptions(max_iterations=steps, restarts=steps % 2))
            for size in (0.5, 3.0):
                solution = solver.solve_pose(random_goals(m, rng, size))
                there = m.naive(solver.joint_names, solution.q)
                assert there.limit_excess() <= 0.0
                assert there.coupling_gap() <= 1e-12
                statuses.add(solution.status)
        if m.goals:
            assert statuses & {Status.TIMEOUT, Status.STALLED}


def test_minimum_on_bounds_equals_grid_search():
    """The other joints reach the constrained minimum."""
    m = MECHANISMS['planar']()
    for name, bound in (('p1', 0.4), ('p2', 0.5), ('p3', 0.6)):
        m.joints[name].set_limits('EZ', -bound, bound)
    solver = m.solver()
    target = np.array((-0.5, 2.0, 0.0))
    solution = solver.solve_pose({'end_goal': (target, UNIT)})
    grid = np.stack(np.meshgrid(*[np.linspace(-b, b, 41) for b in (0.4, 0.5, 0.6)]), -1)
    angles = np.cumsum(grid.reshape(-1, 3), axis=1)
    ends = np.stack((np.cos(angles).sum(1), np.sin(angles).sum(1)), -1)
    best = np.linalg.norm(ends - target[:2], axis=1).min()
    assert solution.goal_errors['end_goal'].position <= best + 1e-9
    assert solution.active_limits == ('p1', 'p2', 'p3')


@pytest.mark.parametrize('name', ['arm6', 'mixed', 'ball'])
def test_answer_is_never_worse_than_start(name):
    """For any status and number of steps."""
    m = MECHANISMS[name]()
    (goal,) = m.goals.values()
    rng = np.random.default_rng(10)
    for steps in (1, 2, 3, 5, 30):
        solver = m.solver(SolverOptions(max_iterations=steps, restarts=steps % 3))
        for _ in range(5):
            goals = random_goals(m, rng, 1.5)
            start = m.random_q(solver.joint_names, rng)
            found = solver.solve_pose(goals, start).q
            before, after = (
                np.concatenate(m.naive(solver.joint_names, q).residual(goal, goals[goal.name]))
                for q in (start, found)
            )
            assert np.linalg.norm(after) <= np.linalg.norm(before) + 1e-12


OUT = np.radians(3.0)
# A mimic joint whose master is parked outside its limits.
GRIPPER = """
<robot name="gripper">
  <link name="base"/><link name="left"/><link name="right"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="left"/><axis xyz="0 0 1"/>
    <origin xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="b" type="revolute"><parent link="left"/><child link="right"/><axis xyz="0 0 1"/>
    <origin xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
    <mimic joint="a" multiplier="-2"/></joint>
</robot>"""


@pytest.fixture
def arm(repository):
    """Provide the six-axis arm."""
    return load_robot(repository / 'urdf' / 'arm6.urdf')


def outside(robot, count, seed=0):
    """Yield configurations with one value 3 degrees beyond a limit, and the index of the value."""
    random = np.random.default_rng(seed)
    for at in range(count):
        q = random.uniform(robot.lower, robot.upper)
        joint, upper = at % len(q), at // len(q) % 2
        q[joint] = robot.upper[joint] + OUT if upper else robot.lower[joint] - OUT
        yield q, joint


def goal_at(robot, q, link='hand'):
    """Return the pose of a link as a goal."""
    return {link: robot.forward(q, link)}


def tip(robot):
    """Return the last link."""
    return list(robot.links)[-1]


def test_goal_that_is_met_moves_no_joint(arm):
    """One of six joints is 3 degrees beyond its limit, and the goal is the pose of the hand."""
    link = tip(arm)
    solver = Solver(arm)
    for q, _ in outside(arm, 60):
        goal = goal_at(arm, q, link)
        solution = solver.solve_pose(goal, q0=q)
        assert solution.status is Status.CONVERGED
        assert (solution.q == q).all()
        windowed = solver.solve_pose(goal, q0=q, max_step=np.full(len(q), 0.1))
        assert (windowed.q == q).all()
        assert (solver.drive({}, q).q == q).all()
    starts = np.array([q for q, _ in outside(arm, 12)])
    poses = np.array([arm.forward(q, link) for q in starts])
    assert (solver.solve_batch({link: poses}, starts).q == starts).all()


def test_value_never_moves_farther_out(arm):
    """Goals elsewhere are reached with it inside, or between its limit and its start."""
    link, solver, random = tip(arm), Solver(arm), np.random.default_rng(1)
    inwards = 0
    for q, joint in outside(arm, 24):
        goal = goal_at(arm, random.uniform(arm.lower, arm.upper), link)
        for options in (SolverOptions(), SolverOptions(restarts=0), SolverOptions(method='sdls')):
            solver.options = options
            found = solver.solve_pose(goal, q0=q).q
            least, most = np.minimum(arm.lower, q), np.maximum(arm.upper, q)
            assert (least <= found).all()
            assert (found <= most).all()
            inwards += found[joint] != q[joint]
    assert inwards > 40


def test_start_is_clamped_if_the_option_says_so(arm):
    """Then the answer is within the limits, and other joints make up for the one that moved."""
    link, solver = tip(arm), Solver(arm)
    solver.options = replace(SolverOptions(), start_outside='clamp')
    for q, joint in outside(arm, 12):
        for found in (
            solver.solve_pose(goal_at(arm, q, link), q0=q).q,
            solver.drive({}, q).q,
            solver.solve_batch({link: arm.forward(q, link)[None]}, q[None]).q[0],
        ):
            assert (arm.lower <= found).all()
            assert (found <= arm.upper).all()
            assert found[joint] != q[joint]


def test_loops_close_with_a_motor_outside(repository):
    """A leg of the hexapod is 1 mm too long; the others are where they are."""
    robot = load_robot(repository / 'urdf' / 'hexapod.urdf')
    solver = Solver(robot)
    q = robot.q.copy()
    at = robot.joint_names.index('leg0')
    q[at] = robot.upper[at] + 1e-3
    solution = solver.drive({'leg0': float(q[at])}, q)
    assert solution.status is Status.CONVERGED
    assert solution.q[at] == q[at]
    back = solver.drive({'leg0': float(robot.upper[at] - 1e-3)}, solution.q)
    assert back.status is Status.CONVERGED
    farther = solver.drive({'leg0': float(q[at] + 1e-3)}, solution.q)
    assert farther.q[at] == q[at]
    assert farther.status is Status.STALLED


def test_solve_leaves_a_follower_where_its_master_takes_it():
    """Joints hold no value outside their limits, so that the master starts within them, too."""
    robot = load_robot(GRIPPER)
    robot.joints['b'].set_limits('EZ', -1, 1)
    goal = robot.add_goal('right', dof='X Y')
    goal.set_position(*robot.forward(np.array([0.8, -1.6]), 'right')[:3, 3])
    solver = Solver(robot)
    for solve in (solver.solve, solver.step):
        robot.q = {'a': 0.8}
        (result,) = solve()
        assert robot.q[1] == pytest.approx(-2.0 * robot.q[0], abs=1e-15)
        off = robot.forward(robot.q, 'right')[:3, 3] - goal.position
        assert result.goal_errors['right'].position == pytest.approx(np.linalg.norm(off))
