"""Files of robots: what cannot be exported is refused, and what is damaged is not loaded."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
import ctypes

from ik_node import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    load_robot,
    Solver,
    SolverOptions,
    Sphere,
)
from ik_node.cli.main import main
from ik_node.description.files import description_path
from ik_node.errors import OptionError, UnknownFrameError
from ik_node.export import export_robot
import numpy as np
import pytest
from support.c_programs import (
    CLOSURES,
    compile_c,
    CRobot,
    FORMAT,
    GOALS,
    interface_source,
    run,
    VERSION,
)
from support.command_line import refusal
from support.fourbar_urdf import TURNED
from support.mechanisms import heavy_arm, MECHANISMS

SANITIZED = ('-g', '-fsanitize=address,undefined', '-fno-sanitize-recover')


@pytest.fixture(scope='module')
def user(tmp_path_factory):
    """Return the program that uses a file, with sanitizers if the compiler has them."""
    folder = tmp_path_factory.mktemp('user')
    own = interface_source(folder)
    try:
        return compile_c('use_file', folder, *own, *SANITIZED)
    except AssertionError:
        return compile_c('use_file', folder, *own)


def among_bodies():
    """Return two arms that hold a box, with a body of each kind."""
    robot = load_robot('two_arms_one_box')
    corners = [(x, y, z) for x in (0.0, 0.05) for y in (0.0, 0.05) for z in (0.0, 0.05)]
    for link, shape in (
        ('box_link', Box((0.2, 0.2, 0.2))),
        ('left_elbow_link', Capsule(0.05, 0.2)),
        ('right_elbow_link', Cylinder(0.05, 0.2)),
        ('left_shoulder_yaw_link', Hull(corners)),
    ):
        robot.collisions.add_body(link, shape)
    place = robot.forward(robot.q, 'box_link')[:3, 3]
    robot.collisions.add_obstacle(Sphere(0.05), place + np.array((0.25, 0.0, 0.1)), name='ball')
    robot.collisions.add_obstacle(HalfSpace(), (0.0, 0.0, place[2] - 0.3), name='floor')
    return robot


def exported(name):
    """Return the file of a mechanism with its goals, or of a four-bar with rounded numbers."""
    if name == 'bodies':
        return export_robot(Solver(among_bodies()), ['box_link'])
    if name == 'rounded':
        robot = load_robot(TURNED.format(quarter='1.57', half='3.14', kind='hinge'))
        return export_robot(Solver(robot), ['rocker'])
    if name == 'ankle':
        robot = load_robot(description_path('ankle.urdf'))
        transmission = robot.transmission(None, ['ankle_pitch', 'foot_link'])
        return export_robot(Solver(robot), (), transmission=transmission)
    m = heavy_arm('centre_of_mass') if name == 'heavy arm' else MECHANISMS[name]()
    return export_robot(m.solver(), list(m.goals))


@pytest.mark.parametrize(
    'name', ['hexapod', 'two_arms', 'coupled', 'ball', 'heavy arm', 'rounded', 'ankle', 'bodies']
)
def test_use_of_a_file_stays_in_its_memory(user, tmp_path, name):
    """Solves, kinematics and transmissions of all kinds of files."""
    (tmp_path / 'robot.ikr').write_bytes(exported(name))
    assert run(user, tmp_path / 'robot.ikr', timeout=60) == ''


def test_damaged_file_is_refused():
    """Files cut short, and with one bit flipped anywhere."""
    content, random = exported('bodies'), np.random.default_rng(1)
    assert CRobot(content).code == 0
    for place in [*range(0, 80, 3), *random.integers(len(content), size=300).tolist()]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(8))
        assert CRobot(bytes(damaged)).code in (FORMAT, VERSION)
        assert CRobot(content[:place]).code == FORMAT


def test_library_keeps_bodies_apart_as_python_does():
    """Library keeps bodies apart as Python does, to the bit."""
    robot = among_bodies()
    solver, avoided = Solver(robot), 0
    plain = Solver(robot, SolverOptions(avoid_collisions=False))
    made = CRobot(export_robot(solver, ['box_link']))
    place = robot.forward(robot.q, 'box_link')[:3, 3]
    for x in np.linspace(-0.1, 0.3, 9):
        goal = place + np.array((x, 0.05 - x, 0.1)), (0.0, 0.0, 0.0, 1.0)
        found = solver.solve_pose({'box_link': goal})
        assert made.solve(robot.q, [goal]) == found.status
        assert (made.q == found.q).all()
        assert made.counters == (found.iterations, found.closing_iterations, found.starts)
        assert made.errors(GOALS)['box_link'] == tuple(found.goal_errors['box_link'])
        assert set(made.errors(CLOSURES)) == set(found.closure_errors)
        avoided += bool(robot.collisions.contacts(plain.solve_pose({'box_link': goal}).q))
    assert 0 < avoided < 9


def test_two_threads_share_a_robot():
    """Each has a problem, and finds what it finds alone, to the bit."""
    m = MECHANISMS['hexapod']()
    robot = CRobot(export_robot(m.solver(), ['platform']))
    (goal,) = m.goals.values()

    def answers(side):
        own, made = copy(robot), [robot.values('start')]
        own.problem = ctypes.c_void_p()
        assert own.c.ik_node_problem_new(robot.robot, ctypes.byref(own.problem)) == 0
        for tick in range(200):
            position = np.array(goal.position) + 2e-5 * tick * np.eye(3)[side]
            assert own.solve(made[-1], [(position, goal.quaternion)]) >= 0
            made.append(own.q)
        own.c.ik_node_problem_free(own.problem)
        own.robot = own.problem = None
        return np.array(made)

    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(answers, (0, 1)))
    assert all((each == answers(side)).all() for side, each in enumerate(both))


@pytest.mark.parametrize(
    'option',
    [
        {'method': 'ccd'},
        {'jacobian': 'numeric'},
        {'use_svd': True},
        {'time_budget': 0.1},
        {'max_joint_step': 0.1},
        {'cycle_time': 0.1},
    ],
)
def test_option_that_python_handles_is_refused(option):
    """The error names the option."""
    m = MECHANISMS['planar']()
    (name,) = option
    with pytest.raises(OptionError, match=f'^{name}: '):
        export_robot(m.solver(SolverOptions(**option)), list(m.goals))


def test_joint_targets_and_preferences_of_balls_are_refused():
    """The error names the joints."""
    m = MECHANISMS['planar']()
    joint = next(iter(m.joints.values()))
    joint.set_target_values(0.1)
    with pytest.raises(OptionError, match=f'joint targets: .*{joint.name}'):
        export_robot(m.solver(), list(m.goals))
    m = MECHANISMS['ball']()
    ball = next(joint for joint in m.joints.values() if len(joint.dof) == 3)
    ball.set_rest_pose_values(0.1, 0.1, 0.1)
    with pytest.raises(OptionError, match=f'rest poses of ball joints: .*{ball.name}'):
        export_robot(m.solver(), list(m.goals))


def test_unknown_goal_and_goal_that_occurs_twice_are_refused():
    """Names must exist, once, and without a zero byte."""
    solver = MECHANISMS['planar']().solver()
    with pytest.raises(UnknownFrameError):
        export_robot(solver, ['nothing'])
    with pytest.raises(UnknownFrameError):
        export_robot(solver, (), actuated=['nothing'])
    with pytest.raises(OptionError, match='each goal once'):
        export_robot(solver, ['hand', 'hand'])
    with pytest.raises(OptionError, match='zero byte'):
        export_robot(solver, (), name='a\0b')


def test_command_writes_a_file_that_the_library_loads(repository, tmp_path, capsys):
    """Goals with their axes, options, loops; the file is replaced at once."""
    path = tmp_path / 'hexapod.ikr'
    urdf = str(repository / 'urdf' / 'hexapod.urdf')
    words = ['export', urdf, '-o', str(path)]
    assert main([*words, '--goal', 'platform_link:X Y Z', '--option', 'restarts=0']) == 0
    assert (
        'robot hexapod, 24 joint values, 6 loops, goals: platform_link' in capsys.readouterr().out
    )
    robot = CRobot(path.read_bytes())
    assert (robot.code, robot.count(CLOSURES), robot.names(GOALS)) == (0, 6, ['platform_link'])
    assert robot.c.ik_node_goal_axes(robot.robot, 0) == 7
    assert [each.name for each in tmp_path.iterdir()] == ['hexapod.ikr']


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--goal', 'nothing'], 'nothing'),
        (['--goal', 'platform_link:X Q'], 'X Y Z EX EY EZ'),
        (['--option', 'nothing=1'], 'nothing=1'),
        (['--option', 'comfort=1'], 'comfort'),
        (['--option', 'restarts=many'], 'restarts'),
        (['--option', 'method=slsqp'], 'method'),
    ],
)
def test_command_refuses_what_it_cannot_export(repository, tmp_path, capsys, words, said):
    """One line names the argument, and no file is written."""
    urdf = str(repository / 'urdf' / 'hexapod.urdf')
    assert main(['export', urdf, '-o', str(tmp_path / 'out.ikr'), *words]) == 2
    assert said in refusal(capsys)
    assert list(tmp_path.iterdir()) == []
