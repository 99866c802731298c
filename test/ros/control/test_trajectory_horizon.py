"""How smoothly a joint_trajectory_controller moves by what the node sends."""

from ik_node.ros.outputs import trajectory
import numpy as np
import pytest
from support.trajectory_controller import rms_acceleration

ARMS = ('arm0', 'arm1', 'arm2')
PERIOD, LAG = 0.01, 0.01


def messages(moving, seconds=3.0, skip=None, **values):
    """Return what the node sends while a delta's platform goes round, 1.5 cm, once a second."""
    delta = moving(
        'delta',
        goal_names=('platform',),
        goals__platform__link='platform_link',
        goals__platform__dof='X Y Z',
        output__type='joint_trajectory',
        **values,
    )
    delta.measure(**{name: delta.value(name) for name in ARMS})
    sent = []
    for tick in range(round(seconds / PERIOD)):
        turn = 2.0 * np.pi * PERIOD * tick
        delta.goal('platform', (0.015 * np.sin(turn), 0.015 * (1.0 - np.cos(turn)), 0.0))
        _, command = delta.tick(PERIOD)
        delta.watched.check_q(delta.motion.hardware.q)
        sent.append(trajectory(command))
    return sent


def positions(sent):
    """Return what is commanded, (n, 3) [rad]."""
    at = [0.0 if len(message.points) == 1 else PERIOD for message in sent]
    return np.array(
        [
            message.points[0 if time == 0.0 else 1].positions
            for message, time in zip(sent, at, strict=True)
        ]
    )


@pytest.mark.parametrize('horizon', [0.001, 0.05, 0.2])
def test_with_a_horizon_every_controller_is_smooth(moving, horizon):
    """The first point is at time 0, so no controller starts at the measured state."""
    sent = messages(moving, output__horizon=horizon)
    start = positions(sent)[0]
    rms = {
        option: rms_acceleration(sent, PERIOD, LAG, start, interpolate_from_desired_state=option)[
            0
        ]
        for option in (False, True)
    }
    print(f'horizon {horizon:g} s: {rms[False]:.1f}, with the option {rms[True]:.1f} rad/s2')
    assert max(rms.values()) < 15.0


def test_a_horizon_ends_at_rest_within_limits(moving):
    for message in messages(moving, 1.0, output__horizon=0.1):
        _, wanted, last = message.points
        times = [point.time_from_start.nanosec for point in message.points]
        assert times == [0, 10_000_000, 100_000_000]
        assert list(last.velocities) == [0.0] * 3
        way = np.array(last.positions) - np.array(wanted.positions)
        # Slowing down evenly from the velocity before takes half the time's way.
        assert way == pytest.approx(0.045 * np.array(wanted.velocities), abs=2e-3)
