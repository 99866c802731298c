"""`reach --volume`: the stored map, queries to it, and its messages."""

import csv
import re
import signal

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.cli.main import main
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from support.command_line import refusal
from support.panda_like import panda_like, poses


@pytest.fixture
def panda(tmp_path):
    path = tmp_path / 'panda.urdf'
    path.write_text(panda_like().to_urdf())
    return path


@pytest.fixture
def volume(tmp_path, capsys):
    """Return how to compute a volume; gives the exit code, both outputs and the map."""
    out = tmp_path / 'map.npz'

    def call(robot, *words):
        given = ['reach', str(robot), '--volume', '-o', str(out), *map(str, words)]
        code = main(given)
        printed = capsys.readouterr()
        found = ReachVolume.load(out) if out.is_file() else None
        return code, printed.out, printed.err, found

    call.out = out
    return call


def test_map_is_written_and_queries_read_it(panda, volume, tmp_path, capsys):
    picture = tmp_path / 'map.png'
    code, out, err, found = volume(panda, '--link', 'link7', '--cell', 0.1, '--plot', picture)
    assert (code, err) == (0, '')
    assert picture.read_bytes().startswith(b'\x89PNG')
    count = np.count_nonzero(found.reached)
    assert re.match(rf'{count} of {found.reached.size} cells of 0\.1 m reached, .* s; \S+', out)
    assert main(['reach', str(volume.out), '--query', '0.41', '-0.1', '0.32']) == 0
    values = dict(re.findall(r'(\w+)=([-.\de]+)', capsys.readouterr().out))
    q = [[float(values[name]) for name in found.joint_names]]
    np.testing.assert_allclose(poses(q)[0, :3, 3], (0.4, -0.1, 0.3), atol=1e-4)
    assert main(['reach', str(volume.out), '--query', '2', '0', '0']) == 1
    assert capsys.readouterr().out == 'not reached\n'
    assert main(['reach', str(volume.out)]) == 0
    assert 'link7' in capsys.readouterr().out


def test_orientations_are_a_number_or_a_file(panda, volume, tmp_path, capsys):
    """Evenly spread directions, or given quaternions; a query tells their share."""
    words = ('--link', 'link7', '--cell', 0.2)
    _, _, _, found = volume(panda, *words, '--orientations', 4)
    assert found.quats_xyzw.shape == (4, 4)
    assert not found.roll
    table = tmp_path / 'turns.csv'
    table.write_text('1,0,0,0\n0,2,0,2\n')
    _, out, _, found = volume(panda, *words, '--orientations', table)
    np.testing.assert_allclose(found.quats_xyzw[1], (0.0, 0.5**0.5, 0.0, 0.5**0.5))
    assert found.roll
    assert 'in 2 orientations' in out
    main(['reach', str(volume.out), '--query', '0.4', '0', '0.4'])
    assert re.match(r'reached in (50|100)% of the orientations; ', capsys.readouterr().out)


def test_goal_of_another_link_is_kept(panda, volume):
    _, _, _, free = volume(panda, '--link', 'link7', '--cell', 0.2)
    elbow = panda_like().forward(panda_like().q, 'link4')[:3, 3]
    goal = 'link4:' + ','.join(map(str, elbow.tolist()))
    words = ('--link', 'link7', '--cell', 0.2, '--goal', goal)
    values = zip(free.joint_names, panda_like().q, strict=True)
    start = [f'{name}={value}' for name, value in values]
    _, _, _, kept = volume(panda, *words, '--start', *start)
    assert 0 < np.count_nonzero(kept.reached) < 0.5 * np.count_nonzero(free.reached)
    robot = load_robot(panda)
    for cell in np.argwhere(kept.reached)[::5]:
        q = kept.q_at(kept.origin + kept.cell * cell)
        np.testing.assert_allclose(robot.forward(q, 'link4')[:3, 3], elbow, atol=1e-5)


def test_best_positions_of_the_base_are_printed_and_written(panda, volume, tmp_path, capsys):
    targets, bases = tmp_path / 'targets.csv', tmp_path / 'bases.csv'
    targets.write_text('x,y,z\n0.5,0.3,0.4\n0.5,-0.3,0.4\n')
    _, _, _, found = volume(panda, '--link', 'link7', '--cell', 0.1)
    words = ['--targets', str(targets), '--extent', '-1', '2', '-1', '1', '-o', str(bases)]
    assert main(['reach', str(volume.out), *words]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 5
    assert printed[0].startswith('2 of 2 targets: x ')
    rows = list(csv.DictReader(bases.read_text().splitlines()))
    assert len(rows) == 31 * 21 * 24
    counts = [int(row['targets']) for row in rows]
    assert counts == sorted(counts, reverse=True)
    x, y, yaw = (float(rows[0][name]) for name in ('x', 'y', 'yaw'))
    c, s = np.cos(yaw), np.sin(yaw)
    points = (np.array(((0.5, 0.3), (0.5, -0.3))) - (x, y)) @ np.array(((c, -s), (s, c)))
    assert found.contains(np.column_stack((points, (0.4, 0.4)))).all()


def test_ctrl_c_keeps_the_map_so_far(panda, volume, monkeypatch):
    solve, calls = Solver.solve_batch, []

    def interrupted(self, *args, **chosen):
        if chosen.get('threads') == 2:
            calls.append(1)
            if len(calls) == 8:
                signal.raise_signal(signal.SIGINT)
        return solve(self, *args, **chosen)

    monkeypatch.setattr(Solver, 'solve_batch', interrupted)
    code, out, err, found = volume(panda, '--link', 'link7', '--cell', 0.1, '--threads', 2)
    assert (code, out) == (130, '')
    assert re.search(r'stopped; \d+ of \d+ cells .* incomplete, .*map\.npz', err)
    assert found.reached.any()
    assert not found.complete


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['--volume'], '--link is missing; links: '),
        (['--volume', '--link', 'link9'], "did you mean 'link"),
        (['--volume', '--link', 'link7', '--cell', '1e-4'], 'about 0.00'),
        (['--volume', '--link', 'link7', '--extent', '0', '1'], 'of x, of y and of z'),
        (['--volume', '--link', 'link7', '-o', 'a.csv'], '.npz, .h5 or .hdf5'),
        (['--volume', '--link', 'link7', '-o', 'nowhere/a.npz'], 'a file that can be written'),
        (['--volume', '--link', 'link7', '--plane', 'xy'], 'use it without --volume'),
        (['--volume', '--link', 'link7', '--orientations', 'few'], 'few: no such file'),
        (['--volume', '--link', 'link7', '--orientations', 'panda.urdf'], 'rows qx,qy,qz,qw'),
        (['--link', 'link7', '--orientations', '4'], 'with --volume only'),
        (['--link', 'link7', '--query', '1', '2', '3'], 'with a stored map'),
        (['--link', 'link7', '--targets', 'a.csv'], 'with a stored map'),
    ],
)
def test_unusable_volume_ends_with_2(panda, tmp_path, capsys, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert main(['reach', str(panda), *words]) == 2
    assert reason in refusal(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ['panda.urdf']


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['none.npz'], 'none.npz: no such file'),
        (['text.npz'], 'text.npz: not a .npz file'),
        (['text.npz', '--query', '1', '2', '3'], 'text.npz: not a .npz file'),
    ],
)
def test_unusable_map_ends_with_2(tmp_path, capsys, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'text.npz').write_text('text')
    assert main(['reach', *words]) == 2
    assert reason in refusal(capsys)
