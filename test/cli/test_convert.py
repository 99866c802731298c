"""`convert`: any description to URDF with its loops; a file that differs is never left behind."""

import re

from ik_node.cli import convert
from ik_node.cli.main import main
from ik_node.robot import load_robot
import pytest

BARS = """<robot name="bars">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="drive" type="continuous"><parent link="ground"/><child link="crank"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
</robot>"""
TIE = """closures:
  - name: tie
    frame_a: {link: coupler, xyz: [1.1, 0, 0]}
    frame_b: {link: rocker, xyz: [0.9, 0, 0]}
    type: hinge
actuated: [drive]
"""


@pytest.fixture
def bars(tmp_path):
    (tmp_path / 'bars.urdf').write_text(BARS)
    (tmp_path / 'bars.closures.yaml').write_text(TIE)
    return tmp_path


def run(folder, *words):
    return main(['convert', str(folder / 'bars.urdf'), *map(str, words)])


def test_urdf_contains_the_loops(bars, capsys):
    out = bars / 'out.urdf'
    assert run(bars, '-o', out) == 0
    said = capsys.readouterr()
    assert said.out == ''
    assert 'URDF + closures YAML, robot bars: 4 links, 3 joint values, 1 loop' in said.err
    assert "note: joint 'drive': no <axis>" in said.err
    assert f'{out}: written, read back and compared: the same robot' in said.err
    robot = load_robot(out)
    assert robot.dialect == 'URDF + loop_joint'
    assert (list(robot.closures), robot.actuated) == (['tie'], ['drive'])


def test_urdf_is_written_to_stdout(bars, capsys):
    assert run(bars, '-o', '-') == 0
    assert list(load_robot(capsys.readouterr().out).closures) == ['tie']
    assert sorted(path.name for path in bars.iterdir()) == ['bars.closures.yaml', 'bars.urdf']


def test_loops_are_written_to_a_second_file(bars):
    out, loops = bars / 'out.urdf', bars / 'out.closures.yaml'
    assert run(bars, '-o', out, '--closures-out', loops) == 0
    assert '<loop_joint' not in out.read_text()
    assert list(load_robot(out).closures) == ['tie']


def test_given_annotations_replace_the_loops(bars):
    (bars / 'other.yaml').write_text(TIE.replace('tie', 'knot'))
    assert run(bars, '--closures', bars / 'other.yaml', '-o', bars / 'out.urdf') == 0
    assert list(load_robot(bars / 'out.urdf').closures) == ['knot']


def test_files_that_are_there(bars, capsys):
    out = bars / 'out.urdf'
    out.write_text('mine')
    assert run(bars, '-o', out) == 2
    assert 'a file that does not exist, or --force' in capsys.readouterr().err
    assert out.read_text() == 'mine'
    assert run(bars, '-o', out, '--force') == 0
    assert 'loop_joint' in out.read_text()
    assert run(bars, '-o', bars / 'bars.urdf', '--force') == 2
    assert 'another file than the input' in capsys.readouterr().err
    assert (bars / 'bars.urdf').read_text() == BARS
    assert run(bars, '-o', bars, '--force') == 2


@pytest.mark.parametrize('force', [True, False])
def test_one_file_for_both_outputs_is_refused(bars, capsys, force):
    out, more = bars / 'out.urdf', ['--force'] if force else []
    assert run(bars, '-o', out, '--closures-out', out, *more) == 2
    assert 'another file than -o' in capsys.readouterr().err
    assert run(bars, '-o', out, '--closures-out', '-', *more) == 2
    assert not out.exists()


@pytest.mark.parametrize('before', [None, 'mine'])
def test_a_wrong_file_is_not_left_behind(bars, capsys, monkeypatch, before):
    """What reads back as another robot is taken away, and what was there put back."""
    out = bars / 'out.urdf'
    if before is not None:
        out.write_text(before)
    answers = iter(['', "pose of link 'crank'"])
    monkeypatch.setattr(convert, '_differences', lambda *_: next(answers))
    assert run(bars, '-o', out, '--force') == 1
    said = capsys.readouterr().err
    assert 'not written: the robot that is read back differs' in said
    assert "pose of link 'crank'" in said
    assert out.exists() is (before is not None)
    assert before is None or out.read_text() == before


def test_sidecar_beside_output_that_changes_robot_is_refused(bars, capsys):
    """A sidecar of that name would be read as well: then it is another robot."""
    (bars / 'out.closures.yaml').write_text(TIE.replace('tie', 'second'))
    assert run(bars, '-o', bars / 'out.urdf') == 1
    assert 'read with the files beside it: closures' in capsys.readouterr().err
    assert not (bars / 'out.urdf').exists()


def test_input_that_cannot_be_used(tmp_path, capsys):
    assert main(['convert', str(tmp_path / 'gone.urdf'), '-o', '-']) == 2
    (tmp_path / 'bad.urdf').write_text('<robot><link')
    assert main(['convert', str(tmp_path / 'bad.urdf'), '-o', '-']) == 2
    lines = capsys.readouterr().err.splitlines()
    assert 'gone.urdf' in lines[0]
    assert 'not well-formed XML' in lines[1]
    assert len(lines) == 2


def test_every_command_is_in_the_readme(repository):
    from ik_node.cli.main import COMMANDS

    section = (repository / 'README.md').read_text().split('\n## Commands\n')[1].split('\n## ')[0]
    assert re.findall(r'^\| `(\w+)` \|', section, flags=re.MULTILINE) == [*COMMANDS]
