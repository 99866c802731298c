"""Rotations are those of SciPy, for random, zero and half turns."""

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
    rotation_vector_to_quat,
    unit,
)
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

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


@given(quats(), quats())
def test_conversions_and_products_equal_those_of_scipy(a, b):
    """Matrices, rotation vectors, products and inverses of quaternions."""
    first, second = Rotation.from_quat(a), Rotation.from_quat(b)
    matrix = quat_to_matrix(a)
    np.testing.assert_allclose(matrix, first.as_matrix(), atol=1e-14)
    back = matrix_to_quat(matrix)
    assert back[3] >= 0.0
    np.testing.assert_allclose(back * np.sign(back @ a), a, atol=1e-14)
    product = quat_to_matrix(quat_multiply(a, b))
    np.testing.assert_allclose(product, (first * second).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(quat_multiply(a, quat_conjugate(a)), (0, 0, 0, 1), atol=1e-14)
    turned = quat_to_matrix(rotation_vector_to_quat(quat_to_rotation_vector(a)))
    np.testing.assert_allclose(turned, matrix, atol=1e-14)
    assert np.linalg.norm(quat_to_rotation_vector(a)) == pytest.approx(first.magnitude())


@given(angles, st.one_of(angles, st.sampled_from((pi / 2, -pi / 2))), angles)
def test_euler_angles_are_rz_ry_rx(x, y, z):
    """There and back, also with y at half pi."""
    matrix = Rotation.from_euler('xyz', (x, y, z)).as_matrix()
    np.testing.assert_allclose(quat_to_matrix(quat_from_euler(x, y, z)), matrix, atol=1e-14)
    back = quat_to_matrix(quat_from_euler(*matrix_to_euler(matrix)))
    np.testing.assert_allclose(back, matrix, atol=1e-8)


@given(vectors, vectors)
def test_rotation_between_directions_takes_one_onto_the_other(start, end):
    """Also a direction that is nearly or wholly opposite."""
    opposite = -np.array(start)
    for goal in (end, opposite, opposite + 1e-8 * np.array(end)):
        turned = quat_to_matrix(quat_between(start, goal)) @ unit(start)
        np.testing.assert_allclose(turned, unit(goal), atol=1e-14)


@given(quats(), st.tuples(numbers, numbers, numbers))
def test_pose_times_inverse_is_identity(quat, position):
    """A pose times its inverse is the identity."""
    pose = pose_matrix(position, quat)
    np.testing.assert_allclose(pose @ pose_inverse(pose), np.eye(4), atol=1e-14)


@pytest.mark.parametrize('scale', [1e-300, 1.0, 1e300])
def test_unit_neither_overflows_nor_underflows(scale):
    """A vector of any magnitude has a direction."""
    np.testing.assert_allclose(unit((3 * scale, 0, 4 * scale)), (0.6, 0, 0.8), atol=1e-15)
