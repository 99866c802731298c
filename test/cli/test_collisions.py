"""Collisions on the command line: pairs, SRDF files, obstacles and margins."""

import csv
import json
import re

import ik_node as ik
from ik_node.cli.main import main
import numpy as np
import pytest
from support import command_line
from support.robot_texts import arm_text

OBSTACLES = """obstacles:
  table: {box: [0.6, 0.4, 0.1], xyz: [0.6, 0.0, 0.2], rpy: [0, 0, 0.5]}
  ball: {sphere: 0.1, xyz: [-0.6, 0.3, 0.4]}
  pole: {capsule: [0.02, 0.5], xyz: [0, 0.8, 0.4], quat_xyzw: [0, 0, 0, 1]}
  can: {cylinder: [0.05, 0.2], xyz: [0, -0.8, 0.1]}
  wedge: {hull: [[1, 1, 0], [1.2, 1, 0], [1, 1.2, 0], [1, 1, 0.2]]}
  floor: {half_space: , xyz: [0, 0, -0.2]}
"""


def refusal(words, capsys):
    assert main(words) == 2
    return command_line.refusal(capsys)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(arm_text())
    return str(path)


@pytest.fixture
def obstacles(tmp_path):
    path = tmp_path / 'obstacles.yaml'
    path.write_text(OBSTACLES)
    return str(path)


def test_check_lists_rules_and_pairs_that_touch(tmp_path, capsys):
    """Check lists what each rule left out, pairs that touch always, and contacts with depths."""
    text = arm_text(3)
    for low, joint in ((0, 'j0'), (1, 'j1')):
        text = text.replace(
            f'<joint name="{joint}" type="revolute"><parent link="l{low}"/>'
            f'<child link="l{low + 1}"/><origin xyz="0 0 0.3"/>',
            f'<joint name="{joint}" type="revolute"><parent link="l{low}"/>'
            f'<child link="l{low + 1}"/><origin xyz="0 0 0.001"/>',
        )
    path = tmp_path / 'arm.urdf'
    path.write_text(text.replace('lower="-2.8" upper="2.8"', 'lower="-0.01" upper="2.8"', 1))
    main(['check', str(path), '--collisions', '--json'])
    found = json.loads(capsys.readouterr().out)['collisions']
    assert found['bodies'] == 4
    assert found['removed']['joined by a joint'] == 3
    assert found['touching_always'] + [each['pair'] for each in found['contacts']] == [
        ['l0', 'l2']
    ]
    main(['check', str(path), '--collisions'])
    out = capsys.readouterr().out
    assert 'collisions: 4 bodies, ' in out
    assert '3 pairs left out: joined by a joint' in out
    assert 'contact' in out
    assert 'l0, l2' in out


def test_srdf_of_sampled_pairs_is_read_back(arm, tmp_path, capsys):
    """The written SRDF excludes the same pairs when the robot is loaded with it."""
    out = tmp_path / 'pairs.srdf'
    assert main(['collisions', arm, '-o', str(out), '--samples', '200']) == 0
    assert 'pairs left out (6 Adjacent)' in capsys.readouterr().out
    robot = ik.load_robot(arm, srdf=out)
    assert robot.collisions.pairs == ik.load_robot(arm).collisions.pairs
    assert '--overwrite' in refusal(['collisions', arm, '-o', str(out)], capsys)
    fewer = ['--samples', '1', '--never', '--overwrite']
    assert main(['collisions', arm, '-o', str(out), *fewer]) == 0
    rest = len(ik.load_robot(arm, srdf=out).collisions.pairs)
    assert rest < len(robot.collisions.pairs)
    assert f'{rest} pairs are checked' in capsys.readouterr().out


def test_solve_keeps_away_from_obstacles_of_a_file(arm, obstacles, capsys):
    """An answer keeps the margin to obstacles of a file, or is not converged and names a pair."""
    start = [f'j{k}=0.5' for k in range(6)]
    goal = ['solve', arm, '--goal', 'l6:0.7,0.0,0.4', '--start', *start, '--json']
    main([*goal, '--obstacles', obstacles, '--margin', '0.02'])
    answer = json.loads(capsys.readouterr().out)
    robot = ik.load_robot(arm)
    robot.collisions.add_obstacle(
        ik.Box((0.6, 0.4, 0.1)), ((0.6, 0.0, 0.2), (0, 0, np.sin(0.25), np.cos(0.25))), 'table'
    )
    nearest = robot.collisions.distances([*answer['q'].values()], reach=5.0)[0]
    assert nearest.d >= 0.02 - 1e-6 or answer['status'] != 'CONVERGED'
    inside = ['solve', arm, '--goal', 'l6:0.6,0.0,0.2', '--json', '--obstacles', obstacles]
    assert main(inside) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer['status'] != 'CONVERGED'
    assert 'table' in answer['nearest']['pair']
    assert main(['solve', arm, '--goal', 'l6:0.6,0.0,0.2', '--json']) == 0


def test_all_solutions_tell_those_in_contact(arm, obstacles, capsys):
    """JSON has solutions that touch an obstacle apart from the others."""
    words = ['solve', arm, '--all', '--goal', 'l6:0.6,0.0,0.4,0,0,0,1', '--json']
    found = []
    for more in ([], ['--obstacles', obstacles]):
        main([*words, *more])
        found.append(json.loads(capsys.readouterr().out))
    every, apart = found
    assert not every['in_contact']
    assert len(apart['in_contact']) > 0
    assert sorted(apart['q'] + apart['in_contact']) == sorted(every['q'])


def test_batch_marks_poses_inside_an_obstacle(arm, obstacles, tmp_path):
    """A pose inside an obstacle does not converge in a batch, one in free space does."""
    goals, out = tmp_path / 'goals.csv', tmp_path / 'out.csv'
    goals.write_text('0.6,0.0,0.2\n0.3,0.2,1.2\n')
    words = ['--goals', str(goals), '--link', 'l6', '-o', str(out), '--restarts', '5']
    start = [f'j{k}=0.3' for k in range(6)]
    assert main(['batch', arm, *words, '--start', *start, '--obstacles', obstacles]) == 1
    rows = [*csv.DictReader(out.read_text().splitlines())]
    assert [row['status'] == 'CONVERGED' for row in rows] == [False, True]


def test_slice_of_reach_leaves_out_the_inside_of_obstacles(arm, tmp_path, capsys):
    path, counts = tmp_path / 'wall.yaml', []
    path.write_text('obstacles: {wall: {box: [0.4, 0.4, 0.4], xyz: [0.6, 0, 0.9]}}')
    words = ['--link', 'l6', '--plane', 'xz', '--at', '0', '--grid', '7', '--restarts', '2']
    extent = ['--extent', '0.2', '1.0', '0.5', '1.3', '-o', str(tmp_path / 'reach.csv')]
    for more in ([], ['--obstacles', str(path)]):
        assert main(['reach', arm, *words, *extent, *more]) == 0
        counts.append(int(capsys.readouterr().out.split()[0]))
    assert counts[1] < counts[0]


def test_motion_and_reach_count_what_bodies_hold_back(tmp_path, capsys):
    """The last line names the nearest pair, and how many frames and points are at the margin."""
    path = tmp_path / 'down.csv'
    rows = [f'{0.05 * k},0.75,0,{0.62 - 0.02 * k}' for k in range(8)]  # down through the board
    path.write_text('\n'.join(['time,tool_link.x,tool_link.y,tool_link.z', *rows]))
    words = ['motion', 'arm_at_shelf', '--motion', str(path), '-o', str(tmp_path / 'out.npz')]
    assert main(words) == 0
    said = capsys.readouterr().out
    count = re.search(r'; bodies: 0 frames in contact, (\d+) at the margin, .*board', said)
    assert 0 < int(count[1]) < 8
    robot = ik.load_robot('arm_at_shelf')
    q = np.load(tmp_path / 'out.npz')['q']
    assert not any(robot.collisions.contacts(row) for row in q)
    assert main([*words, '--overwrite', '--obstacles', str(_far(tmp_path))]) == 0
    assert 'bodies: 0 frames in contact, 0 at the margin' in capsys.readouterr().out
    words = ['reach', 'arm_at_shelf', '--link', 'tool_link', '--plane', 'xz', '--grid', '5']
    assert main([*words, '--restarts', '1', '-o', str(tmp_path / 'out.csv')]) == 0
    assert 'bodies: 0 points in contact' in capsys.readouterr().out
    words = ['reach', 'arm_at_shelf', '--link', 'tool_link', '--volume', '--cell', '0.3']
    assert main([*words, '--restarts', '1', '-o', str(tmp_path / 'map.npz')]) == 0
    said = capsys.readouterr().out
    count = re.search(r'; bodies: 0 configurations in contact, (\d+) at the margin, ', said)
    assert int(count[1]) > 0


def _far(folder):
    path = folder / 'far.yaml'
    path.write_text('obstacles: {ball: {sphere: 0.1, xyz: [9, 0, 0]}}')
    return path


def test_faults_of_obstacle_files_name_line_and_key(arm, tmp_path, capsys):
    """A fault in a file of obstacles is an error with the file, its line and the key."""
    path = tmp_path / 'obstacles.yaml'
    cases = {
        'a: {box: [1, 2]}': 'a: box',
        'a: {box: [1, 2, -1]}': 'a: box',
        'a: {sphere: .inf}': 'a: sphere',
        'a: {sphere: 1, box: [1, 1, 1]}': 'expected one of',
        'a: {xyz: [0, 0, 0]}': 'expected one of',
        'a: {ball: 1}': "'ball'",
        'a: {sphere: 1, xyz: [0, 0]}': 'a: xyz',
        'a: {sphere: 1, quat_xyzw: [0, 0, 0, 0]}': 'quat_xyzw',
        'a: {capsule: [1, 0]}': 'a: capsule',
        'a: {hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}': 'a: hull',
        'a: {mesh: none.stl}': 'none.stl',
        'l3: {sphere: 1}': 'l3',
        '1: {sphere: 1}': 'expected a name',
        'a: sphere': 'a: expected',
    }
    for text, what in cases.items():
        path.write_text(f'obstacles:\n  {text}\n')
        message = refusal(['solve', arm, '--obstacles', str(path)], capsys)
        assert what in message, message
        assert f'{path}:2' in message, message
    path.write_text('things: []')
    assert "'things'" in refusal(['solve', arm, '--obstacles', str(path)], capsys)
    assert '--margin' in refusal(['solve', arm, '--margin', '-1'], capsys)
    assert '--port' in refusal(['view', '--demo', 'hexapod', '--port', '-1'], capsys)
    with_demo = ['view', '--demo', 'hexapod', '--obstacles', str(path), '--port', '-1']
    assert '--obstacles' in refusal(with_demo, capsys)


def test_picture_of_a_solution_shows_obstacles_and_the_nearest_pair(tmp_path):
    """The nearest pair has a share of the picture in its colour, which the legend names."""
    image = pytest.importorskip('matplotlib.image')
    path = tmp_path / 'picture.png'
    words = ['solve', 'arm_at_shelf', '--goal', 'tool_link:0.8,0,0.4', '--plot', str(path)]
    assert main(words) == 0
    pixels = image.imread(path)[..., :3]
    orange = np.abs(pixels - (0.95, 0.45, 0.05)).max(axis=2) < 0.1
    assert orange.mean() > 1e-4
    brown = np.abs(pixels - (0.66, 0.60, 0.52)).max(axis=2) < 0.05
    assert brown.mean() > 0.05
