"""Names from descriptions enter messages quoted, escaped and shortened."""

from hypothesis import given
from hypothesis import strategies as st
from ik_node.cli.main import main
from ik_node.errors import IkError, OptionError, plain, shown, UnknownFrameError
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
def test_logger_of_node_escapes_names(monkeypatch, name):
    """A log line is printable and short, whatever its writer put into it."""
    pytest.importorskip('rclpy')
    from ik_node.ros.process import PrintableLogger, rcutils_logger

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
