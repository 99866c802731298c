"""Every error of the C interface: its code, and what the program finds afterwards."""

import ctypes

from ik_node.export import export_robot
import numpy as np
import pytest
from support import c_programs
from support.c_programs import (
    ARGUMENT,
    CHAINS,
    CLOSURES,
    compile_c,
    CONVERGED,
    CRobot,
    FILE,
    FORMAT,
    GOALS,
    INPUT,
    interface,
    interface_source,
    JOINTS,
    LINKS,
    load,
    MEMORY,
    PROCESSOR,
    run,
    RUNNING,
    VERSION,
)
from support.mechanisms import MECHANISMS

HERE = [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))]
HEAD = 8  # [bytes]: magic, then the format, then the digest


@pytest.fixture(scope='module')
def content():
    m = MECHANISMS['hexapod']()
    c_programs.shared_library()
    return export_robot(m.solver(), ['platform'], 'six legs')


def code_of(content):
    """Return the code with which bytes are loaded."""
    opened, robot = interface(), ctypes.c_void_p(1)
    code = load(opened, content, robot)
    assert (robot.value is None) == (code != 0)
    opened.ik_node_free(robot)
    return code


def test_file_of_another_library_or_format_is_refused(content):
    """The digest of the sources and the format must be those of the library."""
    assert code_of(content) == 0
    assert content[HEAD + 8 : HEAD + 24] == interface().ik_node_digest()
    other = content[: HEAD + 8] + b'0123456789abcdef' + content[HEAD + 24 :]
    assert code_of(other) == VERSION
    assert code_of(content[:HEAD] + b'\x07' + content[HEAD + 1 :]) == VERSION


@pytest.mark.parametrize('size', [0, 7, 8, 20, 31, 32, 100, -1])
def test_file_that_ends_early_or_late_is_refused(content, size):
    """Also a file with more bytes than it says."""
    assert code_of(content[:size]) == FORMAT
    assert code_of(content + b'\0') == FORMAT


def test_other_content_is_refused(content):
    """A file of another kind."""
    assert code_of(b'<robot name="r"/>' * 10) == FORMAT
    assert code_of(b'IK_ROBOT' + content[HEAD:]) == FORMAT


def test_missing_file_and_folder_are_refused(tmp_path, content):
    """They cannot be read; a good file can."""
    opened, robot = interface(), ctypes.c_void_p()
    for path, code in ((tmp_path / 'none', FILE), (tmp_path, FILE), (tmp_path / 'good', 0)):
        (tmp_path / 'good').write_bytes(content)
        assert opened.ik_node_load(str(path).encode(), ctypes.byref(robot)) == code
    opened.ik_node_free(robot)


def test_null_pointers_are_refused(content):
    """No function reads through NULL."""
    c, null, some = interface(), ctypes.c_void_p(), ctypes.c_void_p()
    numbers = np.zeros(1000).ctypes.data_as(ctypes.c_void_p)
    assert c.ik_node_load(None, ctypes.byref(some)) == ARGUMENT
    assert c.ik_node_load(b'x', None) == ARGUMENT
    assert c.ik_node_load_memory(None, ctypes.c_size_t(9), ctypes.byref(some)) == ARGUMENT
    assert c.ik_node_problem_new(null, ctypes.byref(some)) == ARGUMENT
    assert c.ik_node_solve(null, None, None, None, 0) == ARGUMENT
    assert c.ik_node_continue(null, 0) == ARGUMENT
    assert c.ik_node_interrupt(null) == ARGUMENT
    assert c.ik_node_forward(null, numbers, numbers) == ARGUMENT
    assert c.ik_node_jacobian(null, numbers, 0, numbers) == ARGUMENT
    assert (c.ik_node_steps(null), c.ik_node_closing_steps(null), c.ik_node_starts(null)) == (
        0,
        0,
        1,
    )
    for name in ('lower', 'upper', 'start', 'q'):
        assert not getattr(c, f'ik_node_{name}')(null)
    assert c.ik_node_robot_name(null) is None
    assert (c.ik_node_status(null), c.ik_node_count(null, 0)) == (ARGUMENT, ARGUMENT)
    c.ik_node_follow(null, numbers)
    c.ik_node_free(null)
    c.ik_node_problem_free(null)
    robot = CRobot(content)
    assert c.ik_node_problem_new(robot.robot, None) == ARGUMENT
    assert c.ik_node_solve(robot.problem, None, None, numbers, 0) == ARGUMENT
    assert c.ik_node_solve(robot.problem, None, numbers, None, 0) == ARGUMENT
    assert c.ik_node_forward(robot.problem, None, numbers) == ARGUMENT
    assert c.ik_node_jacobian(robot.problem, numbers, 0, None) == ARGUMENT
    assert c.ik_node_goal_error(robot.problem, 0, None) == ARGUMENT
    assert c.ik_node_find(robot.robot, LINKS, None) == ARGUMENT


@pytest.mark.parametrize('index', [-1, 1000, -(2**31)])
def test_index_out_of_range_is_refused(content, index):
    """A joint, link, goal, closure or chain that does not exist."""
    robot = CRobot(content)
    c, numbers = robot.c, np.zeros(1000).ctypes.data_as(ctypes.c_void_p)
    for what in (JOINTS, LINKS, GOALS, CLOSURES, CHAINS):
        assert c.ik_node_name(robot.robot, what, index) is None
    assert c.ik_node_name(robot.robot, CHAINS, 0) is None
    assert c.ik_node_name(robot.robot, index, 0) is None
    assert c.ik_node_count(robot.robot, index) == ARGUMENT
    assert c.ik_node_find(robot.robot, index, b'x') == ARGUMENT
    assert c.ik_node_is_actuated(robot.robot, index) == ARGUMENT
    assert c.ik_node_goal_axes(robot.robot, index) == ARGUMENT
    assert c.ik_node_goal_chain(robot.robot, index) == ARGUMENT
    assert c.ik_node_length(robot.robot, index) == 0.0
    assert c.ik_node_chain_status(robot.problem, index) == ARGUMENT
    assert c.ik_node_goal_error(robot.problem, index, numbers) == ARGUMENT
    assert c.ik_node_closure_error(robot.problem, index, numbers) == ARGUMENT
    assert c.ik_node_jacobian(robot.problem, numbers, index, numbers) == ARGUMENT


@pytest.mark.parametrize('bad', [np.nan, np.inf, 1e60])
def test_numbers_that_are_not_finite_are_refused_until_the_next_solve(content, bad):
    """Joint values and poses; a problem that refused them has no outcome, and solves again."""
    robot = CRobot(content)
    q = robot.values('start')
    wrong = q.copy()
    wrong[-1] = bad
    pose = robot.forward(q)[robot.names(LINKS).index('platform')]
    good = [(pose[:3], pose[3:])]
    for q0, poses in (
        (wrong, good),
        (q, [((0, bad, 0), HERE[0][1])]),
        (q, [(HERE[0][0], (0, 0, bad, 1))]),
    ):
        assert robot.solve(q0, poses) == INPUT
        assert robot.c.ik_node_status(robot.problem) == INPUT
        assert robot.c.ik_node_chain_status(robot.problem, 0) == INPUT
        assert robot.go_on() == INPUT
        assert robot.solve(q, good) == CONVERGED
    assert robot.solve(q, [(HERE[0][0], (0, 0, 0, 0))]) == INPUT
    values, numbers = (x.ctypes.data_as(ctypes.c_void_p) for x in (wrong, np.zeros(1000)))
    assert robot.c.ik_node_forward(robot.problem, values, numbers) == INPUT
    assert robot.c.ik_node_jacobian(robot.problem, values, 0, numbers) == INPUT


def test_steps_must_not_be_negative_and_nothing_is_continued_before_a_solve(content):
    """Wrong order of calls, wrong budget."""
    robot = CRobot(content)
    assert robot.go_on() == ARGUMENT
    assert robot.solve(None, HERE, -1) == ARGUMENT
    assert robot.solve(None, HERE, 1) == RUNNING
    assert robot.go_on(-1) == ARGUMENT
    assert robot.go_on() >= CONVERGED


def test_every_code_has_a_text_of_its_own():
    """Outcomes have their names, errors a sentence."""
    c = interface()
    texts = [c.ik_node_text(code).decode() for code in range(INPUT, RUNNING + 1)]
    assert len(set(texts)) == len(texts)
    assert texts[-INPUT:] == ['CONVERGED', 'STALLED', 'DIVERGED', 'TIMEOUT', 'RUNNING']
    for code in (INPUT - 1, RUNNING + 1):
        assert c.ik_node_text(code) == b'unknown code'


def test_failed_allocations_are_reported_and_the_loop_makes_none(tmp_path, content):
    """MEMORY, without a leak, for each allocation in turn; no solve calls the allocator."""
    (tmp_path / 'robot.ikr').write_bytes(content)
    said = run(compile_c('no_allocation', tmp_path), tmp_path / 'robot.ikr')
    assert MEMORY == -5
    assert said.startswith('200 solves, 0 calls of the allocator\n')
    assert int(said.splitlines()[1].split()[0]) > 10


def test_library_without_code_for_this_processor_is_reported(tmp_path, content):
    """The same interface over an empty table of kernels."""
    (tmp_path / 'robot.ikr').write_bytes(content)
    program = compile_c('no_kernels', tmp_path, *interface_source(tmp_path))
    assert run(program, tmp_path / 'robot.ikr') == f'{PROCESSOR}\n'


def test_robot_tells_names_limits_goals_and_motors():
    """What a program needs to know of a robot."""
    m = MECHANISMS['coupled']()
    (name,) = m.goals
    solver = m.solver()
    robot = CRobot(export_robot(solver, [name], 'näme', solver.joint_names[:1]))
    c, given = robot.c, robot.robot
    assert c.ik_node_robot_name(given).decode() == 'näme'
    assert c.ik_node_interface() == 2
    assert robot.names(JOINTS) == solver.joint_names
    assert robot.names(GOALS) == [name]
    for at, link in enumerate(robot.names(LINKS)):
        assert c.ik_node_find(given, LINKS, link.encode()) == at
    assert c.ik_node_find(given, LINKS, b'no such link') == ARGUMENT
    lower, upper = solver.limits()
    np.testing.assert_array_equal(robot.values('lower'), lower)
    np.testing.assert_array_equal(robot.values('upper'), upper)
    axes = sum(1 << dof for dof in m.goals[name].dof)
    motors = [c.ik_node_is_actuated(given, at) for at in range(len(solver.joint_names))]
    assert motors == [1] + [0] * (len(motors) - 1)
    assert (c.ik_node_goal_axes(given, 0), c.ik_node_goal_chain(given, 0)) == (axes, 0)
    length = solver.solve_pose({name: HERE[0]}).chains[0].characteristic_length
    assert c.ik_node_length(given, 0) == length
    q = np.full(len(solver.joint_names), 0.3)
    expected = q.copy()
    solver.arrays_for(())[1].follow(expected)
    c.ik_node_follow(given, q.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_array_equal(q, expected)
    assert (expected != 0.3).any()
