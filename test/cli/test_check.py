"""What `check` says of a robot's mobility, and of loops that are not in use."""

import json

from ik_node.cli.main import main
from ik_node.robot import load_robot
import pytest

BARS = """<robot name="bars">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="drive" type="continuous"><parent link="ground"/><child link="crank"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="tie" type="revolute" enabled="{}">
    <link1 link="coupler" xyz="1.1 0 0"/><link2 link="rocker" xyz="0.9 0 0"/></loop_joint>
</robot>"""


@pytest.fixture
def bars(tmp_path):
    """Return the path of a four-bar, and that of one whose loop is not in use."""
    paths = []
    for enabled in ('true', 'false'):
        paths.append(tmp_path / f'{enabled}.urdf')
        paths[-1].write_text(BARS.format(enabled))
    return [str(path) for path in paths]


def test_mobility_as_json(bars, capsys):
    """The number, and what it is made of, as the library has it."""
    assert main(['check', bars[0], '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['mobility'] == 1
    details = found['mobility_details']
    assert details == load_robot(bars[0]).mobility.facts()
    assert (details['gruebler'], details['rank'], details['redundant_rows']) == (-2, 2, 3)
    assert details['redundant_closures'] == {'tie': 3}
    assert details['chains'] == [['drive', 'middle', 'rock']]


def test_mobility_in_words(bars, capsys):
    """Counting and rank, redundant rows, chains."""
    assert main(['check', bars[0]]) == 0
    text = capsys.readouterr().out
    assert '1 loops, mobility 1' in text
    for line in load_robot(bars[0]).mobility.report().splitlines():
        assert f'\n  {line}\n' in text
    assert 'counting alone says -2: 3 rows are redundant here (tie 3)' in text


def test_a_loop_that_is_not_in_use(bars, capsys):
    """It is listed, its gap is nobody's concern, and it takes no freedom."""
    assert main(['check', bars[1], '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    (loop,) = found['closures']
    assert (loop['name'], loop['enabled'], loop['position']) == ('tie', False, None)
    assert (found['mobility'], found['mobility_details']['closure_rows']) == (3, 0)
    assert main(['check', bars[1]]) == 0
    assert 'loop tie  coupler on rocker, X Y Z EX EY: not in use' in capsys.readouterr().out
