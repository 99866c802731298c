"""Numbers as text: exact, short where that is the same, right near a pitch of 90 degrees."""

from hypothesis import example, given
from hypothesis import strategies as st
from ik_node.description.digits import exact_angle
from ik_node.description.writers.plain_tree import axis_of, number_text, rpy_of
from ik_node.model.rotation import quat_from_euler, quat_to_matrix, unit
import numpy as np
import pytest

ANGLES = st.floats(-3.2, 3.2)
NEAR_UP = st.one_of(ANGLES, st.floats(1.5707960, 1.5707967), st.floats(-1.5707967, -1.5707960))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_bit_is_kept(number):
    """What is written is the number."""
    assert float(number_text(number)) == number
    assert '-0' not in number_text(-0.0)


@given(ANGLES, NEAR_UP, ANGLES)
@example(np.pi, 1.570796, np.pi)
@example(-np.pi, -1.570796, np.pi)
def test_angles_give_the_same_rotation(x, y, z):
    """To a rounding, at and near a pitch of 90 degrees as anywhere."""
    quat = quat_from_euler(x, y, z)
    found = quat_to_matrix(quat_from_euler(*rpy_of(quat)))
    assert np.max(np.abs(found - quat_to_matrix(quat))) < 5e-15
    assert np.max(np.abs(rpy_of(quat))) <= np.pi


def test_short_angles_stay_short():
    """Those that people write come back as they were."""
    for rpy in [(0, 0, 0), (0.3, 0, 0), (0, 1.5707, 0), (0.1, -0.2, 3.0), (3.1415, 0, 0)]:
        assert rpy_of(quat_from_euler(*rpy)).tolist() == list(rpy)


@pytest.mark.parametrize('rpy', [(0, 1.5707963, 0), (3.14159, 0, 0), (0, 0, 0.7854)])
def test_angles_that_would_be_read_as_fractions_of_pi_keep_their_value(rpy):
    """They get the digits that say that they are none."""
    found = rpy_of(quat_from_euler(*rpy)).tolist()
    assert found == pytest.approx(list(rpy), abs=1e-15)
    assert [exact_angle(angle) for angle in found] == found


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: max(map(abs, v)) > 0.1))
def test_axes_are_exact(direction):
    """Of length one, along the direction."""
    axis = axis_of(direction)
    assert np.max(np.abs(axis - unit(direction))) < 1e-15
    assert axis_of([1e-17, 1.0, 0.0]).tolist() == [0.0, 1.0, 0.0]
