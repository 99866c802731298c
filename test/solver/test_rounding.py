"""Redundant rows that agree up to rounding are one condition."""

import re

import ik_node as ik
from ik_node.cli.main import main
from ik_node.model.rotation import quat_from_euler
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from scipy.optimize import least_squares
from support.bar_loops import mobility
from support.building import Mechanism
from support.fourbar_urdf import TURNED

EXACT = {'quarter': repr(np.pi / 2), 'half': repr(np.pi)}


def fourbar(quarter=EXACT['quarter'], half=EXACT['half'], kind='hinge'):
    """Return a four-bar with angles written in this form."""
    return ik.load_robot(TURNED.format(quarter=quarter, half=half, kind=kind))


def end_of_rocker(robot, crank):
    """Return the position of the rocker's end at a crank angle."""
    q = ik.Solver(robot).drive({'crank': crank}).q
    return (robot.forward(q, 'rocker') @ (0.9, 0, 0, 1))[:3]


def missed(robot, point):
    """Return the result of a position goal for the rocker's end."""
    if 'end' not in robot.goals:
        robot.add_goal('rocker', name='end', dof='X Y Z', offset=((0.9, 0, 0), (0, 0, 0, 1)))
    return ik.Solver(robot).solve_pose({'end': (point, (0, 0, 0, 1))})


def test_rounded_four_bar_keeps_mobility_drive_and_goals():
    """With and without angles that are fractions of pi."""
    for kind, quarter, half, rounding in [
        ('hinge', '1.5708', '3.1416', 1e-5),
        ('point', '1.57079633', '3.14159265', 1e-8),
        ('hinge', '1.5707', '3.1415', 3e-4),
        ('point', '1.57', '3.14', 5e-3),
    ]:
        exact, robot = fourbar(kind=kind), fourbar(quarter, half, kind)
        assert robot.assembly.status is ik.Status.CONVERGED
        assert int(robot.mobility) == int(exact.mobility) == 1
        for angle in (0.5, 1.2, -0.6, -1.5):
            wanted = ik.Solver(exact).drive({'crank': angle}, q0=exact.q)
            found = ik.Solver(robot).drive({'crank': angle}, q0=exact.q)
            assert found.status is wanted.status is ik.Status.CONVERGED
            assert found.q[0] == angle
            assert np.abs(found.q - wanted.q).max() <= rounding
            assert max(found.closure_errors['tie']) <= rounding
        reachable = end_of_rocker(exact, 1.0)
        assert missed(robot, reachable).goal_errors['end'].position <= rounding
        beyond = np.add(reachable, (0.0, 0.05, 0.1))
        least = missed(exact, beyond).goal_errors['end'].position
        assert missed(robot, beyond).goal_errors['end'].position == pytest.approx(
            least, abs=rounding
        )


def test_rounded_angles_become_fractions_of_pi_for_loops():
    """The loops close exactly, and a note lists the angles."""
    robot = fourbar('1.5708', '3.1416')
    assert robot.redundancies == ()
    assert max(robot.assembly.closure_errors['tie']) < 1e-9
    assert any("'1.5708 = pi/2'" in note for note in robot.notes)


def test_rounded_loop_has_least_squares_residual():
    """At the given crank angle."""
    robot = fourbar('1.5707', '3.1415')
    closure = robot.closures['tie']

    def residual(passive, crank):
        robot.q = np.array([crank, *passive])
        return closure.get_residual()

    for angle in (0.3, 1.0, -0.7):
        found = ik.Solver(robot).drive({'crank': angle})
        best = least_squares(
            residual, found.q[1:], args=(angle,), xtol=1e-15, ftol=1e-15, gtol=1e-15
        )
        mine = np.linalg.norm(found.closure_errors['tie'])
        assert mine > 1e-5
        assert mine <= np.linalg.norm(best.fun) * (1.0 + 1e-3)
        robot.q = found.q
        assert np.linalg.norm(closure.get_residual()) == pytest.approx(mine, rel=1e-6)


SPHERICAL = (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0)


def spherical(digits):
    """Build a platform on three arms of two hinges each, all axes through one point."""

    def unit(angle, tilt):
        return np.array((np.sin(tilt) * np.cos(angle), np.sin(tilt) * np.sin(angle), np.cos(tilt)))

    def text(axis):
        return ' '.join(f'{part:.{digits}f}' for part in axis)

    links, joints, loops = '<link name="base"/><link name="plate"/>', '', ''
    for k, angle in enumerate(SPHERICAL):
        links += f'<link name="upper{k}"/><link name="lower{k}"/>'
        axes = unit(angle, 2.2), unit(angle + 0.5, 1.5), unit(angle + 0.2, 0.7)
        for name, parent, child, axis in (
            (f'motor{k}', 'base', f'upper{k}', axes[0]),
            (f'elbow{k}', f'upper{k}', f'lower{k}', axes[1]),
        ):
            joints += (
                f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
                f'<child link="{child}"/><axis xyz="{text(axis)}"/></joint>'
            )
        if k == 0:
            joints += (
                '<joint name="wrist" type="continuous"><parent link="lower0"/>'
                f'<child link="plate"/><axis xyz="{text(axes[2])}"/></joint>'
            )
            continue
        x, y = np.arcsin(-axes[2][1]), np.arctan2(axes[2][0], axes[2][2])
        frame = f'xyz="{text(0.1 * axes[2])}" rpy="{text((x, y, 0.0))}"'
        loops += (
            f'<loop_joint name="tie{k}" type="hinge"><link1 link="lower{k}" {frame}/>'
            f'<link2 link="plate" {frame}/></loop_joint>'
        )
    return ik.load_robot(f'<robot name="spherical">{links}{joints}{loops}</robot>')


@pytest.mark.parametrize('digits', [3, 5, 16])
def test_rounded_spherical_mechanism_keeps_mobility_three(digits):
    """The rounded axes do not meet in one point."""
    robot = spherical(digits)
    assert int(robot.mobility) == 3
    assert robot.assembly.status is ik.Status.CONVERGED
    wanted = {'motor0': 0.2, 'motor1': -0.15, 'motor2': 0.1}
    driven = ik.Solver(robot).drive(wanted)
    assert driven.status is ik.Status.CONVERGED
    exact = ik.Solver(spherical(16)).drive(wanted)
    assert np.abs(driven.q - exact.q).max() <= 20 * 10.0**-digits + 1e-7


@pytest.mark.parametrize('crank', [0.012, 0.03])
def test_short_eccentric_is_not_rounding(crank):
    """Two bars form a triangle that holds a short crank."""
    m = Mechanism('eccentric')
    m.root('base')
    corner, shaft, angle = np.array((0.5, 0.75**0.5)), np.array((0.5, -0.3)), 0.7
    pin = shaft + crank * np.array((np.cos(angle), np.sin(angle)))
    rod = corner - pin
    m.joint('left', 'base', 'EZ')
    m.joint('right', 'base', 'EZ', (1, 0, 0))
    m.joint('crank', 'base', 'EZ', (*shaft, 0))
    m.joint('rod', 'crank_link', 'EZ', (crank, 0, 0))
    m.tip('tip', 'rod_link', (np.linalg.norm(rod), 0, 0))
    m.tip('corner', 'left_link', (1, 0, 0))
    m.tip('top', 'right_link', (-1, 0, 0))
    turns = {'left': np.pi / 3, 'right': -np.pi / 3, 'crank': angle}
    turns['rod'] = np.arctan2(rod[1], rod[0]) - angle
    for name, turn in turns.items():
        m.joints[name].set_dof_value('EZ', turn)
    hinge = 'X Y Z EX EY'
    m.closure('triangle', 'corner', 'top', dof=hinge)
    m.closure('held', 'corner', 'tip', dof=hinge)
    m.goal('turned', 'crank_link', 'EZ')
    solver = Solver(m.roots)
    assert solver.redundancies == ()
    assert int(mobility(m)) == 0
    found = solver.solve_pose({'turned': ((0, 0, 0), quat_from_euler(0, 0, angle + 0.8))})
    assert found.status is not ik.Status.CONVERGED
    assert found.closure_errors['held'].position < 1e-6


# A four-bar in a general plane that is cut by a point, with the digits that MuJoCo writes.
CONNECTED = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" quat="0.660264 0.302762 -0.236859 0.645201"><joint name="j1" axis="0 0 1"/>
    <geom size=".02"/><body name="b" pos="0.5 0 0" quat="0.921061 0 0 -0.389418">
      <joint name="j2" axis="0 0 1"/><geom size=".02"/></body></body>
  <body name="c" pos="0.346929 0.681633 0.644218" quat="0.313893 0.169595 -0.34497 0.868162">
    <joint name="j3" axis="0 0 1"/><geom size=".02"/></body></worldbody>
  <equality><connect name="pin" body1="b" body2="c" anchor="0.9 0.1 0"/></equality></mujoco>"""


def connected(digits):
    """Return that four-bar with fewer digits."""
    return re.sub(r'\d*\.\d+', lambda found: f'{float(found[0]):.{digits}g}', CONNECTED)


def test_loop_cut_by_a_point_moves_within_the_rounding_of_its_digits():
    """Also by transmission, and as the URDF that is written of it."""
    for digits, gap in [(6, 1e-6), (4, 6e-5), (3, 4e-4)]:
        robot = ik.load_robot(connected(digits))
        for each in (robot, ik.load_robot(robot.to_urdf())):
            assert int(each.mobility) == 1
            found = ik.Solver(each).drive({'j1': 0.6})
            assert found.status is ik.Status.CONVERGED
            assert found.q[0] == 0.6
            assert found.closure_errors['pin'].position <= gap
            assert ('digits of the description explain' in found.message) == bool(
                found.rounding_gaps
            )
            assert ('pin' in found.rounding_gaps) == (found.closure_errors['pin'].position > 1e-6)
        there = robot.transmission(['j3'], ['j1']).to_joints([0.5])
        assert there.status is ik.Status.CONVERGED


def test_own_tolerance_of_a_loop_replaces_what_digits_explain():
    """The loop moves with the same gap, and the status says what the tolerance says."""
    for tolerance, status in ((1e-7, ik.Status.STALLED), (1e-3, ik.Status.CONVERGED)):
        robot = ik.load_robot(connected(4))
        robot.closures['pin'].tolerance = tolerance
        found = ik.Solver(robot).drive({'j1': 0.6})
        assert int(robot.mobility) == 1
        assert found.status is status
        assert found.rounding_gaps == {}


# Hinges that a person wrote, with one pin out of its plane.
OUT_OF_PLANE = """<robot name="pins">
  <link name="g"/><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j1" type="continuous"><parent link="g"/><child link="a"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 .5 0"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="j3" type="continuous"><parent link="g"/><child link="c"/><origin xyz="1 0 0"/>
    <axis xyz="0 0 1"/></joint>
  <loop_joint name="pin" type="revolute" {own}><link1 link="b" xyz="1 0 {height}"/>
    <link2 link="c" xyz="0 .5 0"/><axis xyz="0 0 1"/></loop_joint></robot>"""


@pytest.mark.parametrize(
    ('height', 'own'), [('0.02', ''), ('0.005', ''), ('0.0050', 'tolerance="1e-6"')]
)
def test_gap_that_no_digit_explains_is_never_converged(tmp_path, height, own):
    """By any call; with a tolerance of its size it is."""
    text = OUT_OF_PLANE.format(height=height, own=own)
    for tolerance in (None, 0.03):
        robot = ik.load_robot(text)
        if tolerance is not None:
            robot.closures['pin'].tolerance = tolerance
            robot.assemble()
        status = ik.Status.STALLED if tolerance is None else ik.Status.CONVERGED
        robot.add_goal('c', name='turned', dof='EZ')
        solver = ik.Solver(robot)
        pose = robot.forward(robot.q, 'c')
        assert robot.assembly.status is status
        assert solver.solve_pose({'turned': pose}).status is status
        driven = solver.drive({'j1': 0.4})
        assert driven.status is status
        assert driven.q[0] == 0.4
        assert {each.status for each in solver.solve_path({'turned': [pose, pose]})} == {status}
    path = tmp_path / 'pins.urdf'
    path.write_text(text)
    assert main(['check', str(path)]) == 1


@pytest.mark.parametrize(
    ('tolerance', 'angle', 'status'),
    [
        (None, 0.01, ik.Status.STALLED),
        (0.05, 0.01, ik.Status.CONVERGED),
        (0.05, 0.5, ik.Status.STALLED),
    ],
)
def test_rigid_loop_is_driven_within_its_tolerance(tolerance, angle, status):
    """A triangle of two bars and a weld does not move farther."""
    text = OUT_OF_PLANE.format(height='0', own='').replace('"revolute"', '"weld"')
    robot = ik.load_robot(text)
    robot.closures['pin'].tolerance = tolerance
    found = ik.Solver(robot).drive({'j1': angle})
    assert found.status is status
    assert (found.q[0] == angle) == (status is ik.Status.CONVERGED)
    assert max(found.closure_errors['pin']) <= (1e-6 if tolerance is None else tolerance)
