"""`solve_path` solves each point from the one before, without jumps, within velocity limits."""

from ik_node.description.files import description_path
from ik_node.errors import OptionError, ShapeError
from ik_node.gallery import gallery_item
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.mechanisms import MECHANISMS

UNIT = (0.0, 0.0, 0.0, 1.0)
PLANES = {'arm7': (0, 1), 'hexapod': (0, 1), 'fivebar': (0, 1)}
SIZES = {'arm7': 0.05, 'hexapod': 0.006, 'fivebar': 0.02}


class Case:
    """A robot with a goal, and paths for it."""

    def __init__(self, name):
        if name == 'arm7':
            m = MECHANISMS[name]()
            (self.goal,) = m.goals.values()
            self.roots, self.solver = m.roots, m.solver()
            for joint in m.joints.values():
                joint.max_velocity[:] = 1.0
            self.link = self.goal.child
        else:
            robot = load_robot(description_path(gallery_item(name).description))
            link = {'hexapod': 'platform_link', 'fivebar': 'tool_link'}[name]
            dof = 'X Y' if name == 'fivebar' else None
            self.goal = robot.add_goal(link, name='tool', dof=dof)
            self.solver = Solver(robot)
            self.link = robot.links[link]
        self.name = self.goal.name
        here = self.link.matrix_world
        self.position = here[:3, 3].copy()
        self.turn = Rotation.from_matrix(here[:3, :3])
        self.plane, self.size = PLANES[name], SIZES[name]
        owner = self.solver.tree.owner
        self.max_velocity = np.array([joint.max_velocity[dof] for joint, dof in owner])

    def circle(self, count=120, rounds=1.0):
        """Return a circle through the pose of the link, with optional rotation to and fro."""
        angle = np.linspace(0.0, 2.0 * np.pi * rounds, count)
        positions = np.tile(self.position, (count, 1))
        positions[:, self.plane[0]] += self.size * (np.cos(angle) - 1.0)
        positions[:, self.plane[1]] += self.size * np.sin(angle)
        sway = Rotation.from_rotvec(0.1 * np.sin(angle)[:, None] * [[0.0, 0.0, 1.0]])
        return {self.name: (positions, (sway * self.turn).as_quat())}

    def line(self, axis, length, count=120):
        """Return a straight line from the pose of the link."""
        positions = np.tile(self.position, (count, 1))
        positions[:, axis] += np.linspace(0.0, length, count)
        return {self.name: (positions, np.tile(self.turn.as_quat(), (count, 1)))}


@pytest.fixture(params=PLANES)
def case(request):
    """Provide each robot."""
    return Case(request.param)


def keeps_its_rules(case, path):
    """Verify the properties of every path, reachable or not."""
    for name, error in path.closure_errors.items():
        assert error.position.max() <= 1e-6, name
        assert error.orientation.max() <= 1e-6, name
    took = np.diff(path.times)
    assert (took > 0.0).all()
    moved = np.abs(np.diff(path.q, axis=0))
    assert (moved / took[:, None] <= case.max_velocity).all()
    np.testing.assert_allclose(np.abs(path.velocity[1:]), moved / took[:, None], rtol=1e-6)
    assert (path.velocity[0] == 0.0).all()
    lower, upper = (
        np.array([getattr(j, side)[dof] for j, dof in case.solver.tree.owner])
        for side in ('min_dof_limit', 'max_dof_limit')
    )
    assert (path.q >= lower).all()
    assert (path.q <= upper).all()


def test_circle_is_followed_and_ends_at_its_start(case):
    """All points are met, and after a round trip of a robot without freedom so is the start."""
    before = case.solver.q
    goals = case.circle()
    path = case.solver.solve_path(goals)
    assert path.converged.all(), path.message
    assert path.message.startswith('CONVERGED: all 120')
    assert path.failures == []
    keeps_its_rules(case, path)
    (error,) = path.goal_errors.values()
    assert error.position.max() <= 1e-6
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.1, 'no jump'
    np.testing.assert_array_equal(path.q[0], before)
    np.testing.assert_array_equal(case.solver.q, before, 'no object is written to')
    if case.name == 'tool':
        np.testing.assert_allclose(path.q[-1], before, atol=1e-5)


def test_unreachable_section_is_named_and_rest_is_met(case):
    """The path leaves the workspace and returns; no joint jumps."""
    out = case.line(case.plane[1], 40.0 * case.size, 60)
    to_and_fro = {name: (np.r_[p, p[::-1]], np.r_[r, r[::-1]]) for name, (p, r) in out.items()}
    path = case.solver.solve_path(to_and_fro)
    keeps_its_rules(case, path)
    assert len(path.failures) == 1
    ((first, last),) = path.failures
    assert 1 < first < 60 <= last < 119
    assert (path.status[first : last + 1] == Status.STALLED).all()
    assert path.converged[:first].all()
    assert path.converged[last + 1 :].all()
    count = last + 1 - first
    assert path.message.startswith(f'{count} of 120 not solved; points {first} to {last}: STALLED')
    assert f"'{case.goal.name}'" in path.message
    (error,) = path.goal_errors.values()
    assert error.position[59] > 5.0 * case.size


def test_fast_path_is_delayed_to_velocity_limits(case):
    """A slow path keeps its times."""
    goals = case.circle(40)
    slow = case.solver.solve_path(goals, dt=5.0)
    np.testing.assert_array_equal(slow.times, 5.0 * np.arange(40))
    assert not slow.longer.any()
    assert 'longer' not in slow.message
    fast = case.solver.solve_path(goals, dt=1e-6)
    np.testing.assert_array_equal(fast.q, slow.q)
    assert fast.longer[1:].all()
    assert not fast.longer[0]
    assert fast.message.endswith('; 39 steps take longer than requested')
    keeps_its_rules(case, fast)
    busiest = (np.abs(fast.velocity) / case.max_velocity).max(axis=1)
    np.testing.assert_allclose(busiest[1:], 1.0, rtol=1e-6)


def test_coarse_circle_is_subdivided():
    """With eight points a circle leads round as with hundreds, not through a short cut."""
    case = Case('hexapod')
    few, many = case.solver.solve_path(case.circle(9)), case.solver.solve_path(case.circle(801))
    np.testing.assert_allclose(few.q, many.q[::100], atol=1e-5)
    arm = Case('arm7')
    path = arm.solver.solve_path(arm.line(0, 0.1, 2), max_step=0.01)
    assert path.iterations[1] > 10, 'poses in between were solved'
    fine = arm.solver.solve_path(arm.line(0, 0.1, 101))
    np.testing.assert_allclose(path.q[-1], fine.q[-1], atol=0.01)


def mast(aside):
    """Return a solver, and a path past its zenith at a distance [m]."""
    m = Mechanism('mast')
    m.root('base')
    m.joint('pan', 'base', 'EZ')
    m.joint('tilt', 'pan_link', 'EY', limits=(0.0, 1.5))
    m.tip('top', 'tilt_link', (0, 0, 1.0))
    m.goal('aim', 'top', 'X Y Z')
    angle = np.linspace(0.8, -0.8, 61)
    positions = np.column_stack((np.sin(angle), np.full(61, aside), np.cos(angle)))
    positions /= np.linalg.norm(positions, axis=1)[:, None]
    return m.solver(), {'aim': (positions, [UNIT] * 61)}


def test_path_near_zenith_is_torn_instead_of_jumping():
    """So near the zenith it would have to turn at once: the path is torn, and says so."""
    solver, goals = mast(1e-4)
    path = solver.solve_path(goals, [0.0, 0.8])
    np.testing.assert_array_equal(np.flatnonzero(path.torn), [30])
    assert path.failures == [(30, 60)]
    assert '31 of 61 not solved; points 30 to 60: STALLED' in path.message
    assert 'from this point on joints would have to jump' in path.message
    beyond = {'aim': (goals['aim'][0][45], UNIT)}
    leapt = solver.solve_pose(beyond, path.q[29])
    assert leapt.status is Status.CONVERGED
    assert np.abs(leapt.q - path.q[29]).max() > 1.0


def test_path_keeps_couplings_and_rest_pose_without_jump():
    """Coupled joints keep their law at all points, and rest poses make nothing jump."""
    for name in ['coupled', 'ball', 'ball_limited', 'parallelogram']:
        m = MECHANISMS[name]().go_home()
        solver = m.solver()
        for joint in m.joints.values():
            joint.set_rest_pose_values(*[0.1] * len(joint.dof))
        goals = {}
        for key, goal in m.goals.items():
            position, quat = m.pose_of(goal.child.name)
            steps = np.linspace(0.0, 0.03, 25)[:, None]
            goals[key] = (position + steps * [0.0, 0.5, -1.0], np.tile(quat, (25, 1)))
        path = solver.solve_path(goals)
        table = solver.structure.table
        for row in path.q:
            followed = row.copy()
            table.follow(followed)
            np.testing.assert_allclose(followed, row, atol=1e-12)
        assert np.abs(np.diff(path.q, axis=0)).max() <= 0.2 + 1e-9
        again = solver.solve_path(goals)
        np.testing.assert_array_equal(again.q, path.q)


def test_point_of_path_is_solution_and_progress_reaches_total():
    """A point has names and reasons like a single solution."""
    case = Case('hexapod')
    told = []
    path = case.solver.solve_path(case.circle(30), progress=lambda *done: told.append(done))
    point = path[7]
    np.testing.assert_array_equal(point.q, path.q[7])
    assert point.status is Status.CONVERGED
    assert set(point.goal_errors) == {'tool'}
    assert len(point.closure_errors) == 6
    assert told[-1] == (30, 30)
    assert len(path) == 30


def test_path_error_names_bad_row():
    """The error names the value and its row."""
    for chosen, error, message in [
        ({'dt': 0.0}, OptionError, 'dt: 0.0'),
        ({'dt': 'fast'}, OptionError, 'dt'),
        ({'dt': np.inf}, OptionError, 'dt'),
        ({'times': [0, 1, 2]}, ShapeError, r'times: expected shape \(5,\)'),
        ({'times': [0, 1, 2, 2, 3]}, ShapeError, 'times in row 3: .*2.0 after 2.0'),
        ({'times': [0, 1, np.nan, 2, 3]}, ShapeError, 'times: .*finite'),
        ({'times': 'soon'}, ShapeError, 'times: expected numbers of shape'),
        ({'max_velocity': [1.0, 2.0]}, ShapeError, r'max_velocity: expected shape \(7,\)'),
        ({'max_velocity': [0.0] * 7}, ShapeError, 'above 0, got'),
        ({'max_velocity': 'c'}, ShapeError, 'max_velocity: expected numbers of shape'),
        ({'max_step': 0.0}, OptionError, 'max_step'),
        ({'max_step': None}, OptionError, 'max_step'),
        ({'q0': np.zeros((5, 7))}, ShapeError, 'q0: expected shape'),
        ({'q0': np.full(7, np.nan)}, ShapeError, 'q0: expected finite numbers'),
    ]:
        case = Case('arm7')
        with pytest.raises(error, match=message):
            case.solver.solve_path(case.circle(5), **chosen)
