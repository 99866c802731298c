"""Hints on loops that hold their joints."""

import ik_node as ik
import pytest

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
