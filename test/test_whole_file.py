"""Output files have their names only when they are complete."""

from contextlib import suppress
from io import BytesIO
import os
from pathlib import Path
import subprocess
import sys
from zipfile import ZipFile

from ik_node.cli.main import main
from ik_node.whole_file import check_writable, whole_file
import numpy as np
import pytest


def test_file_has_its_name_and_content_only_after_the_block(tmp_path):
    """A failure keeps the file before; a link stays a link; a folder is replaced as a whole."""
    path, link = tmp_path / 'real.csv', tmp_path / 'link.csv'
    link.symlink_to(path)
    with whole_file(link) as part:
        part.write_text('new')
        assert not path.exists()
    assert link.is_symlink()
    assert path.read_text() == 'new'
    with suppress(ZeroDivisionError), whole_file(path) as part:
        part.write_text(f'broken {1 / 0}')
    assert path.read_text() == 'new'
    for content in ('old', 'new'):
        with whole_file(tmp_path / 'bag') as part:
            part.mkdir()
            (part / content).write_text(content)
    assert [each.name for each in (tmp_path / 'bag').iterdir()] == ['new']
    assert sorted(each.name for each in tmp_path.iterdir()) == ['bag', 'link.csv', 'real.csv']
    with whole_file('/dev/null') as part:
        assert part == Path('/dev/null')


def test_check_of_an_output_leaves_nothing(tmp_path):
    """Not even for a moment: a kill could come then."""
    check_writable(tmp_path / 'out.csv')
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match=r'out\.csv'):
        check_writable(tmp_path / 'none' / 'out.csv')
    with pytest.raises(OSError, match='directory'):
        check_writable(tmp_path)


def test_killed_writer_leaves_the_file_before(tmp_path):
    """SIGKILL in the middle."""
    path = tmp_path / 'out.csv'
    path.write_text('before')
    program = (
        'import os, sys\nfrom ik_node.whole_file import whole_file\n'
        f'with whole_file({str(path)!r}) as part:\n'
        '    part.write_text("half")\n    os.kill(os.getpid(), 9)\n'
    )
    assert subprocess.run([sys.executable, '-c', program]).returncode == -9
    assert path.read_text() == 'before'


COMMANDS = {
    'batch': ('arm6', '--link', 'tool_link', '--goals', 'poses.csv', '-o', 'out.csv'),
    'reach --volume': ('arm6', '--volume', '--link', 'tool_link', '--cell', '0.4', '-o', 'o.npz'),
    'convert': ('gripper', '-o', 'out.urdf', '--closures-out', 'out.yaml'),
    'motion': ('arm6', '--motion', 'walk.csv', '--map', 'map.yaml', '-o', 'out.npz'),
}


@pytest.mark.parametrize('command', COMMANDS)
def test_command_interrupted_before_its_end_leaves_no_output(command, tmp_path, monkeypatch):
    """The last moment before an output is complete is the moment before it gets its name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'poses.csv').write_text('0.4,0.1,0.5\n0.4,0.2,0.5\n')
    (tmp_path / 'walk.csv').write_text('time,hand.x,hand.y,hand.z\n0,0.4,0,0.5\n0.1,0.4,0.1,0.5\n')
    (tmp_path / 'map.yaml').write_text('links: {tool_link: {point: hand}}\n')
    before = set(os.listdir())

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, 'replace', interrupt)
    words = [command.split()[0], *COMMANDS[command]]
    assert main(words) == 130
    made = set(os.listdir()) - before
    assert not made & set(words), made


@pytest.mark.parametrize(
    'words',
    [
        ('reach', 'huge.npz'),
        ('motion', 'arm6', '--motion', 'huge.npz', '-o', 'out.npz'),
        ('batch', 'arm6', '--link', 'tool_link', '--goals', 'huge.npy', '-o', 'out.csv'),
    ],
)
def test_arrays_that_claim_a_huge_size_are_refused_in_one_line(
    words, tmp_path, monkeypatch, capsys
):
    """24 PB in a header are no reason for a traceback."""
    header = {'descr': '<f8', 'fortran_order': False, 'shape': (10**15, 3)}
    data = BytesIO()
    np.lib.format.write_array_header_1_0(data, header)
    (tmp_path / 'huge.npy').write_bytes(data.getvalue())
    with ZipFile(tmp_path / 'huge.npz', 'w') as file:
        file.writestr('hand.npy', data.getvalue())
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err.count('\n') == 1
    assert 'huge.np' in err
