"""Euler angles: equal ones are the same rotation, and the nearest of them is found."""

from itertools import product
from math import inf, pi

from hypothesis import assume, given
from hypothesis import strategies as st
from ik_node.model.euler import (
    distance,
    is_gimbal_locked,
    nearest_euler,
    nearest_turn,
    other_angles,
    wrap,
)
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

TURN = 2 * pi
angles = st.floats(-20.0, 20.0)
triples = st.tuples(angles, angles, angles)
locked = st.tuples(angles, st.sampled_from([k * pi + pi / 2 for k in range(-4, 5)]), angles)


def matrix(euler):
    """Return the rotation of (x, y, z), by another library."""
    return Rotation.from_euler('xyz', euler).as_matrix()


@given(angles)
def test_wrapped_angles_are_in_one_turn(angle):
    """In (-pi, pi], and a whole number of turns away."""
    wrapped = wrap(angle)
    assert -pi < wrapped <= pi
    assert (angle - wrapped) / TURN == pytest.approx(round((angle - wrapped) / TURN), abs=1e-12)


@pytest.mark.parametrize('turns', range(-3, 4))
def test_half_a_turn_is_wrapped_upwards(turns):
    """Odd multiples of pi are pi, never minus pi; even ones are nothing."""
    assert wrap((2 * turns + 1) * pi) == pi
    assert wrap(turns * TURN) == 0.0


@pytest.mark.parametrize(
    ('angle', 'present', 'nearest'),
    [
        (0.0, 0.0, 0.0),
        (0.0, 6.0, TURN),
        (0.0, -6.0, -TURN),
        (3.0, -3.0, 3.0 - TURN),
        (-3.0, 3.0, TURN - 3.0),
        (0.5, 100 * TURN, 0.5 + 100 * TURN),
        (0.5 - 7 * TURN, -0.5, 0.5),
    ],
)
def test_nearest_turn(angle, present, nearest):
    """The same direction, by turns as near as can be, many turns away as well."""
    assert nearest_turn(angle, present) == pytest.approx(nearest, abs=1e-11)


@given(angles, angles)
def test_nearest_turn_is_within_half_a_turn(angle, present):
    """No further than pi, the same angle modulo a turn, and the same bits if it was so."""
    found = nearest_turn(angle, present)
    assert abs(found - present) <= pi + 1e-12
    assert abs(wrap(found - angle)) <= 1e-12
    if abs(angle - present) < pi:
        assert found == angle


@given(angles, angles, angles, angles)
def test_nearest_turn_keeps_limits_where_it_can(angle, present, one, other):
    """The nearest of all turns that are within limits; else the one that misses by the least."""
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


def test_nearest_turn_with_one_limit():
    """A limit on one side is kept, whatever is nearer beyond it."""
    assert nearest_turn(1.0, 0.0, 2.0, inf) == 1.0 + TURN
    assert nearest_turn(1.0, 30.0, -inf, 2.0) == 1.0


@given(angles, st.integers(-9, 9))
def test_a_limit_is_not_missed_by_rounding(limit, turns):
    """An angle that is a limit but for whole turns, and for the last bits, is on it."""
    angle = limit + turns * TURN
    assert nearest_turn(angle, limit, limit, limit + 7.0) == pytest.approx(limit, abs=1e-12)
    assert nearest_turn(angle, limit, limit - 7.0, limit) == pytest.approx(limit, abs=1e-12)
    low, high = np.array((limit, -9, -9)), np.array((limit + 7.0, 9, 9))
    found = nearest_euler((angle, 0.1, 0.2), (limit, 0.1, 0.2), low, high)
    np.testing.assert_allclose(found, (limit, 0.1, 0.2), atol=1e-12)


def test_distance_is_of_points():
    """Square root of the sum of squares; whole turns count."""
    assert distance((1, 2, 3), (1, 2, 3)) == 0.0
    assert distance((1, 2, 3), (3, 3, 1)) == 3.0
    assert distance((0, 0, 0), (0, 0, TURN)) == TURN


@given(triples)
def test_other_angles_are_the_same_rotation(euler):
    """The redundant triple turns the same way, and its own other one is the first, wrapped."""
    other = other_angles(euler)
    np.testing.assert_allclose(matrix(other), matrix(euler), atol=1e-12)
    back = other_angles(other)
    assert [wrap(b - a) for a, b in zip(euler, back, strict=True)] == pytest.approx([0] * 3)


@pytest.mark.parametrize(
    ('y', 'is_locked'),
    [
        *((pi / 2, True), (-pi / 2, True), (5 * pi / 2, True), (-7 * pi / 2, True)),
        *((0.0, False), (pi, False), (pi / 2 - 1e-6, False), (1.0, False)),
    ],
)
def test_gimbal_lock(y, is_locked):
    """The middle angle decides, at quarter turns, whatever the outer ones are."""
    for x, z in product((0.0, 1.0, pi / 2), repeat=2):
        assert is_gimbal_locked((x, y, z)) is is_locked


@given(locked, triples)
def test_nearest_in_gimbal_lock(euler, present):
    """The same rotation, each angle within half a turn of the present one."""
    found = nearest_euler(euler, present)
    np.testing.assert_allclose(matrix(found), matrix(euler), atol=3e-9)
    assert np.abs(found - present).max() <= pi + 1e-9


@pytest.mark.parametrize('sign', [1, -1])
def test_what_lock_confuses_is_shared_out(sign):
    """At y = +-pi/2 the outer angles take half each of what is to be turned."""
    y = sign * pi / 2
    found = nearest_euler((0.6, y, 0.0), (0.0, y, 0.0))
    np.testing.assert_allclose(found, (0.3, y, -sign * 0.3), atol=1e-15)
    at_a_stop = nearest_euler((0.6, y, 0.0), (0.0, y, 0.0), (-1, -2, -1), (0.1, 2, 1))
    np.testing.assert_allclose(at_a_stop, (0.1, y, -sign * 0.5), atol=1e-15)
    at_the_other = nearest_euler((-0.6, y, 0.0), (0.0, y, 0.0), (-0.1, -2, -1), (1, 2, 1))
    np.testing.assert_allclose(at_the_other, (-0.1, y, sign * 0.5), atol=1e-15)


def test_lock_goes_the_other_way_round_where_limits_ask_for_it():
    """Where half a turn one way is shut, the rest of the turn the other way is found."""
    found = nearest_euler((0, pi / 2, 0.5), (0, pi / 2, 0), (-0.1, -2, -0.05), (6.2, 2, 0.05))
    np.testing.assert_allclose(found, (TURN - 0.55, pi / 2, -0.05), atol=1e-14)


@given(st.one_of(triples, locked), triples)
def test_nearest_is_the_least_of_all(euler, present):
    """No turns added to any form of the rotation, and no exchange in lock, come nearer."""
    found = nearest_euler(euler, present)
    np.testing.assert_allclose(matrix(found), matrix(euler), atol=3e-9)
    forms = [np.array(euler), other_angles(euler)]
    if is_gimbal_locked(euler):
        sign = np.sign(np.sin(euler[1]))
        shifts = np.linspace(-pi, pi, 9)
        forms = [form + np.array((s, 0, sign * s)) for form in forms for s in shifts]
    turns = TURN * np.arange(-8, 9)
    gaps = [np.abs(np.subtract(form, present)[:, None] + turns).min(axis=1) for form in forms]
    assert distance(found, present) <= min(np.linalg.norm(gap) for gap in gaps) + 1e-9


@given(triples, triples, triples, triples)
def test_limits_are_kept_where_any_form_keeps_them(euler, present, one, other):
    """If some form of the rotation is within limits, so is what is found."""
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    every = [
        form + TURN * np.array(k)
        for form in (np.array(euler), other_angles(euler))
        for k in product(range(-8, 9), repeat=3)
    ]
    assume(any(((lower <= form) & (form <= upper)).all() for form in every))
    found = nearest_euler(euler, present, lower, upper)
    assert ((lower - 1e-8 <= found) & (found <= upper + 1e-8)).all()
    np.testing.assert_allclose(matrix(found), matrix(euler), atol=1e-8)


def test_angles_that_are_nearest_already_are_kept_to_the_bit():
    """Nothing is recomputed without need, out of lock and in it."""
    for euler in ((0.1, 0.2, 0.3), (0.3, pi / 2, -0.2)):
        assert nearest_euler(euler, euler).tolist() == list(euler)
