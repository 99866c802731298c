"""What `check` says of joints, axes and couplings that keep loops from closing or moving."""

import re

from ik_node.cli.main import main
import pytest

AXIS = '<axis xyz="0 0 1"/>'
LIMIT = '<limit lower="-0.1" upper="0.1" effort="1" velocity="1"/>'


def joint(name, parent, child, place='0 0 0', yaw=0.0, inside=AXIS):
    return (
        f'<link name="{child}"/><joint name="{name}" type="continuous"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{place}" rpy="0 0 {yaw}"/>{inside}</joint>'
    )


def loop(name, first, second, frames=('', ''), axis='0 0 1'):
    ends = ''.join(
        f'<link{at} link="{link}" {frame}/>'
        for at, link, frame in zip('12', (first, second), frames, strict=True)
    )
    return f'<loop_joint name="{name}" type="revolute">{ends}<axis xyz="{axis}"/></loop_joint>'


def coupling(follower, **terms):
    inside = ''.join(f'<term of="{of}" coefficients="{each}"/>' for of, each in terms.items())
    return f'<joint_coupling joint="{follower}">{inside}</joint_coupling>'


# A parallelogram of sides 1 and 2, closed at q = 0, and a five-bar.
FOUR = {
    'j1': joint('j1', 'g', 'a'),
    'j2': joint('j2', 'a', 'b', '0 1 0'),
    'j3': joint('j3', 'g', 'd', '2 0 0'),
    'pin': loop('pin', 'b', 'd', ('xyz="2 0 0"', 'xyz="0 1 0"')),
}
FIVE = {
    'j1': joint('j1', 'g', 'a'),
    'j2': joint('j2', 'a', 'b', '0 1 0'),
    'j3': joint('j3', 'g', 'd', '2 0 0'),
    'j4': joint('j4', 'd', 'e', '0 1 0'),
    'pin': loop('pin', 'b', 'e', ('xyz="1 0.5 0"', 'xyz="-1 0.5 0"')),
}
MOTOR = (
    '<ros2_control><joint name="j1"><command_interface name="position"/></joint></ros2_control>'
)
CASES = {
    'all axes missing': (
        {name: re.sub('<axis[^>]*>', '', each) for name, each in FOUR.items() if name != 'pin'}
        | {'pin': FOUR['pin']},
        0,
        'no <axis>, taken as 1 0 0: j1, j2, j3; with <axis xyz="0 0 1"/> loop pin would close and '
        'the mobility would be 1',
    ),
    'one other axis in a four-bar': (
        FOUR | {'j2': joint('j2', 'a', 'b', '0 1 0', inside='<axis xyz="1 0 0"/>')},
        1,
        'joint j2 turns about 1 0 0, the other joints of loop pin about 0 0 1 (root frame, in the '
        "file's pose); with that axis the mobility would be 1",
    ),
    'a loop axis that costs freedom': (
        FIVE | {'pin': loop('pin', 'b', 'e', ('xyz="1 0.5 0"', 'xyz="-1 0.5 0"'), '1 0 0')},
        0,
        'loop pin turns about 1 0 0 in e, joint j2 about 0 0 1; with 0 0 1 the mobility would be '
        '2',
    ),
    'a mimic against the loop': (
        FOUR
        | {
            'j3': joint(
                'j3', 'g', 'd', '2 0 0', inside=f'{AXIS}<mimic joint="j1" multiplier="2"/>'
            )
        },
        1,
        'the coupling j3 = 2 j1 contradicts loop pin; without the coupling '
        'the mobility would be 1',
    ),
    'a sum outside of the loop': (
        FOUR
        | {'k': joint('k', 'g', 'arm'), 'sum': coupling('k', j1='0 1', j2='0 2')}
        | {'other': coupling('j3', k='0 1', j1='0 3')},
        1,
        'the coupling k = j1 + 2 j2 contradicts loop pin; without the coupling '
        'the mobility would be 1',
    ),
    'a sum that keeps the loop open': (
        FOUR
        | {'j1': FOUR['j1'].replace('continuous', 'revolute').replace(AXIS, AXIS + LIMIT)}
        | {'sum': coupling('j3', j1='1 0.1', j2='0 0.1')},
        1,
        'the coupling j3 = 1 + 0.1 j1 + 0.1 j2 contradicts loop pin; without the coupling '
        'the mobility would be 1',
    ),
    'one loop of two forgotten': (
        FOUR
        | {'j5': joint('j5', 'd', 'rod', '0 1 0'), 'j6': joint('j6', 'g', 'rocker', '4 0 0')}
        | {'motor': MOTOR},
        0,
        'in no loop, and without motor or coupling: j5 (rod hangs free), j6 (rocker hangs free); '
        'is a loop missing?',
    ),
}


def check(path, parts):
    path.write_text(f'<robot name="r"><link name="g"/>{"".join(parts.values())}</robot>')
    return main(['check', str(path)])


def test_wrong_part_is_named_with_what_would_help(tmp_path, capsys):
    for case in CASES:
        parts, code, line = CASES[case]
        assert check(tmp_path / 'r.urdf', parts) == code
        assert line in capsys.readouterr().out


@pytest.mark.parametrize('parts', [FOUR, FIVE])
def test_right_robot_has_no_hint(parts, tmp_path, capsys):
    """Also with a motor, a mimic that fits the loop, and an arm above or below it."""
    mimic = joint('j3', 'g', 'd', '2 0 0', inside=f'{AXIS}<mimic joint="j1"/>')
    for more in ({}, {'motor': MOTOR}, {'j3': mimic} if parts is FOUR else {}):
        assert check(tmp_path / 'r.urdf', parts | more) == 0
        text = capsys.readouterr().out
        assert 'would be' not in text
        assert 'hangs free' not in text
