"""`batch`: poses from a file, answers into a file, and going on where it stopped."""

import csv
import io
import signal
import sys

from ik_node.cli import batch
from ik_node.cli.main import main
from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
import numpy as np
import pytest

HEXAPOD = description_path(gallery_item('hexapod').description)
ROWS = 40


@pytest.fixture(scope='module')
def poses():
    rng = np.random.default_rng(0)
    platform = load_robot(HEXAPOD).links['platform_link'].get_world_position()
    positions = platform + 0.004 * rng.normal(size=(ROWS, 3))
    quats = np.column_stack((0.03 * rng.normal(size=(ROWS, 3)), np.ones(ROWS)))
    positions[7, 2] += 1.0
    return np.column_stack((positions, quats))


@pytest.fixture(scope='module')
def wanted(poses):
    solver = Solver(load_robot(HEXAPOD))
    return solver.solve_batch({'platform_link': (poses[:, :3], poses[:, 3:])})


@pytest.fixture
def run(tmp_path, capsys):
    """Return how to run the command; gives the exit code, both outputs and the answers."""
    out = tmp_path / 'out.csv'

    def call(*words, robot=HEXAPOD):
        code = main(['batch', str(robot), '-o', str(out), *map(str, words)])
        printed = capsys.readouterr()
        rows = list(csv.DictReader(io.StringIO(out.read_text()))) if out.is_file() else []
        return code, printed.out, printed.err, rows

    call.out = out
    return call


def table(tmp_path, poses, header='', name='poses.csv'):
    path = tmp_path / name
    if path.suffix == '.npy':
        np.save(path, poses)
    else:
        lines = [','.join(repr(float(v)) for v in row) for row in poses]
        path.write_text('\n'.join(([header] if header else []) + lines) + '\n')
    return path


@pytest.mark.parametrize(
    ('header', 'name', 'words'),
    [
        ('', 'poses.csv', ['--link', 'platform_link']),
        ('x,y,z,qx,qy,qz,qw', 'poses.csv', ['--link', 'platform_link', '--threads', '2']),
        (
            ', '.join(f'platform_link.{c}' for c in ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')),
            'poses.csv',
            [],
        ),
        ('', 'poses.npy', ['--link', 'platform_link', '--threads', '1']),
    ],
)
def test_output_file_has_a_row_per_pose(run, tmp_path, poses, wanted, header, name, words):
    """Every way to write the poses gives what the library gives, to the last digit."""
    path = table(tmp_path, poses, header, name)
    code, out, err, rows = run('--goals', path, *words)
    assert (code, err) == (1, '')
    assert out.startswith('39 CONVERGED, 1 STALLED (40 in ')
    names = load_robot(HEXAPOD).joint_names
    q = np.array([[float(row[joint]) for joint in names] for row in rows])
    np.testing.assert_array_equal(q, wanted.q)
    assert [row['status'] for row in rows].index('STALLED') == 7
    assert [int(row['iterations']) for row in rows] == wanted.iterations.tolist()
    off = [float(row['platform_link.position_error']) for row in rows]
    assert max(off[:7]) < 1e-6
    assert off[7] > 0.9
    assert max(float(row['loops.position_error']) for row in rows) < 1e-6


def test_exit_code_is_0_if_all_poses_converge(run, tmp_path, poses):
    """Exit code 0; any orientation will do where none is asked for; a start may be given."""
    path = table(tmp_path, np.delete(poses, 7, axis=0)[:, :3])
    words = ('--goals', path, '--link', 'platform_link', '--start', 'platform_z=0.09')
    code, out, _, rows = run(*words)
    assert code == 0
    assert out.startswith('39 CONVERGED (39 in ')
    assert len(rows) == 39


def test_resume_appends_to_the_output_file(run, tmp_path, poses, wanted, monkeypatch, capsys):
    """After Ctrl-C what is done is there; --resume does the rest, a torn last line anew."""
    path = table(tmp_path, poses)
    words = ['batch', str(HEXAPOD), '--goals', str(path), '--link', 'platform_link']
    words += ['-o', str(run.out), '--threads', '2']
    solve, calls = batch.solve_batch, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return solve(*args)

    monkeypatch.setattr(batch, 'solve_batch', interrupted)
    assert main([*words, '--chunk', '10']) == 130
    assert '20 of 40 are in' in capsys.readouterr().err
    part = run.out.with_name('out.csv.part')
    assert not run.out.exists()
    assert len(part.read_text().splitlines()) == 21
    with part.open('a') as file:
        file.write('0.1,0.2,0.')
    assert main(words) == 2, 'nothing is overwritten silently'
    assert 'out.csv.part: the file exists: --resume continues it' in capsys.readouterr().err
    assert main([*words, '--resume']) == 1
    out = capsys.readouterr().out
    assert out.startswith('39 CONVERGED, 1 STALLED (20 in ')
    rows = list(csv.DictReader(io.StringIO(run.out.read_text())))
    assert not part.exists()
    first = load_robot(HEXAPOD).joint_names[0]
    assert [float(row[first]) for row in rows] == wanted.q[:, 0].tolist()
    assert main([*words, '--resume']) == 1, 'nothing is left to do'
    assert capsys.readouterr().out == '39 CONVERGED, 1 STALLED\n'
    before = run.out.read_text()
    assert main(words) == 2, 'nothing is overwritten silently'
    assert 'out.csv: the file exists: --resume continues it' in capsys.readouterr().err
    assert run.out.read_text() == before
    assert main([*words, '--overwrite']) == 1
    assert len(run.out.read_text().splitlines()) == 41


def test_resume_refuses_rows_of_other_poses(run, tmp_path, poses):
    words = ('--link', 'platform_link')
    run('--goals', table(tmp_path, poses[:8]), *words)
    before = run.out.read_text()
    for rows, more in ((poses[::-1], ()), (poses, ('--restarts', '0'))):
        code, _, err, _ = run('--goals', table(tmp_path, rows), *words, *more, '--resume')
        assert code == 2
        assert 'its last row is no answer of this robot to this pose' in err
        assert run.out.read_text() == before


def test_resume_refuses_a_file_with_other_columns(run, tmp_path, poses):
    path = table(tmp_path, poses)
    words = ('--goals', path, '--link', 'platform_link', '--resume')
    run.out.write_text('a,b\n1,2\n')
    code, _, err, _ = run(*words)
    assert code == 2
    assert 'its columns are not those' in err
    assert run.out.read_text() == 'a,b\n1,2\n'
    run.out.unlink()
    assert run(*words)[0] == 1
    code, _, err, _ = run('--goals', table(tmp_path, poses[:3]), *words[2:])
    assert code == 2
    assert '40 results for 3 poses' in err


@pytest.mark.parametrize(
    ('text', 'words', 'reason'),
    [
        ('1,2,3\n', [], '--link'),
        ('1,2\n', ['--link', 'platform_link'], '2 columns without names, not 3 or 7'),
        ('x,y,w\n1,2,3\n', ['--link', 'platform_link'], "column 'w'"),
        ('x,y,z\n1,2,3\n', [], "'x': no link; use --link"),
        ('x,y,x\n1,2,3\n', ['--link', 'platform_link'], "column 'x'"),
        ('x,y,z,qx\n1,2,3,4\n', ['--link', 'platform_link'], 'has no column qy qz qw'),
        ('x,y,z\n1,2\n', ['--link', 'platform_link'], '3 names for 2 columns'),
        ('x,y,z\n1,2,3\n1,2\n', ['--link', 'platform_link'], ':3: 2 columns, but 3 in'),
        ('x,y,z\n\n1,2,three\n', ['--link', 'platform_link'], ":3: 'three' is not a finite"),
        ('1,2,3\n# a\n1,nan,3\n', ['--link', 'platform_link'], ":3: 'nan' is not a finite"),
        ('1,2,3\n1,,3\n', ['--link', 'platform_link'], ":2: '' is not a finite number"),
        ('1,2,3,0,0,0,1\n\n1,2,3,0,0,0,0\n', ['--link', 'platform_link'], ':3: the quaternion'),
        ('1,2,3\n\xff', ['--link', 'platform_link'], 'poses.csv'),
        ('1,2,3\n', ['--link', 'platform_link', '--threads', '0'], 'threads: 0'),
        ('1,2,3\n', ['--link', 'platform_link', '--restarts', '-1'], 'restarts: -1'),
        (None, ['--link', 'platform_link'], 'no such file'),
    ],
)
def test_unusable_input_ends_with_2(run, tmp_path, text, words, reason):
    path = tmp_path / 'poses.csv'
    if text is not None:
        path.write_text(text)
    code, out, err, rows = run('--goals', path, *words)
    assert (code, out, rows) == (2, '', [])
    assert err.count('\n') == 1
    assert reason in err


@pytest.mark.parametrize('array', [np.array(['a']), np.zeros(3), np.zeros((2, 2, 2))])
def test_unusable_arrays_are_refused(run, tmp_path, array):
    """A .npy file must hold numbers in rows; a text file of that name is no array."""
    path = table(tmp_path, array, name='poses.npy')
    code, _, err, _ = run('--goals', path, '--link', 'platform_link')
    assert code == 2
    assert 'not numbers in rows' in err
    path.write_text('1,2,3\n')
    code, _, err, _ = run('--goals', path, '--link', 'platform_link')
    assert code == 2
    assert 'poses.npy' in err


@pytest.mark.parametrize('text', ['', 'x,y,z\n'])
def test_empty_table_writes_only_the_header(run, tmp_path, text):
    path = tmp_path / 'poses.csv'
    path.write_text(text)
    code, out, _, rows = run('--goals', path, '--link', 'platform_link')
    assert (code, rows) == ((0, []) if text else (2, []))
    assert out == ('no poses\n' if text else '')


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self):
        return True


def test_terminal_shows_how_many_poses_are_done_and_ends_blank(run, tmp_path, poses, monkeypatch):
    """The bar begins where the file of answers ends, and does not outlive the command."""
    path = table(tmp_path, poses)
    run('--goals', table(tmp_path, poses[:10], name='first.csv'), '--link', 'platform_link')
    screen = Terminal()
    monkeypatch.setattr(sys, 'stderr', screen)
    run('--goals', path, '--link', 'platform_link', '--resume')
    assert f'10/{ROWS} ' in screen.getvalue()
    assert screen.getvalue().endswith('\r')
    assert screen.getvalue().split('\r')[-2].strip() == ''
