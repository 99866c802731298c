"""Our own robots: closed at zero, motors known, and as mobile as their kind is."""

from math import atan2, cos, hypot, pi, sin
from xml.etree import ElementTree

from ik_node import DOF, Solver
from ik_node.description.files import description_path
from ik_node.description.read import read_description
from ik_node.gallery import gallery_item, NAMES
import numpy as np
import pytest
from support.arms_and_walkers import ARMS_AND_WALKERS
from support.gallery_motion import loaded
from support.naive import Naive, naive_of

LEGS = ('front_left', 'front_right', 'rear_left', 'rear_right')
ARM = ('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow')
ARM += ('wrist_roll', 'wrist_pitch', 'hand')
SIDES = ('left', 'right')
WHEELS = [f'{side}_{wheel}' for side in SIDES for wheel in ('front', 'middle', 'rear')]
HINGES = [f'{leg}_{hinge}' for leg in LEGS for hinge in ('hip', 'thigh', 'knee')]

# mobility, redundant rows, motors
FACTS = {
    'hexapod': (6, 0, [f'leg{k}' for k in range(6)]),
    'delta': (3, 0, ['arm0', 'arm1', 'arm2']),
    'fivebar': (2, 3, ['left_shoulder', 'right_shoulder']),
    'gripper': (1, 6, ['left_crank']),
    'walker': (6, 0, HINGES),
    'palletizer': (4, 9, ['turn', 'shoulder', 'drive', 'wrist']),
    'scissor_lift': (1, 15, ['slide']),
    'strandbeest': (1, 36, ['crank']),
    'peaucellier': (1, 9, ['crank']),
    # Six of the box, and the elbows, which swing round while the box stands still.
    'two_arms_one_box': (8, 0, [f'{side}_{hinge}' for side in SIDES for hinge in ARM]),
    'knee_leg': (3, 3, ['roll', 'hip', 'crank']),
    'ankle': (2, 0, ['motor_left', 'motor_right']),
    # The swing and three planar chains, with three redundant rows for each of four pins.
    'excavator': (4, 12, ['swing', 'boom_cylinder', 'arm_cylinder', 'bucket_cylinder']),
    # Six of the chassis, the differential, two bogies, and ten that move wheels only.
    'rocker_bogie': (
        19,
        0,
        [f'{wheel}_drive' for wheel in WHEELS]
        + [f'{wheel}_steer' for wheel in WHEELS if 'middle' not in wheel],
    ),
    **ARMS_AND_WALKERS,
}
# Of delta.urdf [m]: motors' circle, upper arm, platform's circle, rod.
MOTORS, UPPER, PLATFORM, ROD = 0.10, 0.15, 0.04, 0.33


def endless(path):
    """Return the names of the joints that a description calls continuous."""
    joints = ElementTree.parse(path).getroot().findall('joint')
    return {joint.get('name') for joint in joints if joint.get('type') == 'continuous'}


@pytest.mark.parametrize('name', NAMES)
def test_robot_has_its_stated_properties(name):
    """Mobility by rank and motors are those of the kind; nothing had to be guessed."""
    robot = loaded(name)
    mobility = robot.mobility
    assert (mobility, mobility.redundant_rows, robot.actuated) == FACTS[name]
    assert robot.notes == []


@pytest.mark.parametrize('name', NAMES)
def test_loops_are_closed_at_zero(name):
    """With all joints at zero, inside all limits, every loop is closed to rounding."""
    path = description_path(gallery_item(name).description)
    description = read_description(path)
    there = Naive(description.roots)
    assert not any(values.any() for values in there.values.values())
    gaps = [max(there.error(loop)) for loop in description.closures.values()]
    assert max(gaps, default=0.0) < 1e-12
    assert endless(path) <= {joint.name for joint in description.joint_order}
    for joint in description.joint_order:
        (dof,) = joint.dof
        lower, upper = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
        # Cranks and wheels turn on and on; a rover has some way to go.
        most = np.inf if joint.name in endless(path) else 4.0 if dof > DOF.Z else 10.0
        assert -most <= lower < 0.0 < upper <= most
        assert np.isfinite([lower, upper]).all() == (joint.name not in endless(path))
        assert 0.0 < joint.max_velocity[dof] < np.inf


@pytest.mark.parametrize('name', NAMES)
def test_loops_and_motors_are_in_description_text(name):
    """The text alone, as it goes over a topic, has the same loops and motors."""
    path = description_path(gallery_item(name).description)
    from_text, from_path = read_description(path.read_text()), read_description(path)
    assert list(from_text.closures) == list(from_path.closures)
    assert from_text.actuated == from_path.actuated == FACTS[name][2]


@pytest.mark.parametrize('name', NAMES)
def test_the_tree_has_one_root(name):
    """The parsers of other programs refuse a URDF with two."""
    assert len(read_description(description_path(gallery_item(name).description)).roots) == 1


def delta_motor(place, turn):
    """Return a delta's motor angle for a place of its platform: two circles meet at the elbow."""
    x, y, z = place
    along, across = cos(turn) * x + sin(turn) * y, cos(turn) * y - sin(turn) * x
    # From the motor to the rods' end, in the plane that the upper arm turns in; down is positive.
    out, down = along + PLATFORM - MOTORS, -z
    share = (UPPER**2 + out**2 + down**2 + across**2 - ROD**2) / (2.0 * UPPER)
    return atan2(down, out) - np.arccos(share / hypot(out, down))


@pytest.mark.parametrize('step', [(0.0, 0.0, 0.0), (0.06, 0.0, 0.03), (-0.03, 0.07, -0.05)])
def test_delta_agrees_with_its_formula(step):
    """The motors stand where the delta's own inverse kinematics has them."""
    robot = loaded('delta')
    place = robot.forward(robot.q, 'platform_link')[:3, 3] + step
    robot.add_goal('platform_link', name='platform', dof='X Y Z')
    solution = Solver(robot).solve_pose({'platform': (place, (0.0, 0.0, 0.0, 1.0))})
    assert solution.status.name == 'CONVERGED'
    q = dict(zip(robot.joint_names, solution.q, strict=True))
    for k in range(3):
        assert q[f'arm{k}'] == pytest.approx(delta_motor(place, 2.0 * pi * k / 3.0), abs=1e-6)
    turned = robot.forward(solution.q, 'platform_link')[:3, :3]
    np.testing.assert_allclose(turned, np.eye(3), atol=1e-6)


@pytest.mark.parametrize('opening', [0.01, 0.03, 0.06, 0.085])
def test_gripper_fingers_mirror_each_other(opening):
    """Half the opening asked of one tip opens both, and neither turns."""
    robot = loaded('gripper')
    robot.add_goal('left_tip_link', name='grip', dof='X')
    wanted = ((0.5 * opening, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    solution = Solver(robot).solve_pose({'grip': wanted})
    assert solution.status.name == 'CONVERGED'
    left = robot.forward(solution.q, 'left_tip_link')
    right = robot.forward(solution.q, 'right_tip_link')
    assert left[0, 3] == pytest.approx(0.5 * opening, abs=1e-6)
    np.testing.assert_allclose(right[:3, 3], left[:3, 3] * (-1.0, 1.0, 1.0), atol=1e-6)
    np.testing.assert_allclose([left[:3, :3], right[:3, :3]], [np.eye(3)] * 2, atol=1e-6)


def test_walker_foot_with_released_loop_follows_goal():
    """A foot that is let go follows a goal of its own; the others stay on the ground."""
    robot = loaded('walker')
    robot.closures['front_left_contact'].enabled = False
    assert robot.mobility == 9
    robot.add_goal('body_link', name='body')
    robot.add_goal('front_left_foot_link', name='foot', dof='X Y Z')
    q = robot.q
    body = robot.forward(q, 'body_link')[:3, 3] + (-0.02, -0.02, -0.01)
    foot = robot.forward(q, 'front_left_foot_link')[:3, 3] + (0.03, 0.01, 0.06)
    straight = (0.0, 0.0, 0.0, 1.0)
    solution = Solver(robot).solve_pose({'body': (body, straight), 'foot': (foot, straight)})
    assert solution.status.name == 'CONVERGED'
    there = naive_of(robot, solution.q)
    errors = {name: max(there.error(loop)) for name, loop in robot.closures.items()}
    assert errors.pop('front_left_contact') > 0.06
    assert max(errors.values()) < 1e-6
    reached = robot.forward(solution.q, 'front_left_foot_link')[:3, 3]
    np.testing.assert_allclose(reached, foot, atol=1e-6)
