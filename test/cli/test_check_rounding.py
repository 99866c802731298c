"""`check` names what rounding leaves open, and an axis that holds a loop."""

import json

from ik_node.cli.main import main
import pytest

FOURBAR = """<robot name="bars">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="drive" type="continuous"><parent link="ground"/><child link="crank"/>
    <axis xyz="0 {tilt} 1"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="tie" type="hinge"><link1 link="coupler" xyz="1.1 0 0" {turn}/>
    <link2 link="rocker" xyz="0.9 0 0" {turn}/></loop_joint>
</robot>"""
# Two parallelograms in a row; of each loop, one side can be turned.
PARALLELS = """<robot name="parallels">
  <link name="ground"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="e"/><link name="f"/>
  <joint name="one" type="continuous"><parent link="ground"/><child link="a"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="two" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="three" type="continuous"><parent link="ground"/><child link="c"/>
    <origin xyz="0 0.3 0"/><axis xyz="0 0 1"/></joint>
  <joint name="four" type="continuous"><parent link="b"/><child link="d"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="five" type="continuous"><parent link="d"/><child link="e"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="six" type="continuous"><parent link="b"/><child link="f"/>
    <origin xyz="0 0.3 0"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="low" type="hinge"><link1 link="b" xyz="0 0.3 0" {low}/>
    <link2 link="c" xyz="0.4 0 0"/></loop_joint>
  <loop_joint name="high" type="hinge"><link1 link="e" xyz="0 0.3 0" {high}/>
    <link2 link="f" xyz="0.4 0 0"/></loop_joint>
</robot>"""
DOWN, ASIDE = 'rpy="3.1415926535897931 0 0"', 'rpy="1.5707963267948966 0 0"'


def said(tmp_path, capsys, *options, tilt='0', turn=''):
    path = tmp_path / 'bars.urdf'
    path.write_text(FOURBAR.format(tilt=tilt, turn=turn))
    code = main(['check', str(path), *options])
    return capsys.readouterr().out, code


def test_redundant_rows_that_disagree_are_named_with_their_disagreement(tmp_path, capsys):
    """In words and as JSON; the loops close up to rounding, which is no fault."""
    text, code = said(tmp_path, capsys, tilt='0.0001')
    assert code == 0
    assert 'mobility 1' in text
    assert '3 of 5 rows redundant (Z EX EY); because of rounding it stays open by up to ' in text
    assert 'the loops close up to rounding: CONVERGED' in text
    found, code = said(tmp_path, capsys, '--json', tilt='0.0001')
    loop = json.loads(found)['closures'][0]
    assert (code, loop['implied_rows'], loop['open']) == (0, ['Z', 'EX', 'EY'], False)
    assert 1e-5 < loop['disagreement']['orientation'] < 1e-3
    assert loop['position'] <= loop['disagreement']['position'] * 1.5


def test_exact_rows_do_not_disagree(tmp_path, capsys):
    text, code = said(tmp_path, capsys)
    assert code == 0
    assert 'rounding' not in text
    found = json.loads(said(tmp_path, capsys, '--json')[0])
    assert found['closures'][0]['disagreement'] is None
    assert found['wrong_axes'] == []


@pytest.mark.parametrize(
    ('low', 'high', 'wrong'),
    [
        (ASIDE, '', {('low', 'b')}),
        ('', DOWN, {('high', 'e')}),
        (ASIDE, DOWN, {('low', 'b'), ('high', 'e')}),
    ],
)
def test_side_of_a_loop_with_a_wrong_axis_is_named(tmp_path, capsys, low, high, wrong):
    """Also if two loops are wrong at once, and if the axis of a side is only the opposite."""
    path = tmp_path / 'parallels.urdf'
    path.write_text(PARALLELS.format(low=low, high=high))
    assert main(['check', str(path), '--json']) == 1
    found = json.loads(capsys.readouterr().out)
    assert {(entry['name'], entry['link']) for entry in found['wrong_axes']} == wrong
    assert all(entry['freeing_axis'] == [0.0, 0.0, 1.0] for entry in found['wrong_axes'])
    assert all(entry['mobility'] == 2 for entry in found['wrong_axes'])
    assert found['limits_in_the_way'] == []
    assert main(['check', str(path)]) == 1
    text = capsys.readouterr().out
    if high == DOWN:
        opposite = 'loop high turns about 0 0 -1 in e, opposite to its other side; with 0 0 1'
        assert opposite in text
