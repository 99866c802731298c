"""The command `transmission`: what it prints, draws and refuses."""

import json
from pathlib import Path
import re

from ik_node.cli.main import main
from ik_node.description.files import description_path
from ik_node.robot import load_robot
import pytest

ANKLE = str(description_path('ankle.urdf'))
EXCAVATOR = str(description_path('excavator.urdf'))


def facts(capsys, *words):
    code = main(['transmission', *words, '--json'])
    return json.loads(capsys.readouterr().out), code


def test_json_has_ratios_limits_and_singularities(capsys):
    """They are those of the library, at the configuration that --at drives to."""
    found, code = facts(
        capsys, ANKLE, '--joints', 'ankle_pitch', 'ankle_roll', '--at', 'ankle_pitch=0.3'
    )
    assert code == 0
    assert found['joints']['ankle_pitch'] == pytest.approx(0.3)
    robot = load_robot(ANKLE)
    transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    q = transmission.to_actuators((0.3, found['joints']['ankle_roll'])).q
    ratio = transmission.jacobian(q)
    assert found['ratio']['ankle_roll']['motor_left'] == pytest.approx(ratio[1, 0], abs=1e-6)
    assert found['singularity']['nearness'] == pytest.approx(
        transmission.singularity(q).nearness, abs=1e-6
    )
    effort = robot.gravity_effort(q)
    assert found['gravity_effort']['motor_right'] == pytest.approx(effort[1], abs=1e-6)
    swept = found['range']
    assert swept['reached'] == 41 * 41
    least, largest = swept['ratio']['ankle_pitch']['motor_left']
    assert least < found['ratio']['ankle_pitch']['motor_left'] < largest
    assert 0.0 < swept['least_nearness'] <= found['singularity']['nearness']


def test_default_joint_space_is_what_the_motors_move(capsys):
    found, code = facts(capsys, EXCAVATOR)
    assert code == 0
    assert {'swing', 'boom', 'arm', 'bucket'} <= set(found['joints'])
    assert 'boom_cylinder' not in found['joints']


def test_named_joints_take_the_motors_that_move_them(capsys):
    found, _ = facts(capsys, EXCAVATOR, '--joints', 'boom', 'arm')
    assert list(found['actuators']) == ['boom_cylinder', 'arm_cylinder']
    assert found['effort']['boom'] == pytest.approx(90e3 / found['ratio']['boom']['boom_cylinder'])


@pytest.mark.parametrize('joints', [['ankle_pitch', 'ankle_roll'], ['foot_link'], []])
def test_text_and_picture(capsys, tmp_path, joints):
    path = tmp_path / 'ratios.png'
    words = ['--joints', *joints] if joints else []
    assert main(['transmission', ANKLE, *words, '--plot', str(path)]) == 0
    text = capsys.readouterr().out
    for said in ('ratios:', 'singular values', 'largest velocity', 'over the range', 'drawn to'):
        assert said in text
    assert path.read_bytes().startswith(b'\x89PNG')
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--joints', 'ankle'], "no joint or link named 'ankle'"),
        (['--actuators', 'motor_left', '--joints', 'ankle_roll'], 'do not determine'),
        (['--at', 'ankle_pitch'], '--at'),
        (['--plot', 'x.abc'], '--plot'),
    ],
)
def test_wrong_words_are_refused(capsys, words, said):
    assert main(['transmission', ANKLE, *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1


def test_position_that_cannot_be_had_is_reported(capsys):
    assert main(['transmission', ANKLE, '--at', 'ankle_pitch=3']) == 1
    assert 'ankle_pitch' in capsys.readouterr().out.splitlines()[0]


def test_loops_that_do_not_close_are_reported(capsys, tmp_path):
    text = Path(ANKLE).read_text()
    assert '<link1 ' in text
    path = tmp_path / 'ankle.urdf'
    path.write_text(re.sub(r'<link1 (link="\w+") xyz="[^"]*"', r'<link1 \1 xyz="0 0 -0.9"', text))
    assert main(['transmission', str(path)]) == 1
    said = capsys.readouterr().out
    assert said.startswith('the loops do not close: ')
    assert '`ik_node check` says more' in said
