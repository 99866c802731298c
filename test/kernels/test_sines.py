"""Sines and cosines, four at a time, are exact to the last digit but one."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.kernels.vectors import LARGEST_ANGLE
import numpy as np
import pytest
from support import kernel_calls as call
from support.building import Mechanism

angle = st.one_of(
    st.floats(-7.0, 7.0),
    st.floats(-LARGEST_ANGLE, LARGEST_ANGLE),
    # beside whole quarters of a turn, where one of the two is near zero
    st.tuples(st.integers(-900_000, 900_000), st.floats(-1e-9, 1e-9)).map(
        lambda at: at[0] * np.pi / 2 + at[1]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.tuples(angle, angle, angle, angle))
def test_sines_and_cosines_equal_library(angles):
    """To two units in the last place of 1."""
    sines, cosines = call.four_sines(angles)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0.0, atol=3e-16)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0.0, atol=3e-16)


@pytest.mark.parametrize('turns', [1, 10**9])
def test_angle_of_many_turns_equals_reduced_angle(turns):
    """A joint without limits may turn arbitrarily far."""
    m = Mechanism('wheel')
    m.root('base')
    m.joint('j1', 'base', 'EZ')
    m.joint('j2', 'j1_link', 'EZ', (0.3, 0.0, 0.0))
    m.tip('hand', 'j2_link', (0.2, 0.1, 0.0))
    m.goal('hand_goal', 'hand')
    rows = call.Rows(m)
    near, far = np.array([0.4, -0.9]), np.array([0.4 + 2.0 * np.pi * turns, -0.9])
    found, wanted = (rows.at(q)[0]['hand_goal'] for q in (far, near))
    np.testing.assert_allclose(found, wanted, atol=1e-14 + 1e-15 * turns)
