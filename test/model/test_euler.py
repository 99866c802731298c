"""Equal Euler angles are the same rotation, and the nearest equivalent is found."""

from math import pi

from hypothesis import assume, given
from hypothesis import strategies as st
from ik_node.model.rotation import nearest_euler, nearest_turn, wrap
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

TURN = 2 * pi
angles = st.floats(-20.0, 20.0)
triples = st.tuples(angles, angles, angles)
locked = st.tuples(angles, st.sampled_from([k * pi + pi / 2 for k in range(-4, 5)]), angles)


def matrix(euler):
    """Return the rotation of (x, y, z) by SciPy."""
    return Rotation.from_euler('xyz', euler).as_matrix()


@given(angles, angles)
def test_nearest_turn_is_within_half_a_turn(angle, present):
    """Same angle modulo a turn, and the same bits if it was near already."""
    found = nearest_turn(angle, present)
    assert abs(found - present) <= pi + 1e-12
    assert abs(wrap(found - angle)) <= 1e-12
    if abs(angle - present) < pi:
        assert found == angle


@given(angles, angles, angles, angles)
def test_nearest_turn_keeps_limits_if_possible(angle, present, one, other):
    """Otherwise it exceeds them by the least."""
    lower, upper = sorted((one, other))
    found = nearest_turn(angle, present, lower, upper)
    every = [angle + k * TURN for k in range(-12, 13)]
    inside = [a for a in every if lower <= a <= upper]
    if inside:
        assert lower - 1e-9 <= found <= upper + 1e-9
        best = min(abs(a - present) for a in inside)
        assert abs(found - present) <= best + 1e-9
    else:
        least = min(max(lower - a, a - upper) for a in every)
        assert max(lower - found, found - upper) <= least + 1e-9


def flipped(euler):
    """Return the other Euler angles of the same rotation."""
    return np.array((euler[0] + pi, pi - euler[1], euler[2] + pi))


@pytest.mark.parametrize('sign', [1, -1])
def test_gimbal_lock_distributes_turn_to_both_outer_angles(sign):
    """At y = +-pi/2 each takes half of the turn."""
    y = sign * pi / 2
    found = nearest_euler((0.6, y, 0.0), (0.0, y, 0.0))
    np.testing.assert_allclose(found, (0.3, y, -sign * 0.3), atol=1e-15)
    at_a_stop = nearest_euler((0.6, y, 0.0), (0.0, y, 0.0), (-1, -2, -1), (0.1, 2, 1))
    np.testing.assert_allclose(at_a_stop, (0.1, y, -sign * 0.5), atol=1e-15)
    at_the_other = nearest_euler((-0.6, y, 0.0), (0.0, y, 0.0), (-0.1, -2, -1), (1, 2, 1))
    np.testing.assert_allclose(at_the_other, (-0.1, y, sign * 0.5), atol=1e-15)


@given(st.one_of(triples, locked), triples)
def test_nearest_angles_have_least_distance_of_all_forms(euler, present):
    """Including added turns and exchanges in gimbal lock."""
    found = nearest_euler(euler, present)
    np.testing.assert_allclose(matrix(found), matrix(euler), atol=3e-9)
    forms = [np.array(euler), flipped(euler)]
    if abs(np.cos(euler[1])) < 1e-9:
        sign = np.sign(np.sin(euler[1]))
        shifts = np.linspace(-pi, pi, 9)
        forms = [form + np.array((s, 0, sign * s)) for form in forms for s in shifts]
    turns = TURN * np.arange(-8, 9)
    gaps = [np.abs(np.subtract(form, present)[:, None] + turns).min(axis=1) for form in forms]
    assert np.linalg.norm(found - present) <= min(np.linalg.norm(gap) for gap in gaps) + 1e-9


@given(triples, triples, triples, triples)
def test_nearest_angles_keep_limits_if_any_form_does(euler, present, one, other):
    """The result is within limits if any equivalent triple is."""
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    turns = TURN * np.arange(-8, 9)[:, None]
    forms = [form + turns for form in (np.array(euler), flipped(euler))]
    assume(any(((lower <= form) & (form <= upper)).any(axis=0).all() for form in forms))
    found = nearest_euler(euler, present, lower, upper)
    assert ((lower - 1e-8 <= found) & (found <= upper + 1e-8)).all()
    np.testing.assert_allclose(matrix(found), matrix(euler), atol=1e-8)
