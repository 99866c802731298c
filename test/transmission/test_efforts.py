"""Efforts by virtual work: against energies, least squares and each other."""

import numpy as np
import pytest
from support.transmissions import gallery_robot, places_of, rate_of_change


def weighted(name):
    """Return a robot of the gallery whose links have masses off their origins."""
    robot = gallery_robot(name)
    random = np.random.default_rng(5)
    for link in robot.links.values():
        link.mass = float(random.uniform(0.2, 2.0))
        link.centre_of_mass = random.uniform(-0.1, 0.1, 3)
    return robot


@pytest.mark.parametrize('name', ['delta', 'knee_leg'])
def test_gravity_effort_is_the_gradient_of_potential_energy(name):
    """Along curves with closed loops, by differences of fourth order."""
    robot = weighted(name)
    transmission = robot.transmission()
    own = places_of(transmission)
    q = transmission.to_joints(robot.q[own] + 0.01).q
    fall = np.array((1.0, -2.0, -9.5))
    effort = robot.gravity_effort(q, fall)

    def energy(position):
        state = transmission.to_joints(position, q0=q)
        assert state.converged
        return -robot.mass * fall @ robot.centre_of_mass(state.q)

    for at in range(len(own)):
        step = np.zeros(len(own))
        step[at] = 1e-3
        slope = (
            8.0 * (energy(q[own] + step) - energy(q[own] - step))
            - (energy(q[own] + 2 * step) - energy(q[own] - 2 * step))
        ) / 12e-3
        assert abs(slope - effort[at]) <= 1e-7 * max(1.0, np.abs(effort).max())


@pytest.mark.parametrize('more', [[], ['left_elbow']])
def test_gains_are_derivatives_of_actuator_efforts(more):
    """The geometric term of the effort included, also if a third motor is redundant."""
    robot = gallery_robot('fivebar')
    transmission = robot.transmission([*robot.actuated, *more], ['left_elbow', 'right_elbow'])
    q, own = robot.q, places_of(transmission)
    stiffness, damping = np.array((50.0, 80.0)), np.array(((2.0, 0.5), (0.5, 3.0)))
    effort = np.array((1.5, -0.7))
    found, damped = transmission.gains_to_actuators(q, stiffness, damping, effort)
    y0 = q[[robot.joint_names.index(name) for name in transmission.joints]]

    def torque(position):
        state = transmission.to_joints(position, q0=q)
        wanted = effort - stiffness * (state.joint_position - y0)
        return transmission.actuator_effort(state.q, wanted)

    for at, speeds in enumerate(transmission.motion(q)[own].T):
        step = 1e-4 * speeds
        slope = (torque(q[own] + step) - torque(q[own] - step)) / 2e-4
        assert np.abs(slope + found[:, at]).max() <= 1e-6 * np.abs(found).max()
    ratio = transmission.jacobian(q)
    assert np.abs(damped - ratio.T @ damping @ ratio).max() <= 1e-12


@pytest.fixture(name='two_arms', scope='module')
def make_two_arms():
    """Return two arms that hold one box: fourteen motors for eight degrees of freedom."""
    return weighted('two_arms_one_box')


def agreeing_speeds(robot):
    """Return an orthonormal basis of the speeds of the motors that agree."""
    motion = robot.transmission().motion(robot.q)
    own = places_of(robot.transmission())
    left, sizes, _ = np.linalg.svd(motion[own])
    return left[:, : int(np.sum(sizes > 1e-9))]


def test_speeds_that_disagree_are_replaced_by_the_nearest(two_arms):
    """The message gives the largest change."""
    transmission = two_arms.transmission()
    agreeing = agreeing_speeds(two_arms)
    assert agreeing.shape[1] == int(two_arms.mobility)
    given = np.random.default_rng(0).uniform(-1.0, 1.0, len(agreeing))
    state = transmission.to_joints(two_arms.q[places_of(transmission)], given)
    assert np.abs(state.actuator_velocity - agreeing @ (agreeing.T @ given)).max() <= 1e-9
    off = np.abs(state.actuator_velocity - given).max()
    assert state.message == f'velocities that were given disagree by {off:.3g}'


def test_velocity_of_redundant_robot_is_a_rate_of_change():
    """Motors that are as many as degrees of freedom move, the others follow."""
    robot = gallery_robot('two_arms_one_box')
    names = [n for n in robot.actuated if n.startswith('left') or n == 'right_hand']
    transmission = robot.transmission(names)
    q = robot.q
    speeds = np.random.default_rng(4).uniform(-0.5, 0.5, len(names))
    rate = rate_of_change(transmission, q, speeds)
    velocity = transmission.motion(q) @ speeds
    assert np.abs(rate - velocity).max() <= 1e-7 * np.abs(velocity).max()
