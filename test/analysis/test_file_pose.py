"""How open loops are in the file, and tolerances that let joints move."""

from math import cos, hypot, sin

import ik_node as ik
from ik_node import load_robot
from ik_node.cli.main import main
import pytest

BARS = """<robot name="bars">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="drive" type="{kind}"><parent link="ground"/><child link="crank"/>
    <origin rpy="0 0 0.9"/><axis xyz="0 0 1"/>{limit}</joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0" rpy="0 0 -0.9"/><axis xyz="0 0 1"/></joint>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="tie" type="{loop}">
    <link1 link="coupler" xyz="{pin} 0"/><link2 link="rocker" xyz="{end} 0"/></loop_joint>
</robot>"""
PLACE = 0.4 * cos(0.9) + 0.1, 0.4 * sin(0.9) + 0.1  # of the pin, in the rocker
LENGTH = 0.4 + 1.0 + hypot(1.1, 0.1) + hypot(*PLACE)  # of the loop [m]


def bars(pin='1.1 0.1', kind='continuous', limit='', loop='revolute', off=0.0):
    """Return a four-bar that is closed at q = 0 if its pin is right."""
    end = f'{PLACE[0] + off!r} {PLACE[1]!r}'
    return BARS.format(pin=pin, kind=kind, limit=limit, loop=loop, end=end)


def test_closed_file_has_no_gap_and_no_note():
    """Closed at q = 0: no joint moves."""
    robot = load_robot(bars())
    gap = robot.file_gaps['tie']
    assert max(gap.position, gap.orientation, gap.motion) < 1e-12
    assert robot.notes == []


def test_wrong_sign_is_a_warning():
    """The gap is that of the file, not of the closed robot, and the motion is named."""
    robot = load_robot(bars('1.1 -0.1'))
    gap = robot.file_gaps['tie']
    assert gap.position == pytest.approx(0.2)
    assert gap.length == pytest.approx(LENGTH)
    moved = {name: abs(value) for name, value in zip(robot.joint_names, robot.q, strict=True)}
    assert gap.joint == max(moved, key=moved.get)
    assert (gap.motion, gap.unit) == (moved[gap.joint], 'rad')
    (note,) = robot.notes
    assert note.startswith("warning: loop 'tie' is 0.2 m, 0 rad open in the file's own pose")
    assert f"moved joint '{gap.joint}' by {gap.motion:.3g} rad" in note


def test_gap_of_rounding_is_a_note():
    """A gap below the share of the length that counts as large."""
    (note,) = load_robot(bars(off=0.005)).notes
    assert note.startswith("loop 'tie' is 0.005 m, 0 rad open in the file's own pose, 0.16 % of")
    (note,) = load_robot(bars('1.1 0.10001')).notes
    assert note.startswith("loop 'tie' is 1e-05 m")


def test_wrong_angle_is_a_warning():
    """A welded end that is turned, although its origin fits."""
    text = bars(loop='fixed').replace('0.1 0"/>', '0.1 0" rpy="0 0 0.3"/>', 1)
    gap = load_robot(text).file_gaps['tie']
    assert (gap.position, gap.orientation) == pytest.approx((0.0, 0.3))
    assert gap.is_large


def test_limits_that_exclude_zero_do_not_open_the_file():
    """The file draws the robot at q = 0, also where the limits do not allow it."""
    robot = load_robot(bars(kind='revolute', limit='<limit lower="0.2" upper="2"/>'))
    gap = robot.file_gaps['tie']
    assert gap.position < 1e-12
    assert gap.motion > 0.1
    assert not [note for note in robot.notes if note.startswith('warning')]


def test_check_prints_the_gap_in_the_file(tmp_path, capsys):
    """Of every loop; a likely fault is a warning, but the robot can be used."""
    path = tmp_path / 'bars.urdf'
    path.write_text(bars())
    assert main(['check', str(path)]) == 0
    assert "in the file's own pose 0.0e+00 m, 0.0e+00 rad" in capsys.readouterr().out
    path.write_text(bars('1.1 -0.1'))
    assert main(['check', str(path)]) == 0
    text = capsys.readouterr().out
    assert (
        "in the file's own pose 2.0e-01 m, 0.0e+00 rad, closing it moved middle by 0.12 rad"
        in text
    )
    assert "\n  warning: loop 'tie' is 0.2 m, 0 rad open" in text


# A four-bar whose joint j3 is tilted, so that its loop opens and closes along the motion.
BAR = """<robot name="bar"><link name="g"/><link name="a"/><link name="b"/><link name="c"/>
<joint name="j1" type="continuous"><parent link="g"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="j2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 .5 0"/>
<axis xyz="0 0 1"/></joint>
<joint name="j3" type="continuous"><parent link="g"/><child link="c"/><origin xyz="1 0 0"/>
<axis xyz="{} 0 500"/></joint>
<loop_joint name="p" type="{}" {}><link1 link="b" xyz="1 0 0"/><link2 link="c" xyz="0 .5 0"/>
</loop_joint></robot>"""


@pytest.mark.parametrize('kind', ['hinge', 'point'])
@pytest.mark.parametrize('tilt', [1, 10])
def test_check_names_smallest_tolerance_that_lets_joints_move(kind, tilt):
    """With it a drive arrives; with half of it the joints stay where they are."""
    report = ik.check(ik.load_robot(BAR.format(tilt, kind, '')))
    assert not report.ok
    freeing = report['freeing_tolerances']
    assert freeing['mobility'] == 1
    needed = freeing['loops']['p']
    assert f'{needed[0]:g} m' in repr(report)
    for share in (1.0, 0.5):
        tolerance = ' '.join(str(share * each) for each in needed)
        robot = ik.load_robot(BAR.format(tilt, kind, f'tolerance="{tolerance}"'))
        assert int(robot.mobility) == (share == 1.0)
        driven = ik.Solver(robot).drive({'j1': 0.6})
        assert driven.converged == (share == 1.0)


def test_check_names_no_tolerance_for_a_loop_that_is_far_from_moving():
    """A joint at right angles to the others is no matter of tolerances."""
    report = ik.check(ik.load_robot(BAR.replace('500', '1').format(1, 'hinge', '')))
    assert report['freeing_tolerances'] is None
