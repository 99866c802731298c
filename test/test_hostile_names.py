"""Names from descriptions enter messages quoted, escaped and shortened."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from ik_node.cli.main import main
from ik_node.display import printable
from ik_node.errors import IkError, listed, OptionError, plain, shown, UnknownFrameError
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
from ik_node.viewer.panels.text_html import table
import pytest

# Lines of its own, a cursor that goes up, text that runs backwards, and far too much of it.
HOSTILE = ('a\nCONVERGED', 'b\x1b[2J\x1b[1A', 'c\u202edesrever', 'd' * 5000, 'e e' * 2000)
NAMES = st.one_of(st.text(), st.sampled_from(HOSTILE))


def in_xml(name):
    """Return a name as an attribute; XML has no escape characters."""
    return name.replace('\x1b', 'ESC').replace('\n', '&#10;')


def robot_text(link, joint, robot='r', closure='c'):
    """Return the URDF of a slider in a loop, with these names."""
    link, joint, robot, closure = map(in_xml, (link, joint, robot, closure))
    return (
        f'<robot name="{robot}"><link name="base"/><link name="{link}"/>'
        f'<joint name="{joint}" type="prismatic"><parent link="base"/><child link="{link}"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        f'<loop_joint name="{closure}" type="spherical"><link1 link="{link}"/>'
        '<link2 link="base" xyz="0 0.5 0"/></loop_joint></robot>'
    )


def is_tame(text, longest=2000):
    """Return True if a text is one printable line of moderate length."""
    return text.isprintable() and len(text) <= longest


@given(NAMES)
def test_names_become_printable_and_short(name):
    """Ordinary names stay unchanged, with and without quotes."""
    for made in (shown(name), plain(name)):
        assert is_tame(made, 90)
    if name.isprintable() and len(name) <= 60:
        assert plain(name) == name
        assert shown(name) == repr(name)


@given(st.lists(NAMES, max_size=20), NAMES)
def test_error_message_has_one_line_whatever_the_arguments(names, name):
    """Line breaks in arguments do not break the message."""
    for error in (
        IkError(f'the link {name}'),
        UnknownFrameError(name, names),
        OptionError('closures', name, f'one of {names}'),
    ):
        assert is_tame(str(error))


def test_long_list_of_names_shows_first_twelve():
    """The first twelve are listed."""
    assert listed(str(number) for number in range(3)) == '0, 1, 2'
    assert listed(map(str, range(99))).endswith('10, 11, ...')
    assert listed(()) == 'none'


def test_robot_messages_contain_no_raw_name():
    """Notes, results, mobility and loop reports are printable; notes are short."""
    for name in HOSTILE:
        robot = load_robot(robot_text(name, name + '2', name, name))
        assert robot.assembly.status.name != 'CONVERGED'
        solution = Solver(robot).solve_pose(
            {in_xml(name).replace('&#10;', '\n'): ((9, 9, 9), (0, 0, 0, 1))}
        )
        assert all(map(is_tame, robot.notes))
        lines = [robot.assembly.message, solution.message]
        lines += [chain.message for chain in solution.chains]
        lines += robot.mobility.report().split('\n')
        assert ''.join(lines).isprintable()
        assert all(map(is_tame, printable(lines).split('\n')))


def test_command_line_escapes_names(capsys, tmp_path):
    """No name begins a line or is long in the tree, the loops and the answer."""
    for n, name in enumerate(HOSTILE):
        path = tmp_path / 'r.urdf'
        path.write_text(robot_text(name, name + '2', name, name))
        other = tmp_path / 'other.urdf'
        other.write_text(robot_text('tip', 'slide'))
        assert main(['check', str(path)]) == 1
        hostile, _ = capsys.readouterr()
        assert main(['check', str(other)]) == 1
        assert len(hostile.split('\n')) == len(capsys.readouterr().out.split('\n'))
        assert all(map(is_tame, hostile.split('\n')))
        assert main(['convert', str(path), '-o', str(tmp_path / f'out{n}.urdf')]) == 0
        assert all(map(is_tame, capsys.readouterr().err.split('\n')))
        assert main(['solve', str(path)]) == 1
        assert all(map(is_tame, capsys.readouterr().out.split('\n')))


def test_page_escapes_names():
    """Names on the page are printable and short."""
    for name in HOSTILE:
        assert is_tame(table([(name, (), '')], 1), 4000)


@pytest.mark.parametrize('name', HOSTILE)
def test_diagnostics_escape_names(name):
    """Keys and values of ~/solve_status are printable, and the page finds its loops."""
    pytest.importorskip('rclpy')
    from builtin_interfaces.msg import Time
    from diagnostic_msgs.msg import DiagnosticArray
    from ik_node.ros.messages.status_row import fill_diagnostics
    from ik_node.ros.outputs.diagnostics import solve_rows, TickReport
    from ik_node.ros_client.session import released_of

    robot = load_robot(robot_text(name, name + '2', name, name))
    solution = Solver(robot).solve_pose({})
    report = TickReport(robot.q, robot.q, solution, notes=(f'goal {name} is stale',))
    message = DiagnosticArray()
    fill_diagnostics(message, solve_rows('node', report), Time(), 'robot')
    (status,) = message.status
    pairs = [text for pair in status.values for text in (pair.key, pair.value)]
    assert all(map(is_tame, [status.name, status.message, *pairs]))
    assert released_of(message, robot.closures) == set()
    assert released_of(SimpleNamespace(status=[]), robot.closures) is None


@pytest.mark.parametrize('name', HOSTILE)
def test_logger_of_node_escapes_names(monkeypatch, name):
    """A log line is printable and short, whatever its writer put into it."""
    pytest.importorskip('rclpy')
    from ik_node.ros.process.node_health import PrintableLogger, rcutils_logger

    lines = []

    def write(severity, logger, message, function, file, line):
        lines.append((message, file))

    monkeypatch.setattr(rcutils_logger._rclpy, 'rclpy_logging_rcutils_log', write)
    logger = PrintableLogger('test')
    for _ in range(2):
        logger.warning(f'goal {name}', once=True)
    logger.error(f'robot {name}')
    assert [file for _, file in lines] == [__file__, __file__]
    assert all(is_tame(text) for text, _ in lines)
