"""Goals whose residual their user writes are solved together with all built-in ones."""

from concurrent.futures import ProcessPoolExecutor
import copy
import pickle

import ik_node as ik
from ik_node.export import export_robot
import numpy as np
import pytest


class Height(ik.UserGoal):
    """The tool is as high as the goal's own frame; the derivatives are left to differences."""

    links = 'tool_link'

    def residual(self, frames):
        """Return the rows."""
        return frames['tool_link'][2, 3] - frames['target'][2, 3]


class Gaze(ik.UserGoal):
    """A camera's z axis points at the goal's own frame, from a distance."""

    links = ('platform_link',)
    units = ('rad', 'm', 'rad')
    distance_to_point = 0.4

    def residual(self, frames):
        """Return the rows."""
        camera = frames['platform_link']
        seen = camera[:3, :3].T @ (frames['target'][:3, 3] - camera[:3, 3])
        length = np.linalg.norm(seen)
        return seen[0] / length, length - self.distance_to_point, seen[1] / length


class Between(ik.UserGoal):
    """The middle of two links is on the z axis of the goal's own frame."""

    def __init__(self, *links):
        super().__init__()
        self.links = links

    def residual(self, frames):
        """Return the rows."""
        left, right = self.links
        middle = 0.5 * (frames[left] + frames[right])[:, 3]
        return (np.linalg.inv(frames['target']) @ middle)[:2]

    def jacobian(self, frames):
        """Return the derivatives."""
        half = 0.5 * np.hstack((frames['target'][:3, :2].T, np.zeros((2, 3))))
        return dict.fromkeys(self.links, half)


def arm(**arguments):
    """Return an arm, a goal for the height of its tool, and a solver."""
    robot = ik.load_robot('arm6')
    goal = robot.add_goal(Height('height'), **arguments)
    goal.set_position(0.0, 0.0, 0.45)
    return robot, goal, ik.Solver(robot)


def place(robot, link='tool_link', q=None):
    """Return the position of a link."""
    return robot.forward(robot.q if q is None else q, link)[:3, 3]


def test_goal_of_user_is_met_together_with_built_in_goals():
    """It is named in results, and its tolerance bounds it."""
    robot, goal, solver = arm(tolerance=1e-9)
    robot.add_goal('tool_link', name='aside', dof='X Y').set_position(0.3, 0.2, 0.0)
    (result,) = solver.solve()
    assert result.converged, result.message
    assert result.goal_errors['height'].position <= 1e-9
    np.testing.assert_allclose(place(robot), (0.3, 0.2, 0.45), atol=1e-6)
    assert abs(goal.get_residual()[0]) <= 1e-9


def test_unreachable_goal_of_user_is_named_with_its_residual():
    """The message names it, and the answer is the nearest: the arm points upwards."""
    robot, goal, solver = arm()
    goal.set_position(0.0, 0.0, 9.0)
    (result,) = solver.solve()
    assert result.status is ik.Status.STALLED
    assert 'height' in result.message
    highest = robot.forward(np.random.default_rng(0).uniform(-2, 2, (500, 6)), 'tool_link')
    assert place(robot)[2] > highest[:, 2, 3].max()


def test_hexapod_keeps_its_loops_closed_and_its_camera_on_a_point():
    """Rows of both units in any order; limits of legs hold."""
    robot = ik.load_robot('hexapod')
    gaze = robot.add_goal(Gaze('gaze'), tolerance=(1e-7, 1e-7))
    gaze.distance_to_point = 0.396
    gaze.set_position(*place(robot, 'platform_link') + np.array((0.02, 0.03, 0.4)))
    (result,) = ik.Solver(robot).solve()
    assert result.converged, result.message
    assert max(max(error) for error in result.closure_errors.values()) < 1e-8
    distance = np.linalg.norm(gaze.position - place(robot, 'platform_link'))
    assert abs(distance - 0.396) < 1e-7
    assert all(
        joint.min_dof_limit[d] <= joint.dof_values[d] <= joint.max_dof_limit[d]
        for joint in robot.joints.values()
        for d in joint.dof
    )


def test_palletizer_keeps_the_middle_of_two_links_on_a_line():
    """With given derivatives, beside a goal for its tool, from random starts."""
    robot = ik.load_robot('palletizer')
    between = robot.add_goal(Between('tool_link', 'fore_link'), tolerance=1e-8)
    height = robot.add_goal('tool_link', dof='Z')
    solver, line = ik.Solver(robot), (0.4, 0.25, 0.0)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q0 = robot.q + rng.uniform(-0.5, 0.5, robot.q.size)
        goals = {'Between': line, 'tool_link': (0.0, 0.0, 0.6)}
        solution = solver.solve_pose(goals, q0)
        assert solution.converged, solution.message
        middle = 0.5 * (
            place(robot, 'tool_link', solution.q) + place(robot, 'fore_link', solution.q)
        )
        np.testing.assert_allclose(middle[:2], line[:2], atol=1e-7)
        assert max(max(error) for error in solution.closure_errors.values()) < 1e-8
    assert height.kind == 'frame'
    assert between.jacobian_error() < 1e-7


def test_batches_paths_and_prepared_calls_equal_single_solves():
    """To the last bit, on two threads and in another process; the target is the goal's pose."""
    robot, _, solver = arm()
    heights = [(0.0, 0.0, 0.02 * k + 0.3) for k in range(6)]
    towards = np.tile((0.3, 0.1, 0.0), (6, 1))
    robot.add_goal('tool_link', name='aside', dof='X Y')
    goals = {'height': heights, 'aside': towards}
    singles = [
        solver.solve_pose({'height': height, 'aside': there})
        for height, there in zip(heights, towards, strict=True)
    ]
    assert all(singles)
    batch = solver.solve_batch(goals, threads=2)
    assert (batch.q == [single.q for single in singles]).all()
    with ProcessPoolExecutor(1) as pool:
        assert (solver.solve_batch(goals, executor=pool).q == batch.q).all()
    robot.goals['height'].set_position(*heights[2])
    own = solver.solve_pose({'height': None, 'aside': towards[2]})
    assert (own.q == singles[2].q).all()
    call = solver.prepare(['height', 'aside'])
    quats = np.tile((0.0, 0.0, 0.0, 1.0), (2, 1))
    prepared = call(np.array((heights[5], towards[5])), quats)
    assert (prepared.q == singles[5].q).all()
    path = solver.solve_path(goals)
    assert path.converged.all()
    np.testing.assert_allclose(
        [place(robot, q=q)[2] for q in path.q], [height[2] for height in heights], atol=1e-6
    )


def test_steps_methods_and_background_solves_take_goals_of_users():
    """Single iterations, methods of the comparison, and a solve in another thread."""
    robot, _, solver = arm()
    for _ in range(50):
        if all(solver.step()):
            break
    assert abs(place(robot)[2] - 0.45) < 1e-6
    for method in ('pseudo_inverse', 'slsqp', 'ccd'):
        robot.q = np.zeros(6)
        options = ik.SolverOptions(method=method, max_iterations=300)
        (result,) = ik.Solver(robot, options).solve()
        assert result.goal_errors['height'].position < 1e-3, (method, result.message)
    robot.q = np.zeros(6)
    numeric = ik.SolverOptions(jacobian='numeric')
    assert all(ik.Solver(robot, numeric).solve())
    robot.q = np.zeros(6)
    with ik.AsyncSolver(robot) as background:
        assert all(background.solve().result(timeout=60.0))


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copied_solver_solves_with_its_own_goal(copied):
    """Nothing of it leads to the goal that it was copied from."""
    _, goal, solver = arm()
    other = copied(solver)
    goal.set_position(0.0, 0.0, 9.0)
    (result,) = other.solve()
    assert result.converged, result.message


class Failing(Height):
    """A goal whose residual fails once it is told to."""

    answer = 0.0

    def residual(self, frames):
        """Return the rows."""
        return self.answer() if callable(self.answer) else self.answer


def raises():
    """Raise an error of the user's code."""
    raise ZeroDivisionError('no width')


@pytest.mark.parametrize(
    ('answer', 'words'),
    [
        (raises, 'ZeroDivisionError: no width'),
        ({}.popitem, 'KeyError'),
        ([1.0, 2.0], '1 rows'),
        ([[1.0]], 'shape'),
        ([0.0] * 7, 'two goals'),
        (np.nan, 'finite'),
        ('far', 'numbers'),
        (None, 'numbers'),
    ],
)
@pytest.mark.parametrize('when', ['added', 'solved', 'batched'])
def test_wrong_residual_is_an_error_that_names_the_class(answer, words, when):
    """When it is added if it is wrong then, in solves if later; the next solve is fine again."""
    robot = ik.load_robot('arm6')
    goal, solver = Failing('mine'), ik.Solver(robot)
    if when == 'added':
        goal.answer = answer
        if words == '1 rows':
            return
        with pytest.raises(ik.IkError, match=f"Failing 'mine'.*{words}"):
            robot.add_goal(goal)
        assert not robot.goals
        return
    robot.add_goal(goal)
    goal.answer = answer
    with pytest.raises(ik.IkError, match=f"Failing 'mine'.*{words}"):
        solver.solve() if when == 'solved' else solver.solve_batch({'mine': [(0, 0, 0)] * 3})
    goal.answer = 0.0
    assert all(solver.solve())


def test_wrong_jacobian_is_an_error_that_names_class_and_link():
    """Missing links and wrong shapes."""
    _, goal, solver = arm()
    for wrong in (
        np.zeros((1, 6)),
        {},
        {'tool_link': np.zeros((2, 6))},
        {'tool_link': [np.inf] * 6},
    ):
        goal.jacobian = lambda frames, wrong=wrong: wrong
        with pytest.raises(ik.ShapeError, match=r"jacobian of Height 'height'.*tool_link"):
            solver.solve()
    goal.jacobian = lambda frames: {'tool_link': [[0, 0, 2, 0, 0, 0]]}
    assert goal.jacobian_error() == pytest.approx(1.0)


def test_interrupt_in_a_residual_reaches_the_caller():
    """As Ctrl-C in the middle of a solve."""
    _, goal, solver = arm()

    def interrupted(frames):
        raise KeyboardInterrupt

    goal.residual = interrupted
    with pytest.raises(KeyboardInterrupt):
        solver.solve()


class Unfinished(ik.UserGoal):
    """A class without a residual."""

    links = ('tool_link',)


class Bare(Height):
    """A class that forgets its base."""

    def __init__(self):
        self.width = 1.0


@pytest.mark.parametrize(
    ('goal', 'arguments', 'words'),
    [
        (Unfinished(), {}, 'residual'),
        (Bare(), {}, 'super'),
        (Between('tool_link', 'nowhere'), {}, 'nowhere'),
        (Between(), {}, 'links of Between'),
        (Between('target'), {}, 'target'),
        (Gaze(), {}, 'platform_link'),
        (Height(), {'dof': 'Z'}, 'dof'),
        (Height(), {'base': 'base_link'}, 'base'),
        (Height(), {'kind': 'look_at'}, 'kind'),
        (Height('j1'), {'name': 3}, 'name'),
        (Height, {}, 'no link named'),
    ],
)
def test_wrong_goal_of_user_is_refused_when_added(goal, arguments, words):
    """With an error that says what is wrong; the robot keeps its goals."""
    robot = ik.load_robot('arm6')
    with pytest.raises(ik.IkError, match=words):
        robot.add_goal(goal, **arguments)
    assert not robot.goals


def test_goal_of_user_has_no_twist_and_no_file():
    """Velocities and files for the C interface refuse it by name."""
    _, _, solver = arm()
    with pytest.raises(ik.OptionError, match='height'):
        solver.velocity({'height': np.zeros(6)})
    with pytest.raises(ik.OptionError, match='height'):
        export_robot(solver, ['height'])
