"""`check` names what rounding leaves open, and an axis that holds a loop."""

import json

from ik_node.cli.main import main
import numpy as np
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


def said(tmp_path, capsys, *options, tilt='0', turn=''):
    """Return what `check` says of a four-bar, and its exit code."""
    path = tmp_path / 'bars.urdf'
    path.write_text(FOURBAR.format(tilt=tilt, turn=turn))
    code = main(['check', str(path), *options])
    return capsys.readouterr().out, code


def test_redundant_rows_that_disagree_are_named_with_their_disagreement(tmp_path, capsys):
    """In words and as JSON; the loops close up to rounding, which is no fault."""
    text, code = said(tmp_path, capsys, tilt='0.0003')
    assert code == 0
    assert 'mobility 1' in text
    assert '3 of 5 rows redundant (Z EX EY); because of rounding it stays open by up to ' in text
    assert 'the loops close up to rounding: CONVERGED' in text
    found, code = said(tmp_path, capsys, '--json', tilt='0.0003')
    loop = json.loads(found)['closures'][0]
    assert (code, loop['implied_rows'], loop['open']) == (0, ['Z', 'EX', 'EY'], False)
    assert 1e-5 < loop['disagreement']['orientation'] < 1e-3
    assert loop['position'] <= loop['disagreement']['position'] * 1.5


def test_exact_rows_do_not_disagree(tmp_path, capsys):
    """They are redundant, and that is all."""
    text, code = said(tmp_path, capsys)
    assert code == 0
    assert 'rounding' not in text
    found = json.loads(said(tmp_path, capsys, '--json')[0])
    assert found['closures'][0]['disagreement'] is None
    assert found['wrong_axes'] == []


@pytest.mark.parametrize('turn', ['rpy="1.5707963267948966 0 0"', 'rpy="0.5 0.4 0"'])
def test_wrong_loop_axis_is_named_with_the_right_one(tmp_path, capsys, turn):
    """And the exit code is 1, whether such a loop closes or not."""
    text, code = said(tmp_path, capsys, turn=turn)
    assert code == 1
    assert 'loop tie turns about ' in text
    assert 'the loops close: CONVERGED' not in text
    found, _ = said(tmp_path, capsys, '--json', turn=turn)
    (entry,) = json.loads(found)['wrong_axes']
    assert np.abs(entry['freeing_axis']).tolist() == [0.0, 0.0, 1.0]
    assert (entry['name'], entry['link'], entry['mobility']) == ('tie', 'rocker', 1)
    assert entry['joint'] in ('drive', 'middle', 'rock')
