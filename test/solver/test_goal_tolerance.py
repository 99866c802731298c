"""A tolerance shapes the search: what is inside it costs nothing if a goal has no exact answer."""

from math import pi

import ik_node as ik
from ik_node.errors import OptionError, ShapeError
from ik_node.model.constraint import Goal
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

ROWS = [(0.3, 0, pi / 2, 0), (0, 0.35, 0, 0.6), (0, 0.3, 0, -0.8), (0, 0, pi / 2, 0.5)]
ROWS += [(0.15, 0, 0, 0)]
WIDE = (0.001, 0.3)


def arm(tolerance, rows=ROWS, **goal):
    """Return an arm of five axes and the goal of its hand."""
    robot = ik.from_dh(rows, limits=[(-2.6, 2.6)] * len(rows))
    robot.add_goal(f'link{len(rows)}', name='hand', tolerance=tolerance, **goal)
    return robot


def pose_of(robot, q, move=(0, 0, 0), turn=(0, 0, 0)):
    """Return the hand's pose at q, moved [m] and turned [rad] in root axes."""
    there = robot.forward(np.asarray(q), list(robot.links)[-1])
    turned = Rotation.from_rotvec(turn) * Rotation.from_matrix(there[:3, :3])
    return there[:3, 3] + move, turned.as_quat()


def off(robot, q, pose):
    """Return position [m] and rotation vector [rad] of the hand beside a pose, root axes."""
    there = robot.forward(q, list(robot.links)[-1])
    turn = Rotation.from_matrix(there[:3, :3]) * Rotation.from_quat(pose[1]).inv()
    return np.concatenate((there[:3, 3] - pose[0], turn.as_rotvec()))


BENT = (0.3, 0.7, -0.9, 0.4, 0.2)
TURNED = (0.1, 0.2, 0.1)


def forms(robot, pose):
    """Yield the answer to a pose from every call that takes poses."""
    solver = ik.Solver(robot)
    position, quat = pose
    yield 'solve_pose', solver.solve_pose({'hand': pose})
    yield 'prepare', solver.prepare(['hand'])(position, quat)
    goal = robot.goals['hand']
    goal.set_position(*position)
    goal.set_quaternion(*quat)
    home = robot.q.copy()
    yield 'solve', solver.solve()[0]
    robot.q = home


def test_every_call_meets_pose_within_its_tolerance():
    """solve_pose, a prepared call, solve with objects, a batch and a path."""
    robot = arm(WIDE)
    pose = pose_of(robot, BENT, turn=TURNED)
    for name, answer in forms(robot, pose):
        assert answer.status is Status.CONVERGED, name
        error = answer.goal_errors['hand']
        assert error.position <= 1e-3, name
        assert 1e-3 < error.orientation <= 0.3, name
    solver = ik.Solver(robot)
    batch = solver.solve_batch({'hand': (pose[0][None], pose[1][None])})
    assert batch.status[0] == Status.CONVERGED
    path = solver.solve_path({'hand': (np.array([pose[0]] * 3), np.array([pose[1]] * 3))})
    assert (np.asarray(path.status) == Status.CONVERGED).all()


def test_each_axis_is_within_its_own_tolerance():
    """CONVERGED needs every component inside, not their norm."""
    most = (1e-3, 1e-3, 0.05, 0.4, 0.01, 0.4)
    robot = arm(most)
    pose = pose_of(robot, BENT, (0.0005, -0.0005, 0.03), (0.2, 0.005, -0.2))
    solution = ik.Solver(robot).solve_pose({'hand': pose})
    assert solution.converged
    assert (np.abs(off(robot, solution.q, pose)) <= np.array(most) * (1 + 1e-9)).all()


def test_unreachable_goal_spends_its_tolerance_first():
    """Out of reach by 5 cm, the hand turns as far as it may to come nearer."""
    rows = [(0, 0.5, 0, 0), (0, 0.4, 0, 0.3), (0, 0.2, 0, 0.3)]
    pose = ((0.0, 1.15, 0.0), Rotation.from_rotvec((0, 0, pi / 2 + 0.6)).as_quat())
    answers = {}
    for most in (None, (1e-3, 0.3)):
        robot = arm(most, rows)
        answers[most] = ik.Solver(robot).solve_pose({'hand': pose}).goal_errors['hand']
    strict, wide = answers.values()
    assert wide.position < strict.position
    assert wide.orientation > 0.29


def test_tolerance_has_one_number_two_or_one_for_each_axis():
    """It reads back as None, two numbers or six."""
    for given, dof, kept in [
        (0.1, 'X Y Z EX EY EZ', (0.1, 0.1)),
        ((0.1, 0.2), 'X Y', (0.1, 0.2)),
        ((0.1, 0.2, 0.3), 'X Y Z', (0.1, 0.2, 0.3, 0.1, 0.1, 0.1)),
        ((0.3, 0.2, 0.1), 'X Z EY', (0.3, 0.1, 0.2, 0.1, 0.1, 0.1)),
        (np.arange(1.0, 7.0), 'X Y Z EX EY EZ', (1, 2, 3, 4, 5, 6)),
        ((1, 2, 3, 4, 5, 6), 'Y EZ', (1, 2, 3, 4, 5, 6)),
        (None, 'X', None),
    ]:
        goal = Goal('hand')
        goal.set_dof(*dof.split())
        goal.tolerance = given
        assert goal.tolerance == kept
        goal.tolerance = goal.tolerance
        assert goal.tolerance == kept


def test_other_counts_and_negative_numbers_are_refused():
    """The error names the counts that fit."""
    goal = Goal('hand')
    with pytest.raises(ShapeError, match='6, one for each axis'):
        goal.tolerance = (1, 2, 3)
    with pytest.raises(OptionError):
        goal.tolerance = (1, 2, 3, 4, 5, -6)
    goal.kind = 'distance'
    with pytest.raises(ShapeError):
        goal.tolerance = (1, 2, 3, 4, 5, 6)


def test_tolerance_of_closure_by_axis_is_read_and_written(repository):
    """From YAML to a URDF and back; the gap along the free axis of the tolerance is allowed."""
    urdf = (repository / 'urdf' / 'delta.urdf').read_text()
    robot = ik.load_robot(urdf)
    name, closure = next(iter(robot.closures.items()))
    closure.tolerance = (1e-6, 2e-6, 3e-6)
    kept = closure.tolerance
    again = ik.load_robot(robot.to_urdf())
    assert again.closures[name].tolerance == kept
    by_yaml = ik.load_robot(robot.to_urdf(loops=False), closures=robot.to_closures())
    assert by_yaml.closures[name].tolerance == kept


@pytest.mark.parametrize(
    ('most', 'restarts'), [((0.001, 0.3), 0), ((0.001, 0.001, 0.001, 0.3, 0.3, 0.3), 20)]
)
def test_first_goal_stays_within_tolerance_and_second_uses_what_it_leaves(most, restarts):
    """The elbow's goal is out of reach; it comes nearer than with the hand held exactly."""
    robot = arm(most)
    robot.add_goal('link3', name='elbow', dof='X Y Z', priority=1)
    solver = ik.Solver(robot, SolverOptions(restarts=restarts))
    pose = pose_of(robot, BENT, turn=TURNED)
    goals = {'hand': pose, 'elbow': ((2.0, 0.0, 2.0), (0, 0, 0, 1))}
    solution = solver.solve_pose(goals)
    assert not solution.converged
    residual = off(robot, solution.q, pose)
    if len(most) == 2:
        residual = np.linalg.norm(residual.reshape(2, 3), axis=1)
    assert (np.abs(residual) <= np.array(most) * (1 + 1e-9)).all()
    robot.goals['hand'].tolerance = None
    held = solver.solve_pose(goals)
    assert solution.goal_errors['elbow'].position < held.goal_errors['elbow'].position - 0.01
