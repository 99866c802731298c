"""Rotations on plain numbers: round trips near zero, near half a turn and in gimbal lock."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import kernel_calls as call
from support.naive import inverse_left_jacobian

few = settings(max_examples=100, deadline=None)
number = st.floats(-1.0, 1.0).filter(lambda v: v == 0.0 or abs(v) > 1e-9)
direction = (st.tuples(number, number, number).filter(lambda v: np.linalg.norm(v) > 1e-3)).map(
    lambda v: np.array(v) / np.linalg.norm(v)
)
# uniform, near no turn, near half a turn
angle = st.one_of(
    st.floats(0.0, np.pi),
    st.floats(-16.0, -1.0).map(lambda e: 10.0**e),
    st.floats(-16.0, -1.0).map(lambda e: np.pi - 10.0**e),
    st.just(np.pi),
)
euler = st.tuples(*[st.floats(-6.0, 6.0)] * 3).map(np.array)
# ey within a millionth of a quarter turn, and exactly there
locked = st.tuples(
    st.floats(-3.0, 3.0),
    st.one_of(st.just(0.0), st.floats(-1e-6, 1e-6)).map(lambda d: np.pi / 2 + d),
    st.floats(-3.0, 3.0),
).map(np.array)


def matrix_of(angles):
    """Return Rz Ry Rx by SciPy."""
    return Rotation.from_euler('xyz', angles).as_matrix()


def same(found, wanted, atol):
    """Compare two rotations by their matrices."""
    np.testing.assert_allclose(found, wanted, atol=atol)


@few
@given(direction, angle)
def test_log_inverts_exp(axis, turn):
    """The logarithm returns axis times angle; at half a turn up to the sign."""
    vector = axis * turn
    matrix = Rotation.from_rotvec(vector).as_matrix()
    found = call.log_rotation(matrix)
    assert np.linalg.norm(found) <= np.pi + 1e-12
    same(Rotation.from_rotvec(found).as_matrix(), matrix, 1e-14)
    if turn < np.pi - 1e-6:
        np.testing.assert_allclose(found, vector, atol=2e-15, rtol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
def test_log_of_half_a_turn_has_length_pi(axis):
    """For a matrix with trace -1, along its axis."""
    axis = np.array(axis)
    found = call.log_rotation(2.0 * np.outer(axis, axis) - np.eye(3))
    assert np.linalg.norm(found) == pytest.approx(np.pi, abs=1e-14)
    np.testing.assert_allclose(np.abs(found @ axis), np.pi, atol=1e-14)


@few
@given(direction, angle)
def test_matrix_of_quaternion_equals_scipy(axis, turn):
    """The matrix is SciPy's."""
    rotation = Rotation.from_rotvec(axis * turn)
    same(call.quaternion_to_matrix(rotation.as_quat()), rotation.as_matrix(), 1e-15)


@few
@given(
    direction, st.one_of(st.floats(0.0, 3.1), st.floats(-12, -1).map(lambda e: 10.0**e)), direction
)
def test_inverse_left_jacobian_inverts_series(axis, turn, v):
    """The left Jacobian is summed as a series."""
    wanted = inverse_left_jacobian(axis * turn) @ v
    np.testing.assert_allclose(call.inverse_left_jacobian(axis * turn, v), wanted, atol=1e-9)


@few
@given(st.one_of(euler, locked), direction, st.floats(0.0, 3.0))
@example(np.array((0.3, np.pi / 2, -0.7)), np.array((0.0, 0.0, 1.0)), 0.0)
def test_turned_euler_angles_represent_turned_rotation(angles, axis, turn):
    """The result is the rotation times exp(w), also in gimbal lock."""
    found = call.turn_euler(angles, axis * turn)
    wanted = matrix_of(angles) @ Rotation.from_rotvec(axis * turn).as_matrix()
    same(matrix_of(found), wanted, 1e-9)


@few
@given(euler, direction, st.floats(0.0, 3.0))
def test_turned_euler_angles_are_the_nearest_of_both_forms(angles, axis, turn):
    """The other form of a rotation has ex + pi, pi - ey and ez + pi; whole turns do not count."""

    def way(form):
        change = form - angles
        return np.abs(change - 2.0 * np.pi * np.round(change / (2.0 * np.pi))).sum()

    found = call.turn_euler(angles, axis * turn)
    other = found * (1.0, -1.0, 1.0) + np.pi
    assert np.abs(found - angles).sum() <= min(way(found), way(other)) + 1e-9


@few
@given(locked)
def test_zero_turn_in_gimbal_lock_keeps_euler_angles(angles):
    """Many triples represent the rotation; the present one is kept."""
    found = call.turn_euler(angles, np.zeros(3))
    same(matrix_of(found), matrix_of(angles), 1e-9)
    assert abs(found[1] - angles[1]) < 1e-7
    if abs(np.cos(angles[1])) < 1e-10:
        np.testing.assert_allclose(found, angles, atol=1e-6)


@few
@given(st.one_of(euler, locked))
def test_principal_euler_angles_are_same_rotation_in_range(angles):
    """Within half a turn, and a quarter turn for the middle angle."""
    found = call.principal_euler(angles)
    same(matrix_of(found), matrix_of(angles), 1e-12)
    assert abs(found[1]) <= np.pi / 2 + 1e-12
    assert np.abs(found).max() <= np.pi + 1e-12


@few
@given(euler, euler)
def test_euler_difference_rotates_first_triple_onto_second(start, end):
    """Turning by the difference ends at the second triple's rotation."""
    turn = call.euler_difference(start, end)
    same(matrix_of(start) @ Rotation.from_rotvec(turn).as_matrix(), matrix_of(end), 1e-12)


@few
@given(st.floats(-50, 50), st.floats(-50, 50))
def test_near_turn_is_within_half_a_turn_of_reference(angle, reference):
    """The angle modulo whole turns, within half a turn of the reference."""
    found = call.near_turn(angle, reference)
    assert abs(found - reference) <= np.pi + 1e-9
    turns = (found - angle) / (2 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-12)
