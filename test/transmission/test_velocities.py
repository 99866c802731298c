"""Velocities, accelerations and their Jacobians against differences along closed-loop curves."""

import json

from ik_node.native import is_compiled
from ik_node.robot import load_robot
import numpy as np
import pytest
from support.transmissions import gallery_robot, places_of, rate_of_change
from support.truth_sets import TRUTH_SETS

# Plain Python is a hundred times slower: some of the poses are for coverage.
STRIDE = 1 if is_compiled() else 20
GALLERY = ('hexapod', 'delta', 'gripper', 'strandbeest')


def truth_robot(shared, name):
    """Return a robot of a truth set, its motors, and its configurations with closed loops."""
    truth = json.loads((shared / 'truth' / f'{name}.json').read_text())
    annotations = truth.get('closures_yaml')
    robot = load_robot(
        shared / truth['model'], closures=shared / annotations if annotations else None
    )
    order = [truth['joints'].index(each) for each in robot.joint_names]
    motors = robot.actuated or truth.get('actuated') or robot.joint_names[:1]
    return robot, motors, [np.array(pose['q'])[order] for pose in truth['poses'][:40]]


def near_singular(transmission, q):
    """Return True where differences along the motion lose their accuracy."""
    return transmission.singularity(q).nearness < 0.02


def test_velocities_of_real_robots_are_rates_of_change_along_closed_loops(shared):
    """At up to forty configurations of each truth set, differences of sixth order."""
    for name in TRUTH_SETS:
        robot, motors, configurations = truth_robot(shared, name)
        transmission = robot.transmission(motors)
        random = np.random.default_rng(0)
        own, checked = places_of(transmission), 0
        for q in configurations[::STRIDE]:
            q = transmission.solver.solve_pose({}, q).q
            if near_singular(transmission, q):
                continue
            motion = transmission.motion(q)
            # Redundant motors move at speeds that agree, and agree to the second order only on a
            # curve: one motor's worth of motion is enough for them.
            speeds = (motion @ random.uniform(-1.0, 1.0, len(own)))[own]
            if np.linalg.matrix_rank(motion[own], 1e-6) < len(own):
                continue
            velocity = motion @ speeds
            if (q < robot.lower + 1e-3).any() or (q > robot.upper - 1e-3).any():
                continue
            rate = rate_of_change(transmission, q, speeds)
            assert np.abs(rate - velocity).max() <= 1e-7 * np.abs(velocity).max()
            checked += 1
        assert checked >= 10 // STRIDE or name == 'athlete_pinned'


@pytest.mark.parametrize('name', GALLERY)
def test_accelerations_are_rates_of_change_of_velocities(name):
    """At constant speeds, and with accelerations added."""
    robot = gallery_robot(name)
    transmission = robot.transmission()
    own = places_of(transmission)
    speeds = np.random.default_rng(1).uniform(0.2, 1.0, len(own))
    q = transmission.to_joints(robot.q[own] + 0.01).q
    state = transmission.to_joints(q[own], speeds, acceleration=np.zeros(len(own)), q0=q)
    rate = rate_of_change(transmission, q, speeds, 'velocity')
    size = np.abs(rate).max() + np.abs(state.velocity).max() ** 2
    assert np.abs(rate - state.acceleration).max() <= 1e-7 * size
    assert np.array_equal(state.joint_acceleration, state.acceleration)
    more = transmission.to_joints(q[own], speeds, acceleration=2.0 * speeds, q0=q)
    expected = state.acceleration + 2.0 * state.velocity
    assert np.abs(more.acceleration - expected).max() <= 1e-9 * size


@pytest.mark.parametrize('name', GALLERY)
def test_what_goes_to_joints_comes_back_to_actuators(name):
    """Position, velocity, effort and acceleration."""
    robot = gallery_robot(name)
    transmission = robot.transmission()
    own = places_of(transmission)
    random = np.random.default_rng(2)
    given = random.uniform(-1.0, 1.0, (3, len(own)))
    position = robot.q[own] + 0.02 * random.uniform(0.1, 1.0, len(own))
    there = transmission.to_joints(position, *given)
    assert there.converged
    back = transmission.to_actuators(
        there.joint_position, there.joint_velocity, there.joint_effort, there.joint_acceleration
    )
    assert back.converged
    assert back.message == ''
    assert np.abs(back.actuator_position - position).max() <= 1e-10
    for found, wanted in zip(
        (back.actuator_velocity, back.actuator_effort, back.actuator_acceleration),
        given,
        strict=True,
    ):
        assert np.abs(found - wanted).max() <= 1e-7 * max(1.0, np.abs(there.acceleration).max())


@pytest.mark.parametrize('name', GALLERY)
def test_power_of_actuators_is_power_of_joint_space(name):
    """To rounding, since no mass takes any."""
    robot = gallery_robot(name)
    random = np.random.default_rng(3)
    transmission = robot.transmission()
    count = len(transmission.actuators)
    for _ in range(20):
        position = robot.q[places_of(transmission)] + 0.01 * random.uniform(-1.0, 1.0, count)
        state = transmission.to_joints(position, *random.uniform(-1.0, 1.0, (2, count)))
        put_in = state.actuator_effort @ state.actuator_velocity
        taken = state.joint_effort @ state.joint_velocity
        size = np.abs(state.actuator_effort) @ np.abs(state.actuator_velocity)
        assert abs(put_in - taken) <= 1e-12 * size


def test_pose_of_link_is_a_joint_space():
    """Its six rows are the geometric Jacobian by the actuators."""
    robot = gallery_robot('hexapod')
    robot.q = robot._solver.solve_pose({'platform_link': ((0.01, 0.02, 0.21), (0, 0, 0, 1))}).q
    transmission = robot.transmission(joints=['platform_link'])
    jacobian = transmission.jacobian(robot.q)
    assert jacobian.shape == (6, 6)
    assert np.abs(jacobian - robot.link_jacobian(robot.q, 'platform_link')).max() <= 1e-12
    pose = robot.forward(robot.q, 'platform_link')
    moved = pose.copy()
    moved[:3, 3] += (0.004, -0.003, -0.002)
    twist = np.array((0.1, 0.2, -0.1, 0.3, 0.1, 0.2))
    state = transmission.to_actuators(moved, twist)
    assert state.converged
    assert np.abs(robot.forward(state.q, 'platform_link') - moved).max() <= 1e-9
    assert np.abs(robot.jacobian(state.q, 'platform_link') @ state.velocity - twist).max() <= 1e-9
    again = transmission.to_actuators(state.joint_position, twist)
    assert np.abs(again.q - state.q).max() <= 1e-9
