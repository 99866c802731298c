"""Driven joints: loops stay closed in their branch, verified by plane geometry."""

import json
from math import acos, atan2, cos, hypot, pi, remainder, sin, sqrt
import re

from ik_node.native import is_compiled
from ik_node.robot import load_robot
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.closed_mechanisms import fourbar_arms
from support.fourbar_urdf import FOURBAR
from support.mechanisms import MECHANISMS

COUNT = 100 if is_compiled() else 5
UPPER, LOWER = 1, -1


def meet(a, radius_a, b, radius_b, side):
    """Return an intersection of two circles: left (1) or right (-1) of the line from a to b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    far = hypot(dx, dy)
    along = (radius_a**2 - radius_b**2 + far**2) / (2 * far)
    aside = side * sqrt(radius_a**2 - along**2)
    return (a[0] + (along * dx - aside * dy) / far, a[1] + (along * dy + aside * dx) / far)


def direction(a, b):
    """Return the angle of the line from a to b."""
    return atan2(b[1] - a[1], b[0] - a[0])


def fourbar_truth(crank, side):
    """Return the values of the four-bar (1.0, 0.4, 1.1, 0.9) for a crank angle and a branch."""
    elbow = (0.4 * cos(crank), 0.4 * sin(crank))
    pin = meet(elbow, 1.1, (1.0, 0.0), 0.9, side)
    coupler, rocker = direction(elbow, pin), direction((1.0, 0.0), pin)
    return {'crank': crank, 'coupler': coupler - crank, 'rocker': rocker, 'pin': coupler - rocker}


def fourbar_hinged():
    """Return the same four-bar closed by a hinge, which has a redundant row."""
    m = fourbar_arms('fourbar_hinged')
    m.tip('coupler_end', 'coupler_link', (1.1, 0, 0))
    m.closure('pin', 'rocker_link', 'coupler_end', 'hinge', xyz=(0.9, 0, 0))
    return m


FOURBARS = {
    'fourbar': MECHANISMS['fourbar'],
    'fourbar_pinned': MECHANISMS['fourbar_pinned'],
    'fourbar_hinged': fourbar_hinged,
}


def values_of(solver, values):
    """Return the values of some joints by name, in the order of q."""
    return np.array([values[name] for name in solver.joint_names])


def same_angle(found, wanted):
    """Return True if two angles are equal to 1e-6 modulo a full turn."""
    return abs(remainder(found - wanted, 2 * pi)) <= 1e-6


def assert_driven(m, solver, solution, driven):
    """Verify loops, limits and driven values by the oracle."""
    assert solution.status is Status.CONVERGED, solution.message
    there = m.naive(solver.joint_names, solution.q)
    assert all(max(there.error(closure)) <= 1e-6 for closure in m.closures.values())
    assert there.limit_excess() <= 0.0
    for name, value in driven.items():
        assert solution.q[solver.joint_names.index(name)] == pytest.approx(value, abs=1e-9)


def test_driven_four_bar_keeps_its_branch():
    """From any crank angle to any other."""
    for side in [UPPER, LOWER]:
        for name in FOURBARS:
            m = FOURBARS[name]()
            solver, rng = m.solver(), np.random.default_rng(7)
            ends = [(0.2, 2.8), (2.8, 0.2), *rng.uniform(0.2, 2.8, (COUNT, 2)).tolist()]
            for start, end in ends:
                solution = solver.drive(
                    {'crank': end}, values_of(solver, fourbar_truth(start, side))
                )
                assert_driven(m, solver, solution, {'crank': end})
                rocker = solution.q[solver.joint_names.index('rocker')]
                assert same_angle(rocker, fourbar_truth(end, side)['rocker']), (start, end)


def test_driven_rocker_stops_at_dead_centre():
    """The loops are closed, and the status is not CONVERGED."""
    m = fourbar_hinged()
    m.joints['crank'].set_limits('EZ', -np.inf, np.inf)
    solver = m.solver()
    q = values_of(solver, fourbar_truth(1.5, UPPER))
    # Crank and coupler in line: 1.5 from the crank's hinge to the pin.
    least = pi - acos((1.0**2 + 0.9**2 - 0.7**2) / (2 * 0.9))
    most = pi - acos((1.0**2 + 0.9**2 - 1.5**2) / (2 * 0.9))
    low, high = sorted((least, most))
    for wanted, reached in ((low - 0.3, low), (high + 0.3, high)):
        solution = solver.drive({'rocker': wanted}, q)
        assert solution.status is Status.STALLED
        assert 'near a singularity of type II' in solution.message
        there = m.naive(solver.joint_names, solution.q)
        assert max(there.error(m.closures['pin'])) <= 1e-6
        rocker = solution.q[solver.joint_names.index('rocker')]
        assert rocker == pytest.approx(reached, abs=1e-3)


def test_driven_joint_stops_at_its_limit():
    """The loops are closed, and the status is not CONVERGED."""
    m = FOURBARS['fourbar']()
    solver = m.solver()
    solution = solver.drive({'crank': 3.4})
    assert solution.status is Status.STALLED
    assert solution.q[solver.joint_names.index('crank')] == pytest.approx(2.8, abs=1e-6)
    assert solution.message.endswith('not 3.4; at limits: crank')
    there = m.naive(solver.joint_names, solution.q)
    assert max(there.error(m.closures['weld'])) <= 1e-6
    assert there.limit_excess() <= 0.0


def test_tilted_four_bar_matches_truth_data(shared):
    """Driven from each pose to the seventh next of its branch."""
    data = json.loads((shared / 'truth/fourbar_crank_rocker.json').read_text())
    folder = (shared / data['model']).parent
    robot = load_robot(folder / 'model.urdf', closures=folder / 'closures.yaml', assemble=False)
    solver = Solver(robot)
    for branch in {pose['branch'] for pose in data['poses']}:
        poses = [pose for pose in data['poses'] if pose['branch'] == branch]
        for start, end in zip(poses, poses[7:] + poses[:7], strict=True):
            q0, q = (
                [dict(zip(data['joints'], pose['q'], strict=True))[n] for n in solver.joint_names]
                for pose in (start, end)
            )
            crank = solver.joint_names.index('crank_joint')
            solution = solver.drive({'crank_joint': q[crank]}, q0)
            assert solution.status is Status.CONVERGED
            assert all(same_angle(a, b) for a, b in zip(solution.q, q, strict=True))


def test_drive_without_progress_at_singularity_is_stalled():
    """All steps are used, and the message states the reason."""
    # How far the steps lead before the arms are stretched hangs by the last digits of lengths.
    solver = MECHANISMS['fivebar']().solver(SolverOptions(characteristic_length=1.0))
    solver.q = solver.solve_pose({}).q
    solution = solver.drive({'r2': 0.9, 'r1': -1.1})
    assert solution.status is Status.STALLED
    assert "driven joint 'r2' stopped at" in solution.message
    assert 'near a singularity of type II' in solution.message


def test_drive_with_too_few_steps_is_timeout():
    """The path is free, and more steps would continue it."""
    m = Mechanism('rails')
    m.root('base')
    for name in ('a', 'b'):
        m.joint(name, 'base', 'X', limits=(-1e6, 1e6))
    m.closure('tie', 'a_link', 'b_link', 'weld')
    solution = m.solver(SolverOptions(characteristic_length=1.0)).drive({'a': 5e4})
    assert solution.status is Status.TIMEOUT
    assert 'all steps are spent, and further steps would advance it' in solution.message


def fourbar_free():
    """Return the four-bar whose crank turns without limits."""
    m = fourbar_hinged()
    m.joints['crank'].set_limits('EZ', -np.inf, np.inf)
    m.joints['crank'].set_dof_value('EZ', 1.5)
    return m


def test_drive_to_contradicting_values_names_mobility():
    """More joints are driven than can move independently: no singularity is blamed."""
    solver = fourbar_free().solver()
    start = solver.drive({'crank': 1.5})
    rocker = start['rocker']
    solution = solver.drive({'crank': 1.5, 'rocker': rocker + 0.02}, start.q)
    assert solution.status is Status.STALLED
    assert '2 joints are driven, and the mobility is 1' in solution.message
    assert 'singularity' not in solution.message


def test_drive_with_open_loop_names_the_closure():
    """The loop cannot close, whatever the driven joint does."""
    m = fourbar_arms('torn')
    m.tip('coupler_end', 'coupler_link', (1.1, 0, 0))
    m.closure('pin', 'rocker_link', 'coupler_end', 'hinge', xyz=(4.0, 0, 0))
    solution = m.solver().drive({'crank': 1.0})
    assert solution.status is Status.STALLED
    assert "the loops do not close: closure 'pin' is " in solution.message


@pytest.mark.parametrize('coefficients', [(0.3, -2.0), (0.3, -2.0, 0.1)], ids=['line', 'curve'])
def test_drive_names_the_follower_at_its_limit(coefficients):
    """The driven joint is within its own limits."""
    m = Mechanism('follower')
    m.root('base')
    m.joint('a', 'base', 'EZ', limits=(-2.0, 2.0))
    m.joint('b', 'a_link', 'EZ', limits=(-1.0, 0.8))
    m.joints['b'].couple('EZ', m.joints['a'], 'EZ', coefficients)
    solution = m.solver().drive({'a': 1.9})
    assert solution.status is Status.STALLED
    assert solution.message.endswith('not 1.9; at limits: b')


def test_message_names_only_driven_joints_that_did_not_arrive():
    """A coupling that rounds at its limit counts as arrived; values differ as written."""
    solver = Solver(load_robot(FOURBAR))
    assert solver.drive({'drive': 2.79, 'nod': 0.4}).status is Status.CONVERGED
    found = solver.drive({'drive': 1.2, 'nod': 0.4, 'rock': 1.0})
    assert "'nod' stopped" not in found.message
    for reached, wanted in re.findall(r'stopped at (\S+), not ([^;, ]+)', found.message):
        assert reached != wanted


# A four-bar whose pins are in one line at zero, where two branches meet.
FLAT = """<robot name="flat"><link name="g"/><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j1" type="continuous"><parent link="g"/><child link="a"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="j3" type="{kind}"><parent link="g"/><child link="c"/><origin xyz="{place} 0 0"/>
    <axis xyz="{axis}"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <loop_joint name="pin" type="{cut}"><link1 link="b" xyz="{rod} 0 0"/>
    <link2 link="c" xyz="{rocker} 0 0"/></loop_joint></robot>"""
PARALLELOGRAM = {'place': 0.8, 'rod': 0.8, 'rocker': 0.3}
CHANGE_POINT = {'place': 0.7, 'rod': 0.6, 'rocker': 0.2}
KITE = {'place': 0.3, 'rod': 0.8, 'rocker': 0.8}
SLIDE = {'place': 0.8, 'rod': 0.5, 'rocker': 0, 'kind': 'prismatic', 'axis': '1 0 0'}


def flat(cut='hinge', kind='continuous', axis='0 0 1', **lengths):
    """Return a robot whose start is singular."""
    return load_robot(FLAT.format(cut=cut, kind=kind, axis=axis, **lengths))


def test_drive_leaves_a_singular_start_and_names_the_branch():
    """A drive back into it ends there."""
    for cut, lengths, joint, value in [
        *(('hinge', PARALLELOGRAM, 'j1', 0.8), ('point', PARALLELOGRAM, 'j3', -0.5)),
        *(('hinge', CHANGE_POINT, 'j2', 0.4), ('point', KITE, 'j3', 0.8)),
        ('hinge', SLIDE, 'j3', -0.2),
    ]:
        robot = flat(cut, **lengths)
        solver = Solver(robot)
        found = solver.drive({joint: value})
        assert found.status is Status.CONVERGED
        assert 'the start is singular' in found.message
        assert found[joint] == value
        assert max(found.closure_errors['pin']) < 1e-6
        again = solver.drive({joint: value}, q0=found.q)
        assert 'singular' not in again.message
        (step,) = (float(x) for x in re.findall(f"'{joint}' (\\S+?)[,)]", found.message))
        assert np.sign(step) == np.sign(value)


def test_drive_in_steps_leaves_a_singular_start():
    """As a node calls it, tick by tick."""
    solver = Solver(flat(**PARALLELOGRAM))
    q = solver.q
    for _ in range(4):
        q = solver.drive({'j1': 0.8}, q0=q, steps=20).q
    assert q[0] == 0.8


def test_message_blames_the_loops_of_a_rigid_triangle():
    """It is singular at first sight, but no branch leads on."""
    found = Solver(flat(place=0.8, rod=0.5, rocker=0)).drive({'j1': 0.8})
    assert found.status is Status.STALLED
    assert 'closures do not allow any further motion' in found.message


@pytest.mark.parametrize('lengths', [PARALLELOGRAM, KITE])
def test_transmission_is_made_at_a_singular_start(lengths):
    """Its branch is that of a drive."""
    robot = flat(**lengths)
    driven = Solver(robot).drive({'j1': 0.4})
    made = robot.transmission(joints=['j3'], actuators=['j1'])
    found = made.to_joints([0.4])
    assert found.status is Status.CONVERGED
    assert found.q == pytest.approx(driven.q, abs=1e-6)
    said = 'the start is singular'
    assert (said in found.message) == (said in driven.message)
    assert made.prepare_to_joints()([0.4]).status is Status.CONVERGED


@pytest.mark.parametrize(('name', 'joint'), [('arm6', 'j1'), ('excavator', 'swing')])
def test_joint_in_no_loop_is_driven_up_to_its_limit(name, joint):
    """Joints that move no closure are set."""
    robot = load_robot(name)
    index, solver = robot.joint_names.index(joint), Solver(robot)
    for value in (0.3, min(robot.upper[index], 9.0) + 1.0):
        solution = solver.drive({joint: value})
        assert solution.q[index] == min(value, robot.upper[index])
        assert solution.converged == (value <= robot.upper[index])
