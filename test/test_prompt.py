"""What a Python prompt and a notebook show: representations, completion, pictures and the page."""

import copy
import pickle
import sys

import ik_node as ik
from ik_node.errors import IkError, OptionError, ShapeError, UnknownFrameError
import numpy as np
import pytest
from support.fourbar_urdf import MACHINE
from support.mechanisms import MECHANISMS


@pytest.fixture
def robot():
    """Return a four-bar with a mimic joint, a ball joint and a goal."""
    robot = ik.load_robot(MACHINE)
    robot.add_goal('crank', name='tip', dof='X Y Z')
    return robot


@pytest.fixture
def solver(robot):
    """Return its solver."""
    return ik.Solver(robot, ik.SolverOptions(seed=3))


def objects(robot, solver):
    """Return one object of every public class, and of those that their attributes have."""
    busy = ik.AsyncSolver(robot)
    future = busy.solve()
    future.result(timeout=60.0)
    places = np.zeros((2, 3))
    solution = solver.solve_pose({'tip': robot.goals['tip'].position})
    return [
        robot,
        solver,
        busy,
        future,
        solution,
        solver.solve()[0],
        robot.assemble(),
        solver.solve_batch({'tip': places}),
        solver.solve_batch({'tip': places})[0],
        solver.solve_path({'tip': places}),
        solver.velocity({'tip': (0.1, 0.0, 0.0)}),
        solver.prepare('tip'),
        solver.options,
        robot.mobility,
        robot.description,
        robot.links,
        robot.joints,
        robot.closures,
        robot.goals,
        robot.goals['tip'],
        *robot.links.values(),
        *robot.joints.values(),
        *robot.closures.values(),
        ik.Frame('free'),
        ik.Goal(),
        ik.Closure(),
        ik.DOF.X,
        ik.Status.CONVERGED,
        solution.closure_errors,
        ik.scene.IKRootsHelper(robot),
    ]


def test_no_public_object_is_shown_as_an_address(robot, solver):
    """Every representation has at most 20 printable lines that are not too long."""
    for each in objects(robot, solver):
        text = repr(each)
        assert ' at 0x' not in text, type(each)
        lines = text.splitlines()
        assert 1 <= len(lines) <= 20
        assert all(line.isprintable() and len(line) < 400 for line in lines), text


def test_robot_is_shown_as_table_of_joints(robot):
    """Values, limits, motors, couplings, loops and mobility."""
    robot.joints['drive'].lock()
    lines = repr(robot).splitlines()
    assert lines[0] == "Robot 'machine' (URDF + loop_joint)"
    assert 'closures: 1, goals: tip' in lines[1]
    assert lines[2].startswith('  mobility ')
    (drive,) = (line for line in lines if line.strip().startswith('drive'))
    assert ' in [0.2, 2.8], locked' in drive
    (shake,) = (line for line in lines if line.strip().startswith('shake'))
    assert "follows 'nod'" in shake


def test_frames_are_shown_with_what_they_connect(robot):
    """Also without a parent, and with any name."""
    assert repr(robot.links['crank']) == "Link('crank', on 'drive')"
    drive = robot.joints['drive']
    drive.set_dof_values(0.5)
    assert repr(drive) == "Joint('drive', to 'crank', EZ 0.5 rad in [0.2, 2.8])"
    assert repr(robot.closures['tie']).startswith("Closure('tie', 'coupler' to 'rocker', X Y Z")
    goal = robot.goals['tip']
    goal.set_pose(((1, 2, 3), (0, 0, 0, 1)))
    goal.enabled = False
    assert repr(goal) == (
        "Goal('tip', 'crank', X Y Z, disabled, at (1, 2, 3) m, turned (0, 0, 0, 1))"
    )
    assert repr(ik.Joint()) == "Joint('')"


# -- values by name


@pytest.mark.parametrize('name', ['two_arms', 'ball'])
def test_solution_gives_values_by_name(name):
    """By index, as a dict, and in a copy; the names are those at the time of the solve."""
    m = MECHANISMS[name]()
    solver = m.solver()
    solution = solver.solve_pose({})
    for each in (solution, pickle.loads(pickle.dumps(solution)), copy.deepcopy(solution)):
        values = each.as_dict()
        assert list(values) == list(each) == solver.joint_names
        np.testing.assert_array_equal(list(values.values()), solution.q)
        for joint, value in values.items():
            assert each[joint] == value
            assert joint in each
        assert 'nose' not in each
        with pytest.raises(UnknownFrameError, match="no joint named 'nose'"):
            each['nose']


@pytest.mark.parametrize('call', ['solve_pose', 'prepared', 'drive', 'batch', 'path', 'setter'])
def test_start_by_name_equals_start_as_array(robot, solver, call):
    """Joints that are not named start at their present values."""
    position = robot.goals['tip'].position
    named = {'drive': 1.0, 'wrist': (0.1, 0.2, 0.3)}
    array = robot.q
    for at, name in enumerate(robot.joint_names):
        array[at] = {'drive': 1.0, 'wrist.EX': 0.1, 'wrist.EY': 0.2, 'wrist.EZ': 0.3}.get(
            name, array[at]
        )

    def solved(q0):
        if call == 'setter':
            robot.q = q0
            return robot.q
        goals = {'tip': position}
        calls = {
            'solve_pose': lambda: solver.solve_pose(goals, q0),
            'prepared': lambda: solver.prepare('tip')(position, (0, 0, 0, 1), q0),
            'drive': lambda: solver.drive({'drive': 1.2}, q0),
            'batch': lambda: solver.solve_batch({'tip': [position] * 2}, q0),
            'path': lambda: solver.solve_path({'tip': [position] * 2}, q0),
        }
        return calls[call]().q

    np.testing.assert_array_equal(solved(named), solved(array))


# -- pictures and the page


def test_plot_draws_on_given_axes_with_equal_scales(robot):
    """And returns the axes."""
    figures = pytest.importorskip('matplotlib.figure')
    axes = figures.Figure().add_subplot(projection='3d')
    assert robot.plot(axes, q={'drive': 1.0}) is axes
    spans = [np.ptp(limits) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    box = axes.get_box_aspect() if hasattr(axes, 'get_box_aspect') else axes._box_aspect
    ratios = np.array(spans) / np.array(box)
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)
    assert len(axes.collections) > 0
    flat = figures.Figure().add_subplot()
    with pytest.raises(OptionError, match=r'axes: .*projection='):
        robot.plot(flat)


def test_notebook_shows_picture_and_table_of_robot(robot, monkeypatch):
    """Without matplotlib, the table alone."""
    pytest.importorskip('matplotlib')
    shown = robot._repr_html_()
    assert '<img src="data:image/png;base64,' in shown
    assert '<td>drive</td>' in shown
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    shown = robot._repr_html_()
    assert '<img' not in shown
    assert '<td>drive</td>' in shown


def test_notebook_shows_a_motion(robot, tmp_path):
    image = pytest.importorskip('PIL.Image')
    swing = robot.q + np.linspace(0.0, 0.5, 4)[:, None]
    picture = robot.animate(swing, seconds=0.3)
    assert '<img src="data:image/gif;base64,' in picture._repr_html_()
    picture.save(tmp_path / 'swing.gif')
    with image.open(tmp_path / 'swing.gif') as frames:
        assert frames.n_frames == picture.frames == 3
    with pytest.raises(ShapeError, match='shape'):
        robot.animate(robot.q)


def test_view_without_viser_says_what_to_install(robot, monkeypatch):
    """In one line."""
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    with pytest.raises(IkError, match=r"pip install 'ik_node\[viewer\]'"):
        ik.view(robot)
