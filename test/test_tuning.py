"""The reasons that docs/tuning.md gives for each option are true."""

import re

import ik_node as ik
from ik_node.model.rotation import matrix_to_quat
import numpy as np
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
def loose_arm(arm):
    """Provide the arm with a goal that leaves three degrees of freedom, and its position."""
    arm.add_goal('hand', name='hand', dof='X Y Z')
    return arm, {'hand': (arm.forward(arm.q, 'hand')[:3, 3], STRAIGHT)}


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


def test_restarts_reach_all_of_40_poses(arm):
    """The first start reaches 28 of them."""
    arm.q = np.zeros(6)
    random = np.random.default_rng(0)
    found = {0: 0, 50: 0}
    for _ in range(40):
        pose = arm.forward(random.uniform(arm.lower, arm.upper), 'hand')
        goal = {'hand': (pose[:3, 3], matrix_to_quat(pose))}
        for restarts in found:
            found[restarts] += solved(arm, goal, restarts=restarts).status is ik.Status.CONVERGED
    assert found[50] == 40
    assert found[0] == pytest.approx(28, abs=4)


def test_max_joint_velocity_limits_motion_towards_distant_goal(repository, fivebar):
    """The status reports that the robot is under way."""
    from ik_node.ros.control.tracker import Tracker
    from ik_node.ros.loading.load_model import load_model
    from ik_node.ros.loading.loaded_model import ModelRequest
    from ik_node.ros.parameters.settings import Settings

    given = {'goal_names': ['tool'], 'goals.tool.link': 'tool_link', 'goals.tool.dof': 'X Y'}
    settings = Settings.from_values({**given, 'max_joint_velocity': 0.5})
    text = (repository / 'urdf' / 'fivebar.urdf').read_text()
    model = load_model(ModelRequest.of(text, settings))
    tracker = Tracker(model)
    place, straight = fivebar[1]['tool']
    goals = {'tool': (tuple(place.tolist()), straight)}
    steps, reports = [], []
    before = tracker.tick({}, None, settings, 0.0).q
    for tick in range(1, 40):
        reports.append(tracker.tick(goals, None, settings, tick * settings.period))
        steps.append(np.abs(reports[-1].q - before) / (settings.period * model.max_velocity))
        before = reports[-1].q
    assert 0.4 < np.max(steps) <= 0.5 + 1e-6
    assert not reports[0].converged
    assert reports[-1].converged
    free = Tracker(model)
    leap = free.tick(goals, None, Settings.from_values(given), 1.0).q
    assert np.abs(leap - model.q_start).max() > 0.5


def test_factors_shift_error_between_position_and_orientation(arm):
    """Each factor reduces the error of its own kind."""
    goal = {'hand': ((0.9, 0.2, 0.9), (0.7, 0.0, 0.0, 0.714))}
    plain = solved(arm, goal).goal_errors['hand']
    position = solved(arm, goal, translation_factor=10.0).goal_errors['hand']
    orientation = solved(arm, goal, rotation_factor=10.0).goal_errors['hand']
    assert position.position < 0.7 * plain.position
    assert orientation.orientation < 0.1 * plain.orientation


@pytest.mark.parametrize(('first', 'how'), [('body', 'priority'), ('foot', 'weight')])
def test_priority_and_weight_resolve_contradicting_goals(robot_of, first, how):
    """Priority meets one goal; weights distribute the error."""
    robot = robot_of('urdf/walker.urdf')
    robot.closures['front_left_contact'].enabled = False
    links = {'body': 'body_link', 'foot': 'front_left_foot_link'}
    goals = {}
    for name, step in {'body': (-0.12, 0.0, 0.0), 'foot': (0.1, 0.0, 0.02)}.items():
        goal = robot.add_goal(links[name], name=name, dof='X Y Z')
        goals[name] = (robot.forward(robot.q, links[name])[:3, 3] + step, STRAIGHT)
        if how == 'priority':
            goal.priority = int(name != first)
        else:
            goal.weight = 10.0 if name == first else 1.0
    solution = solved(robot, goals)
    (second,) = {*goals} - {first}
    off = {name: error.position for name, error in solution.goal_errors.items()}
    assert off[second] > 1e-3
    assert off[first] < 1e-6 if how == 'priority' else 1e-6 < off[first] < 0.1 * off[second]
    assert max(error.position for error in solution.closure_errors.values()) < 1e-6


def test_compromise_needs_few_steps_a_tick(robot_of):
    """Goals that conflict move a little from tick to tick."""
    robot = robot_of('urdf/walker.urdf')
    links = ('body_link', 'front_left_foot_link', 'front_right_foot_link')
    for link in links:
        robot.add_goal(link, name=link, dof='X Y Z')
    here = {link: robot.forward(robot.q, link)[:3, 3] for link in links}
    steps: dict[bool, list[int]] = {False: [], True: []}
    for compromise, counted in steps.items():
        solver = ik.Solver(robot, ik.SolverOptions(restarts=0, compromise=compromise))
        q = robot.q
        for tick in range(40):
            aside = 0.03 + 0.03 * np.sin(0.1 * tick)
            way = {links[0]: (-aside, 0, 0), links[1]: (aside, 0, 0.02), links[2]: (0, aside, 0)}
            solution = solver.solve_pose(
                {link: (here[link] + step, STRAIGHT) for link, step in way.items()}, q
            )
            q = solution.q
            counted.append(solution.iterations)
    assert np.median(steps[True]) <= 3
    assert np.median(steps[True]) < 0.5 * np.median(steps[False])


def test_gap_from_rounding_counts_as_closed(repository):
    """A pin 20 um out of its plane counts as closed, and its gap is reported."""
    text = (repository / 'urdf' / 'fivebar.urdf').read_text()
    robot = ik.load_robot(text.replace('xyz="0.24 0 0.012"', 'xyz="0.24 0 0.01202"'))
    assert robot.assembly.closure_errors['pin'].position == pytest.approx(2e-5)
    assert robot.assembly.status is ik.Status.CONVERGED
    assert int(robot.mobility) == 2


@pytest.mark.parametrize('cure', ['tolerance="3e-2" type="revolute"', 'dof="X Y"'])
def test_gap_beyond_rounding_stays_open_unless_allowed(repository, cure):
    """A larger tolerance or fewer axes close a gap of 20 mm."""
    text = (repository / 'urdf' / 'fivebar.urdf').read_text()
    opened = text.replace('xyz="0.24 0 0.012"', 'xyz="0.24 0 0.032"')
    robot = ik.load_robot(opened)
    assert robot.assembly.closure_errors['pin'].position == pytest.approx(0.02)
    assert robot.assembly.status is ik.Status.STALLED
    cured = ik.load_robot(opened.replace('name="pin" type="revolute"', f'name="pin" {cure}'))
    assert cured.assembly.status is ik.Status.CONVERGED


def test_sensor_noise_moves_only_free_joints(loose_arm, fivebar):
    """It moves a redundant arm, but not with a rest pose, and not a five-bar."""
    random = np.random.default_rng(1)

    def trembling(robot, goal, still):
        met = solved(robot, goal).q
        noise = random.normal(0.0, 1e-3, (20, len(met)))
        answers = np.array([solved(robot, goal, q0=met + each).q for each in noise])
        assert np.ptp([solved(robot, goal, q0=met).q for _ in range(3)], axis=0).max() < 1e-9
        return np.ptp(answers, axis=0).max() < still

    arm, goal = loose_arm
    assert not trembling(arm, goal, 1e-3)
    for joint in arm.joints.values():
        if joint.dof:
            joint.set_rest_pose_values(float(joint.dof_values[joint.dof[0]]))
            joint.rest_pose_set = True
    assert trembling(arm, goal, 1e-4)
    assert trembling(*fivebar, 1e-5)


def test_looser_threshold_saves_one_step(fivebar):
    """Loops become as loose as goals."""
    robot, goal = fivebar
    tight = solved(robot, goal)
    loose = solved(robot, goal, translation_converge_threshold=1e-3)
    assert tight.status is loose.status is ik.Status.CONVERGED
    assert tight.iterations - loose.iterations == 1
    assert loose.closure_errors['pin'].position > 1e-6 > tight.closure_errors['pin'].position
