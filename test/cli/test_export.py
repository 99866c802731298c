"""`export`: where the file is written; its contents are tested with the C library."""

import os
from pathlib import Path
import stat

from ik_node.cli.main import main
import pytest
from support.command_line import refusal


@pytest.fixture
def export(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = str(repository / 'urdf' / 'delta.urdf')
    return lambda path, *more: main(['export', robot, '-o', str(path), *more])


def test_symbolic_link_stays_and_its_target_is_written(export):
    Path('folder').mkdir()
    link = Path('link.ikr')
    link.symlink_to('folder/robot.ikr')
    for _ in range(2):
        assert export(link) == 0
        assert link.is_symlink()
        assert [path.name for path in Path('folder').iterdir()] == ['robot.ikr']


def test_pipe_is_written_directly(export):
    """It is not replaced by a file, and neither would a device be."""
    assert export('robot.ikr') == 0
    os.mkfifo('pipe')
    reader = os.open('pipe', os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert export('pipe') == 0
        assert os.read(reader, 1 << 20) == Path('robot.ikr').read_bytes()
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat('pipe').st_mode)


@pytest.mark.parametrize(
    ('path', 'reason'),
    [('nowhere/robot.ikr', 'No such file or directory'), ('folder', 'Is a directory')],
)
def test_error_names_the_path_of_the_user(export, capsys, path, reason):
    Path('folder').mkdir()
    assert export(path) == 2
    assert refusal(capsys) == f'ik_node export: {path}: {reason}\n'
    assert [each.name for each in Path().iterdir()] == ['folder']


def test_actuators_without_joints_are_refused(export, capsys):
    assert export('robot.ikr', '--actuators', 'arm0') == 2
    said = refusal(capsys)
    assert '--actuators' in said
    assert '--joints beside it' in said
    assert not Path('robot.ikr').exists()
