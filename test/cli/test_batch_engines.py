"""`batch` on engines, and after a kill: always the same file, byte for byte."""

from pathlib import Path
import subprocess
import sys
import time

from ik_node.cli.main import main
from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.native import is_compiled
from ik_node.robot import load_robot
from ik_node.solver.batch import engines
import numpy as np
import pytest
from support.waiting import PATIENCE

HEXAPOD = description_path(gallery_item('hexapod').description)
COUNT = 3000 if is_compiled() else 30
CHUNK = str(COUNT // 30)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with poses of the hexapod's platform, some of them out of reach."""
    folder = tmp_path_factory.mktemp('batch')
    rng = np.random.default_rng(0)
    platform = load_robot(HEXAPOD).links['platform_link'].get_world_position()
    poses = np.tile((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0), (COUNT, 1))
    poses[:, :3] = platform + 0.004 * rng.normal(size=(COUNT, 3))
    poses[:, 3:] = (0.0, 0.0, 0.0, 1.0)
    poses[:, 3:6] = 0.03 * rng.normal(size=(COUNT, 3))
    poses[:: COUNT // 10, 2] += 1.0
    np.save(folder / 'poses.npy', poses)
    assert main(words(folder, 'whole.csv')) == 1
    return folder


def words(folder, out, *more, goals='poses.npy'):
    given = ['batch', str(HEXAPOD), '--goals', str(folder / goals), '--link', 'platform_link']
    return [*given, '-o', str(folder / out), '--restarts', '3', *more]


def same(folder, out):
    assert (folder / out).read_bytes() == (folder / 'whole.csv').read_bytes()


@pytest.mark.parametrize('engine', ['processes', 'dask'])
def test_engine_writes_the_same_file(folder, engine, capfd):
    if engine != 'processes':
        pytest.importorskip('distributed')
    assert main(words(folder, f'{engine}.csv', '--engine', engine, '--workers', '2')) == 1
    same(folder, f'{engine}.csv')
    out, err = capfd.readouterr()
    assert f' STALLED ({COUNT} in ' in out
    assert err == ''


@pytest.mark.parametrize('engine', ['threads', 'processes'])
def test_killed_job_is_resumed_to_the_same_file(folder, engine):
    out = folder / f'killed_{engine}.csv'
    part = folder / f'killed_{engine}.csv.part'
    more = ['--engine', engine, '--chunk', CHUNK, '--restarts', '200']
    more += [] if engine == 'threads' else ['--workers', '2']
    command = words(folder, out.name, *more)
    job = subprocess.Popen([sys.executable, '-m', 'ik_node', *command])
    try:
        half = (folder / 'whole.csv').stat().st_size // 3
        wait_until(lambda: job.poll() is not None or size_of(part) > half)
        workers = children(job.pid)
        assert job.poll() is None, 'it must still be at work'
    finally:
        job.kill()
        job.wait()
    assert len(workers) >= (2 if engine == 'processes' else 0)
    wait_until(lambda: not any(alive(worker) for worker in workers))
    assert not out.exists()
    rows = part.read_bytes().count(b'\n') - 1
    assert 0 < rows < COUNT
    with part.open('ab') as file:
        file.write(b'0.25,0.')
    assert main([*command, '--resume']) == 1
    assert main(words(folder, 'slow.csv', '--restarts', '200', '--overwrite')) == 1
    assert out.read_bytes() == (folder / 'slow.csv').read_bytes()


def size_of(path):
    return path.stat().st_size if path.is_file() else 0


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def children(process):
    return Path(f'/proc/{process}/task/{process}/children').read_text().split()


def alive(process):
    try:
        return Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_interrupted_job_ends_with_one_line(folder):
    out = folder / 'interrupted.csv.part'
    # Long enough that it is still at work.
    np.save(folder / 'many.npy', np.tile(np.load(folder / 'poses.npy'), (40, 1)))
    more = ('--engine', 'processes', '--workers', '2', '--chunk', CHUNK, '--restarts', '200')
    given = words(folder, 'interrupted.csv', *more, goals='many.npy')
    command = [sys.executable, '-m', 'ik_node', *given]
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: job.poll() is not None or size_of(out) > 10_000)
    workers = children(job.pid)
    # As a terminal does: to every process of the group.
    subprocess.run(['kill', '-INT', '--', f'-{job.pid}'], check=True)
    _, err = job.communicate(timeout=20.0)
    assert job.returncode == 130
    assert err.count('\n') == 1, err
    assert f' of {40 * COUNT} are in {out}; --resume continues' in err
    wait_until(lambda: not any(alive(worker) for worker in workers))


@pytest.mark.parametrize(
    ('more', 'message'),
    [
        (['--engine', 'processes', '--address', 'a:1'], 'address: '),
        (['--workers', '2'], 'workers: 2 cannot be used; use none with the engine threads'),
        (['--engine', 'processes', '--workers', '0'], 'workers: 0'),
        (['--chunk', '0'], 'chunk: 0'),
        (['--engine', 'dask'], "distributed is not installed; run: pip install 'ik_node[dask]'"),
    ],
)
def test_unusable_arguments_end_with_2(folder, more, message, monkeypatch, capsys):
    monkeypatch.setattr(engines, 'find_spec', lambda _: None)
    assert main(words(folder, 'none.csv', *more)) == 2
    err = capsys.readouterr().err
    assert err.count('\n') == 1, err
    assert message in err
    assert not (folder / 'none.csv').exists()


def test_unreachable_cluster_ends_with_2(folder, monkeypatch, capsys):
    pytest.importorskip('distributed')
    monkeypatch.setattr(engines, 'CONNECT_SECONDS', 0.5)
    more = ('--engine', 'dask', '--address', '127.0.0.1:9')
    assert main(words(folder, 'none.csv', *more)) == 2
    err = capsys.readouterr().err
    assert err.count('\n') == 1, err
    assert 'Dask cluster 127.0.0.1:9: ' in err
    assert not (folder / 'none.csv').exists()


def test_bad_row_of_an_array_is_named(tmp_path, folder, monkeypatch, capsys):
    """Before anything is solved, also beyond the first block that is checked."""
    poses = np.load(folder / 'poses.npy')[:30]
    for row, column, value, message in ((17, 1, np.nan, 'finite'), (29, slice(3, 7), 0, 'zero')):
        bad = poses.copy()
        bad[row, column] = value
        np.save(tmp_path / 'bad.npy', bad)
        monkeypatch.setattr('ik_node.cli.batch.BLOCK', 10)
        assert main(words(tmp_path, 'none.csv', goals='bad.npy')) == 2
        err = capsys.readouterr().err
        assert f'in row {row}: ' in err
        assert message in err
        assert not (tmp_path / 'none.csv').exists()
