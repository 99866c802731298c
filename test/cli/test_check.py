"""What `check` says of a robot: its tree, loops, mobility, and what may be wrong with it."""

import io
import json
import re
import sys

from ik_node.analysis.facts import facts_of
from ik_node.cli.main import main
from ik_node.robot import load_robot
import numpy as np
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


def test_a_loop_that_is_not_in_use(bars, capsys):
    assert main(['check', bars[1], '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    (loop,) = found['closures']
    assert (loop['name'], loop['enabled'], loop['position']) == ('tie', False, None)
    assert (found['mobility'], found['mobility_details']['closure_rows']) == (3, 0)
    assert main(['check', bars[1]]) == 0
    shown = 'loop tie  coupler on rocker, X Y Z EX EY (hinge): not in use'
    assert shown in capsys.readouterr().out


# A lever held by a loop, a joint without room, a follower of it, a ball, and a root of its own.
ODD = """<robot name="odd $ones$">
  <link name="base"/><link name="lever"/><link name="stuck"/><link name="shadow"/>
  <link name="ball"/><link name="plate"/><link name="alone"/><link name="\u7279"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="lever"/>
    <axis xyz="0 0 1"/><limit upper="2"/></joint>
  <joint name="no_room" type="revolute"><parent link="base"/><child link="stuck"/>
    <axis xyz="0 0 1"/><limit lower="0.5" upper="0.5"/></joint>
  <joint name="follow" type="continuous"><parent link="base"/><child link="shadow"/>
    <axis xyz="0 0 1"/><mimic joint="no_room" multiplier="-1" offset="0.25"/></joint>
  <joint name="wrist" type="spherical"><parent link="base"/><child link="ball"/></joint>
  <joint name="glue" type="fixed"><parent link="stuck"/><child link="plate"/></joint>
  <joint name="free" type="continuous"><parent link="plate"/><child link="\u7279"/>
    <axis xyz="0 0 1"/></joint>
  <loop_joint name="held" type="spherical"><link1 link="lever"/><link2 link="base"/></loop_joint>
  <ros2_control name="m"><joint name="lift"><command_interface name="position"/></joint>
  </ros2_control>
</robot>"""


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / 'odd.urdf'
    path.write_text(ODD)
    return str(path)


def test_text_has_the_tree(odd, capsys):
    """A line a link, with the type, limits, motor and master of the joint above it."""
    assert main(['check', odd]) == 0
    lines = [' '.join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in (
        'base',
        '├─ lift ── lever prismatic [-inf, 2] m motor',
        '├─ no_room ── stuck revolute [0.5, 0.5] rad',
        '│ └─ glue ── plate fixed',
        '│ └─ free ── \u7279 continuous',
        '├─ follow ── shadow continuous = 0.25 - no_room',
        '└─ wrist ── ball spherical',
        'alone',
    ):
        assert line in lines, lines


def test_suspicious_parts_of_robot_are_listed(odd, capsys):
    """Roots of their own, joints that cannot move and why, links that stand still."""
    assert main(['check', odd]) == 0
    text = capsys.readouterr().out
    for line in (
        '  several roots: base, alone',
        '  cannot move, as lower and upper limit are equal: no_room',
        '  cannot move, as its master does not move: follow',
        '  cannot move, as the loops prevent motion here: lift',
        '  links that cannot move: lever, stuck, shadow, plate',
        "  note: joint 'no_room': lower and upper are both 0.5, it cannot move",
    ):
        assert f'{line}\n' in text
    assert main(['check', odd, '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['held'] == {'no_room': 'limits', 'lift': 'loops', 'follow': 'coupling'}
    assert found['roots'] == ['base', 'alone']
    assert found['still_links'] == ['base', 'lever', 'stuck', 'shadow', 'plate', 'alone']


def test_json_has_the_tree(odd, capsys):
    """Flat, each link below the one it hangs on; values with all that is known of them."""
    assert main(['check', odd, '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    rows = [(row['depth'], row['parent'], row['joint'], row['link']) for row in found['tree']]
    assert rows[:2] == [(0, None, None, 'base'), (1, 'base', 'lift', 'lever')]
    assert (2, 'stuck', 'glue', 'plate') in rows
    values = {value['name']: value for value in found['joints']}
    assert values['lift'] == {
        'name': 'lift',
        'joint': 'lift',
        'type': 'prismatic',
        'unit': 'm',
        'value': 0.0,
        'lower': None,
        'upper': 2.0,
        'velocity': None,
        'effort': None,
        'actuated': True,
        'follows': None,
        'held_by': 'loops',
    }
    assert values['follow']['follows'] == {'name': 'no_room', 'coefficients': [0.25, -1.0]}
    assert {'wrist.EX', 'wrist.EY', 'wrist.EZ'} < {*values}
    (loop,) = found['closures']
    assert (loop['type'], loop['rows'], loop['redundant_rows']) == ('point', 3, 2)
    assert (loop['open'], loop['tolerance']) == (False, None)


def test_loops_that_let_nothing_move_are_reported(tmp_path, capsys):
    """Without a wrong axis, too: the parts of a welded four-bar fit, but cannot move."""
    path = tmp_path / 'welded.urdf'
    joints = BARS.format('true').split('<loop_joint')[0]
    ends = '<link1 link="coupler" xyz="1.1 0 0"/><link2 link="rocker" xyz="0.9 0 0"/>'
    path.write_text(f'{joints}<loop_joint name="tie" type="revolute">{ends}</loop_joint></robot>')
    assert main(['check', str(path)]) == 0
    bars = load_robot(path)
    coupler, rocker = (bars.forward(bars.q, name)[:3, :3] for name in ('coupler', 'rocker'))
    turn = coupler.T @ rocker
    yaw = float(np.arctan2(turn[1, 0], turn[0, 0]))
    ends = ends.replace('xyz="1.1 0 0"', f'xyz="1.1 0 0" rpy="0 0 {yaw!r}"')
    path.write_text(f'{joints}<loop_joint name="tie" type="fixed">{ends}</loop_joint></robot>')
    capsys.readouterr()
    assert main(['check', str(path)]) == 1
    assert 'the loops close, but can NOT move' in capsys.readouterr().out


def test_what_a_terminal_cannot_show_is_a_question_mark(odd, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
    monkeypatch.setattr(sys, 'stdout', out)
    assert main(['check', odd]) == 0
    out.flush()
    assert 'free ?? ? ' in out.buffer.getvalue().decode('ascii')


@pytest.mark.parametrize('name', ['bars', 'odd'])
def test_plot_prints_graph_as_dot_text(name, request, capsys):
    """Every link is a node, every joint and every loop an edge, whatever the names."""
    robot = request.getfixturevalue(name)
    robot = robot if name == 'odd' else robot[0]
    assert main(['check', robot, '--plot']) == 0
    text, found = capsys.readouterr().out, facts_of(load_robot(robot))
    assert text.startswith('digraph robot {')
    assert text.endswith('}\n')
    lines = text.splitlines()
    joints = [row for row in found['tree'] if row['depth'] > 0]
    assert sum(' -> ' in line for line in lines) == len(joints) + len(found['closures'])
    assert sum('dashed' in line for line in lines) == len(found['closures'])
    # Names in quotes have none inside that is not escaped.
    for line in lines[3:-1]:
        assert re.fullmatch(r'  ("(\\.|[^"\\])*"|[][\w=,;> -])*', line), line


def test_missing_loops_and_meshes_are_noted(odd, tmp_path, capsys):
    """A misnamed file of annotations or a moved folder of meshes is not silent."""
    path = tmp_path / 'plain.urdf'
    mesh = '<visual><geometry><mesh filename="package://gone/{}.stl"/></geometry></visual>'
    visuals = mesh.format('a') + mesh.format('b')
    path.write_text(f'<robot name="plain"><link name="base">{visuals}</link></robot>')
    assert main(['check', str(path)]) == 1
    text = capsys.readouterr().out
    assert (
        'note: no loops: the description declares none, and there is no plain.closures.yaml'
        in text
    )
    assert "note: 2 of 2 meshes are not found, such as 'package://gone/a.stl'" in text
    (tmp_path / 'none.yaml').write_text('closures: []\n')
    assert main(['check', str(path), '--closures', str(tmp_path / 'none.yaml')]) == 1
    assert 'no loops' not in capsys.readouterr().out
    assert main(['check', odd]) == 0
    assert 'no loops' not in capsys.readouterr().out


def slider(name, link, limit='', mimic=''):
    return (
        f'<link name="{link}"/><joint name="{name}" type="prismatic"><parent link="base"/>'
        f'<child link="{link}"/><axis xyz="0 1 0"/>{limit}{mimic}</joint>'
    )


ROOM = '<limit lower="0" upper="0.025"/>'
HALF = '<limit lower="0" upper="0.0125"/>'
OPPOSITE = '<mimic joint="left" multiplier="-1"/>'
STILL = {
    'a mimic of the wrong sign': (
        slider('left', 'l', ROOM) + slider('right', 'r', ROOM, OPPOSITE),
        'left [0, 0.025] stays at 0: right = -left is within its limits [0, 0.025] only there; '
        'with the opposite sign it could move',
    ),
    'a mimic with an offset': (
        slider('left', 'l', ROOM)
        + slider('right', 'r', HALF, '<mimic joint="left" multiplier="0.5" offset="0.0125"/>'),
        'left [0, 0.025] stays at 0: right = 0.0125 + 0.5 left is within its limits [0, 0.0125] '
        'only there; with the opposite sign it could move',
    ),
    'two followers': (
        slider('left', 'l')
        + slider('up', 'u', ROOM, '<mimic joint="left"/>')
        + slider('down', 'd', ROOM, OPPOSITE),
        'cannot move, as limits of what follows it leave it one value: left',
    ),
    'equal limits': (
        slider('left', 'l', '<limit lower="0" upper="0"/>') + slider('right', 'r', '', OPPOSITE),
        'cannot move, as lower and upper limit are equal: left',
    ),
    'no joint that moves': (
        '<link name="l"/><joint name="glue" type="fixed"><parent link="base"/><child link="l"/>'
        '</joint>',
        'nothing can move: no joint has a degree of freedom',
    ),
    'a loop with limits against it': (
        slider('left', 'l', ROOM)
        + slider('right', 'r', '<limit lower="-0.025" upper="0"/>')
        + '<loop_joint name="bar" type="fixed"><link1 link="l"/><link2 link="r"/></loop_joint>',
        'cannot move, as the loops allow one motion, which leaves the limits both ways: '
        'left, right',
    ),
}


def test_robot_that_cannot_move_fails_with_the_reason(tmp_path, capsys):
    """Whatever holds it: limits, followers, loops; one more free joint makes it usable."""
    for case in STILL:
        path = tmp_path / 'still.urdf'
        text, why = STILL[case]
        path.write_text(f'<robot name="still"><link name="base"/>{text}</robot>')
        assert main(['check', str(path)]) == 1
        shown = capsys.readouterr().out
        assert why in shown
        assert '\nnothing can move: ' in shown
        path.write_text(f'<robot name="g"><link name="base"/>{text}{slider("more", "m")}</robot>')
        assert main(['check', str(path)]) == 0
        assert 'nothing can move' not in capsys.readouterr().out
