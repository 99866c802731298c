"""The reasons that docs/tuning.md gives for each option are true."""

import re

import ik_node as ik
import pytest

STRAIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def robot_of(repository):
    """Return a function that loads one of the robots in the checkout."""
    return lambda path: ik.load_robot(repository / path)


@pytest.fixture
def arm(robot_of):
    """Provide a six-joint arm in the middle of its workspace."""
    robot = robot_of('docs/robots/arm6.urdf')
    robot.q = (0.3, 0.4, 0.6, 0.2, 0.5, 0.1)
    return robot


@pytest.fixture
def fivebar(robot_of):
    """Provide the five-bar and a distant, reachable goal for its tool."""
    robot = robot_of('urdf/fivebar.urdf')
    robot.add_goal('tool_link', name='tool', dof='X Y')
    place = robot.forward(robot.q, 'tool_link')[:3, 3] + (0.08, -0.05, 0.0)
    return robot, {'tool': (place, STRAIGHT)}


def solved(robot, goals, q0=None, **options):
    """Solve once from the robot's values."""
    solver = ik.Solver(robot, ik.SolverOptions(**{'restarts': 0, **options}))
    return solver.solve_pose(goals, q0=q0)


def test_second_column_names_parameters_topics_and_services(repository):
    """The page names existing parameters, topics and services."""
    from ik_node.ros.parameters.parameter_table import parameter_table

    text = (repository / 'docs' / 'tuning.md').read_text()
    rows = [row.split('|')[2] for row in text.splitlines() if re.match(r'\| (?!you see)', row)]
    assert len(rows) == 17
    named = {name for row in rows for name in re.findall(r'`([\w.<>]+)(?::[^`]*)?`', row)}
    closure_keys = {'tolerance', 'dof'}
    assert named - closure_keys <= {spec.name for spec in parameter_table()}


def test_factors_shift_error_between_position_and_orientation(arm):
    """Each factor reduces the error of its own kind."""
    goal = {'hand': ((0.9, 0.2, 0.9), (0.7, 0.0, 0.0, 0.714))}
    plain = solved(arm, goal).goal_errors['hand']
    position = solved(arm, goal, translation_factor=10.0).goal_errors['hand']
    orientation = solved(arm, goal, rotation_factor=10.0).goal_errors['hand']
    assert position.position < 0.7 * plain.position
    assert orientation.orientation < 0.1 * plain.orientation
