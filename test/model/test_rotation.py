"""Rotations: group axioms and round trips, for random, zero and half turns."""

from math import cos, pi, sin

from hypothesis import given
from hypothesis import strategies as st
from ik_node.model.rotation import (
    matrix_to_euler,
    matrix_to_quat,
    pose_inverse,
    pose_matrix,
    quat_between,
    quat_conjugate,
    quat_from_euler,
    quat_multiply,
    quat_to_matrix,
    quat_to_rotation_vector,
    unit,
)
import numpy as np
import pytest

numbers = st.floats(-1.0, 1.0, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers).filter(lambda v: max(map(abs, v)) > 1e-3)
angles = st.one_of(
    st.floats(-pi, pi),
    st.floats(-1e-7, 1e-7),
    st.floats(-1e-7, 1e-7).map(lambda small: pi + small),
)


@st.composite
def quats(draw):
    """Draw unit quaternions (xyzw)."""
    axis, angle = unit(draw(vectors)), draw(angles)
    return np.append(sin(0.5 * angle) * axis, cos(0.5 * angle))


@given(quats(), quats(), quats())
def test_product_is_associative_and_equals_matrix_product(a, b, c):
    """(a b) c = a (b c), and the matrix of a product is the product of the matrices."""
    left = quat_multiply(quat_multiply(a, b), c)
    np.testing.assert_allclose(left, quat_multiply(a, quat_multiply(b, c)), atol=1e-14)
    product = quat_to_matrix(a) @ quat_to_matrix(b)
    np.testing.assert_allclose(quat_to_matrix(quat_multiply(a, b)), product, atol=1e-14)


@given(quats())
def test_conjugate_is_inverse(quat):
    """The matrix of the conjugate is the transpose."""
    product = quat_multiply(quat, quat_conjugate(quat))
    np.testing.assert_allclose(product, (0, 0, 0, 1), atol=1e-14)
    transposed = quat_to_matrix(quat).T
    np.testing.assert_allclose(quat_to_matrix(quat_conjugate(quat)), transposed, atol=1e-15)


@given(quats())
def test_matrix_round_trip_returns_same_rotation(quat):
    """Quaternion to matrix to quaternion gives the same rotation, with w >= 0."""
    back = matrix_to_quat(quat_to_matrix(quat))
    assert back[3] >= 0.0
    np.testing.assert_allclose(back * np.sign(back @ quat), quat, atol=1e-14)


@given(vectors, st.one_of(st.floats(0, pi), st.floats(0, 1e-7), st.floats(pi - 1e-7, pi)))
def test_rotation_vector_is_axis_times_angle(axis, angle):
    """Also near zero and near half a turn."""
    axis = unit(axis)
    quat = np.append(sin(0.5 * angle) * axis, cos(0.5 * angle))
    np.testing.assert_allclose(quat_to_rotation_vector(quat), angle * axis, atol=1e-14)
    np.testing.assert_allclose(quat_to_rotation_vector(-quat)[:3], angle * axis, atol=1e-14)


@given(angles, angles, angles)
def test_euler_rotation_equals_rz_ry_rx(x, y, z):
    """The quaternion of (x, y, z) is that of Rz(z) Ry(y) Rx(x), built from plain matrices."""
    rx = np.array(((1, 0, 0), (0, cos(x), -sin(x)), (0, sin(x), cos(x))))
    ry = np.array(((cos(y), 0, sin(y)), (0, 1, 0), (-sin(y), 0, cos(y))))
    rz = np.array(((cos(z), -sin(z), 0), (sin(z), cos(z), 0), (0, 0, 1)))
    wanted = rz @ ry @ rx
    np.testing.assert_allclose(quat_to_matrix(quat_from_euler(x, y, z)), wanted, atol=1e-14)


@given(angles, st.one_of(angles, st.sampled_from((pi / 2, -pi / 2))), angles)
def test_euler_round_trip_returns_same_matrix(x, y, z):
    """Also with y at half pi."""
    matrix = quat_to_matrix(quat_from_euler(x, y, z))
    back = quat_to_matrix(quat_from_euler(*matrix_to_euler(matrix)))
    np.testing.assert_allclose(back, matrix, atol=1e-8)


@given(vectors, vectors)
def test_rotation_between_directions_is_smallest(start, end):
    """The smallest rotation takes start onto end; its angle is theirs."""
    quat = quat_between(start, end)
    turned = quat_to_matrix(quat) @ unit(start)
    np.testing.assert_allclose(turned, unit(end), atol=1e-14)


@pytest.mark.parametrize('axis', [(0, 0, 1), (1, 2, -3), (-1, 1e-9, 0)])
def test_rotation_between_opposite_directions_is_half_a_turn(axis):
    """Half a turn, about an axis at right angles to the direction."""
    quat = quat_between(axis, -np.array(axis, dtype=float))
    np.testing.assert_allclose(quat_to_matrix(quat) @ unit(axis), -unit(axis), atol=1e-14)
    assert quat[3] == 0.0


@pytest.mark.parametrize('size', [1e-3, 2.7e-8, 1e-14])
def test_rotation_between_nearly_opposite_directions_is_exact(size):
    """The rotation is exact however near to half a turn."""
    end = unit((0.0, size, -1.0))
    turned = quat_to_matrix(quat_between((0.0, 0.0, 1.0), end)) @ (0.0, 0.0, 1.0)
    assert turned[1] == pytest.approx(end[1], rel=1e-7, abs=1e-15)
    np.testing.assert_allclose(turned, end, atol=1e-15)


@given(quats(), st.tuples(numbers, numbers, numbers))
def test_pose_times_inverse_is_identity(quat, position):
    """A pose times its inverse is the identity."""
    pose = pose_matrix(position, quat)
    np.testing.assert_allclose(pose @ pose_inverse(pose), np.eye(4), atol=1e-14)


@pytest.mark.parametrize('scale', [1e-300, 1.0, 1e300])
def test_unit_neither_overflows_nor_underflows(scale):
    """A vector of any magnitude has a direction."""
    np.testing.assert_allclose(unit((3 * scale, 0, 4 * scale)), (0.6, 0, 0.8), atol=1e-15)
