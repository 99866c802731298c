"""Closing the loops on load, and the reasons if they stay open."""

from ik_node.robot import load_robot
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.fourbar_urdf import FOURBAR

AGIBOT = 'models/agibot_g1_omnipicker/G1_omnipicker.urdf'
TWICE = """<loop_joint name="again" type="spherical"><link1 link="crank" xyz="0 0 0"/>
  <link2 link="shade" xyz="9 0 0"/></loop_joint></robot>"""


def limited(joint, lower, upper, text=FOURBAR):
    """Return the four-bar with limits on an unlimited joint."""
    robot = load_robot(text, assemble=False)
    robot.joints[joint].set_limits('EZ', lower, upper)
    return robot


def test_closing_robot_has_no_open_loop_and_no_hint():
    """The report lists no open loop and no hint."""
    result = load_robot(FOURBAR).assembly
    assert result.status is Status.CONVERGED
    assert (result.open_loops, result.hint, result.closes_without_limits) == ({}, '', None)
    assert result.message.startswith('CONVERGED after')


@pytest.mark.parametrize('length', [3.1, 0.4])
def test_loop_with_wrong_lengths_is_named_with_gap(length):
    """The report does not blame limits."""
    robot = load_robot(
        FOURBAR.replace('xyz="1.1 0 0"', f'xyz="{length} 0 0"').replace('0.9', '0.1')
    )
    result = robot.assembly
    assert result.status is not Status.CONVERGED
    assert [*result.open_loops] == ['tie']
    gap = result.open_loops['tie'].position
    assert np.linalg.norm(robot.closures['tie'].get_residual()[:3]) == pytest.approx(gap, rel=1e-6)
    # Crank 0.4, ground 1, rocker 0.1: what is missing when all lie on one line.
    shortest = length - 1.5 if length > 1.0 else 0.1
    assert result.closes_without_limits is False
    assert max(result.least_errors['tie']) == pytest.approx(shortest, abs=1e-6)
    assert f"closure 'tie' is {gap:.3g} m" in result.message
    assert 'it would not close without joint limits either' in result.message
    assert 'check the description for a wrong length, sign or axis' in result.message


def test_limit_that_keeps_loop_open_is_named():
    """A solve without limits finds it."""
    robot = limited('rock', 1.0, 1.2)
    result = robot.assemble()
    assert result.status is not Status.CONVERGED
    assert result.closes_without_limits is True
    assert 'rock' in result.against_limits
    lower, upper = robot.lower[0], robot.upper[0]
    assert not lower <= result.against_limits['rock'] <= upper
    hint = 'joint limits prevent closing: without limits it would close, with rock = '
    assert hint in result.message
    assert (robot.q >= robot.lower).all()
    assert (robot.q <= robot.upper).all()
    # With the limit where it says, it does close.
    for name, value in result.against_limits.items():
        joint = robot.joints[name]
        joint.set_limits(joint.dof[0], value - 0.05, value + 0.05)
    assert robot.assemble().status is Status.CONVERGED


def test_all_open_loops_are_named_widest_first():
    """Not the worst alone; the widest first."""
    short = FOURBAR.replace('xyz="1.1 0 0"', 'xyz="3.1 0 0"').replace('</robot>', TWICE)
    result = load_robot(short).assembly
    assert [*result.open_loops] == ['again', 'tie']
    assert "closure 'again' is" in result.message
    assert "also open: 'tie' " in result.message


def test_gap_from_rounding_counts_as_closed_and_is_reported(shared):
    """Published grippers stay 28 um open."""
    robot = load_robot(shared / AGIBOT)
    result = robot.assembly
    assert result.status is Status.CONVERGED
    assert result.open_loops == {}
    assert len(robot.redundancies) == 2
    for name, gap in result.closure_errors.items():
        assert 2e-5 < gap.position < 4e-5
        assert f'{name!r} 2.8e-05 m' in result.message
        assert np.linalg.norm(robot.closures[name].get_residual()) == pytest.approx(gap.position)


def test_small_gap_caused_by_limit_is_not_rounding():
    """Without the limit the loop closes."""
    free = load_robot(FOURBAR)
    at = dict(zip(free.joint_names, free.q.tolist(), strict=True))
    robot = load_robot(FOURBAR, assemble=False)
    for name in ('rock', 'middle'):
        robot.joints[name].set_limits('EZ', at[name], at[name])
    robot.joints['drive'].set_limits('EZ', at['drive'] + 5e-4, at['drive'] + 1e-3)
    result = robot.assemble()
    assert 0.0 < result.open_loops['tie'].position < 1e-3
    assert result.closes_without_limits is True
    assert 'joint limits prevent closing' in result.message


def test_disabled_loop_is_not_reported():
    """The gap of a disabled loop is ignored."""
    short = FOURBAR.replace('xyz="1.1 0 0"', 'xyz="3.1 0 0"')
    result = load_robot(short.replace('"tie" type', '"tie" enabled="false" type')).assembly
    assert result.status is Status.CONVERGED
    assert result.open_loops == {}
