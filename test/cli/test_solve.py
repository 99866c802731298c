"""`solve` and `check`: words, JSON and exit codes."""

import json
import math
import re

from ik_node.cli.main import main
import pytest
from support.command_line import refusal

ARM = """<robot name="arm">
  <link name="base"/><link name="upper"/><link name="fore"/><link name="hand"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/>
  </joint>
  <joint name="wrist" type="fixed"><parent link="fore"/><child link="hand"/>
    <origin xyz="1 0 0"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return str(path)


def test_json_has_the_solution(arm, capsys):
    code = main(['solve', arm, '--goal', 'hand:1,1,0', '--start', 'elbow=0.5', '--json'])
    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert answer['status'] == 'CONVERGED'
    q = answer['q']
    x = math.cos(q['shoulder']) + math.cos(q['shoulder'] + q['elbow'])
    y = math.sin(q['shoulder']) + math.sin(q['shoulder'] + q['elbow'])
    assert (x, y) == pytest.approx((1.0, 1.0), abs=2e-6)
    assert answer['goal_errors']['hand']['position'] < 1e-6
    assert answer['closure_errors'] == {}
    assert answer['iterations'] >= 1
    assert answer['solve_time'] > 0


def test_text_has_the_solution(arm, capsys):
    assert main(['solve', arm, '--goal', 'hand:2,0,0,0,0,0,1']) == 0
    text = capsys.readouterr().out
    assert text.startswith('CONVERGED')
    assert re.search(r'^  shoulder +\S+ rad$', text, re.MULTILINE)
    assert re.search(r'^  goal hand: \S+ m, \S+ rad off$', text, re.MULTILINE)


def test_text_has_the_unit_of_each_value(repository, capsys):
    assert main(['solve', str(repository / 'urdf' / 'hexapod.urdf')]) == 0
    text = capsys.readouterr().out
    assert re.search(r'^  leg0 +\S+ m$', text, re.MULTILINE)
    assert re.search(r'^  leg0_rx +\S+ rad$', text, re.MULTILINE)


def test_unreachable_goal_ends_with_1(arm, capsys):
    assert main(['solve', arm, '--goal', 'hand:3,0,0', '--json']) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer['status'] != 'CONVERGED'
    assert answer['goal_errors']['hand']['position'] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['--goal', 'hand:1,1'], 'LINK:x,y,z'),
        (['--goal', '1,1,1'], 'LINK:x,y,z'),
        (['--goal', 'hand:a,b,c'], 'LINK:x,y,z'),
        (['--goal', 'hand:nan,0,0'], 'finite'),
        (['--goal', 'hand:1,1,0,0,0,0,0'], 'zero'),
        (['--goal', 'foot:1,1,0'], "'foot'"),
        (['--goal', 'hand:1,1,0', '--goal', 'hand:1,1,0'], 'one goal per link'),
        (['--start', 'elbow'], 'JOINT=VALUE'),
        (['--start', 'knee=1'], "'knee'"),
        (['--closures', 'no_such_file.yaml'], 'no_such_file.yaml'),
    ],
)
def test_unusable_input_ends_with_2(arm, capsys, words, reason):
    assert main(['solve', arm, *words]) == 2
    assert reason in refusal(capsys)


@pytest.mark.parametrize('command', ['solve', 'check'])
def test_unusable_files_end_with_2(command, tmp_path, capsys):
    broken = tmp_path / 'broken.urdf'
    broken.write_text('<robot name="x"><link')
    for path in (broken, tmp_path / 'missing.urdf'):
        assert main([command, str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.err.count('\n') == 1
        assert path.name in captured.err


def test_all_solutions_are_a_table_and_a_picture(capsys, tmp_path):
    """The nearest one first; JSON has the numbers, and the picture shows the others as ghosts."""
    picture = tmp_path / 'all.png'
    words = ['solve', 'arm6', '--goal', 'tool_link:0.5,0.2,0.5,0,0,0,1', '--all']
    assert main([*words, '--plot', str(picture)]) == 0
    text = capsys.readouterr().out
    assert text.startswith('Solutions: ')
    assert 'condition' in text
    assert picture.stat().st_size > 1000
    assert main([*words, '--json', '--sort', 'condition']) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found['q']) == len(found['condition']) >= 1
    assert found['condition'] == sorted(found['condition'], reverse=True)
    assert main(['solve', 'fivebar', '--all', '--hold', 'left_shoulder', 'right_shoulder']) == 0
    assert main(['solve', 'fivebar', '--all', '--hold', 'nobody']) == 2
