"""A pose may have any of the documented forms, and every other form gets our error."""

from hypothesis import given
from hypothesis import strategies as st
from ik_node.errors import IkError, ShapeError
from ik_node.model.frame import Frame
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.rotation import pose_matrix
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

try:
    from scipy.spatial.transform import RigidTransform
except ImportError:  # scipy before 1.16
    RigidTransform = None

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.booleans()
LEAVES = st.none() | NUMBERS | st.text(max_size=3) | st.binary(max_size=3) | st.complex_numbers()
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.fixture
def poses():
    """Return positions, quaternions and matrices of four poses."""
    positions = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 3))
    quats = Rotation.random(4, random_state=0).as_quat()
    quats *= np.where(quats[:, 3:] < 0.0, -1.0, 1.0)
    turns = Rotation.from_quat(quats)
    matrices = np.array([pose_matrix(p, q) for p, q in zip(positions, quats, strict=True)])
    return positions, quats, matrices, turns


def forms(positions, quats, matrices, turns):
    """Return the same poses in every form."""
    found = [(positions, quats), [positions, quats], (positions, turns), matrices]
    found += [(positions.tolist(), quats.tolist()), matrices.tolist()]
    return found if RigidTransform is None else [*found, RigidTransform.from_matrix(matrices)]


def test_all_forms_are_the_same_pose(poses):
    """One pose, and many."""
    positions, quats, matrices, turns = poses
    for given_form in forms(positions, quats, matrices, turns):
        places, found = position_and_quat('pose', given_form, many=True)
        np.testing.assert_allclose(places, positions, atol=1e-15)
        np.testing.assert_allclose(found, quats, atol=1e-14)
    for given_form in forms(positions[0], quats[0], matrices[0], turns[0]):
        place, found = position_and_quat('pose', given_form)
        np.testing.assert_allclose(place, positions[0], atol=1e-15)
        np.testing.assert_allclose(found, quats[0], atol=1e-14)


def test_position_alone_is_enough_only_without_orientation():
    """The error says what is missing."""
    place, quat = position_and_quat('p', (1, 2, 3), turns=False)
    assert (place.tolist(), quat.tolist()) == ([1, 2, 3], [0, 0, 0, 1])
    with pytest.raises(ShapeError, match=r'got a position alone, .* makes one') as refused:
        position_and_quat('p', (1, 2, 3))
    assert "robot.add_goal(link, dof='X Y Z')" in str(refused.value)
    places, quats = position_and_quat('p', np.ones((2, 3)), turns=False, many=True)
    assert (places.shape, quats.tolist()) == ((2, 3), [[0, 0, 0, 1]] * 2)
    with pytest.raises(ShapeError, match='position alone'):
        position_and_quat('p', np.ones((2, 3)), many=True)


@pytest.mark.parametrize(
    'matrix',
    [
        1.1 * np.eye(4),
        np.diag((1.0, 1.0, -1.0, 1.0)),
        np.eye(4) + 0.01 * np.eye(4)[::-1],
        np.full((4, 4), np.nan),
    ],
)
def test_matrix_that_is_no_rotation_is_refused(matrix):
    """Scaled, mirrored, sheared, NaN; in many poses the error names the row."""
    with pytest.raises(ShapeError, match=r'pose: expected a matrix \(4, 4\) of a rotation'):
        position_and_quat('pose', matrix)
    with pytest.raises(ShapeError, match=r'poses in row 1: expected a matrix'):
        position_and_quat('poses', [np.eye(4), matrix], many=True)


@given(ANYTHING)
def test_set_pose_raises_only_ik_error_and_keeps_pose(pose):
    """A refused pose leaves the frame where it is."""
    frame = Frame('hand')
    frame.set_pose(((1, 2, 3), (0, 0, 0.6, 0.8)))
    before = frame.matrix.copy()
    try:
        frame.set_pose(pose)
    except IkError:
        np.testing.assert_array_equal(frame.matrix, before)
