"""The fault drill's monitor sees what is wrong with a joint state."""

import math

import numpy as np
import pytest
from support.drill import HOME, Oracle, PLATFORM


@pytest.fixture(scope='module')
def hexapod(urdf):
    return Oracle(urdf('hexapod'))


def test_monitor_accepts_a_good_configuration(hexapod):
    """With all joints at zero there is no fault, and the platform is at its start."""
    zero = [0.0] * len(hexapod.joint_names)
    assert hexapod.verdict(zero) == ''
    assert hexapod.place(zero, PLATFORM) == pytest.approx(HOME, abs=1e-12)


@pytest.mark.parametrize(
    ('joint', 'value', 'words'),
    [
        ('leg3', 2e-6, 'loop leg3_ball is open'),
        ('platform_x', 3e-6, 'is open'),
        ('platform_z', 0.0121, 'outside the limits'),
        ('leg0_rx', math.nan, 'not finite'),
        ('leg0', -math.inf, 'not finite'),
    ],
)
def test_monitor_reports_a_bad_configuration(hexapod, joint, value, words):
    """It finds a loop open by two micrometres, a value beyond a limit, and NaN."""
    q = np.zeros(len(hexapod.joint_names))
    q[hexapod.joint_names.index(joint)] = value
    assert words in hexapod.verdict(q.tolist())
