"""Poses as plain numbers, against SciPy."""

from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.plain_pose import along, plain_poses, quats_of, z_along, z_onto
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


def rotations():
    """Return rotations at random, and half turns, quarter turns and none about every axis."""
    vectors = [
        turn * np.eye(3)[i] for i in range(3) for turn in (0, 1e-9, np.pi / 2, np.pi, -np.pi)
    ]
    near = [np.array(axis) / np.linalg.norm(axis) for axis in [(1, 2, 3), (-1, 0, 1), (0, -2, 1)]]
    vectors += [(np.pi - 1e-9) * axis for axis in near]
    some = Rotation.random(200, random_state=np.random.default_rng(30))
    return Rotation.concatenate([some, Rotation.from_rotvec(vectors)])


def test_quaternions_of_many_rotations_are_exact():
    """To the last digits, w >= 0."""
    given = rotations()
    found = quats_of(given.as_matrix())
    assert (found[:, 3] >= 0.0).all()
    assert (given.inv() * Rotation.from_quat(found)).magnitude().max() < 1e-14
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)


def test_pose_conversion_gives_same_values_for_one_and_many_frames():
    """Positions and quaternions of one pose are those of many."""
    frames = np.tile(np.eye(4), (len(rotations()), 1, 1))
    frames[:, :3, :3] = rotations().as_matrix()
    frames[:, :3, 3] = np.random.default_rng(31).normal(size=(len(frames), 3))
    many = plain_poses(frames)
    for frame, (position, quat) in zip(frames, many, strict=True):
        assert position == pose_from_matrix(frame)[0] == tuple(frame[:3, 3])
        same = min(
            np.abs(np.subtract(quat, pose_from_matrix(frame)[1])).max(),
            np.abs(np.add(quat, pose_from_matrix(frame)[1])).max(),
        )
        assert same < 1e-14
        assert {type(part) for part in (*position, *quat)} == {float}
    assert plain_poses(np.zeros((0, 4, 4))) == []


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_z_axis_is_rotated_onto_another_axis(axis):
    """A right-handed frame in the same place, whose z axis is the other's x, y or z."""
    frame = np.eye(4)
    frame[:3, :3] = Rotation.from_euler('xyz', (0.1, 0.5, 2.0)).as_matrix()
    frame[:3, 3] = (1, 2, 3)
    laid = z_onto(frame, axis)
    np.testing.assert_array_equal(laid[:3, 2], frame[:3, axis])
    np.testing.assert_array_equal(laid[:, 3], frame[:, 3])
    assert np.linalg.det(laid[:3, :3]) == pytest.approx(1.0)


@pytest.mark.parametrize('way', [(0, 0, 1), (0, 0, -2), (1e-9, 0, 0), (3, -1, 2), (0, 5, 1e-12)])
def test_z_axis_points_along_direction(way):
    """A right-handed frame at the place, whichever way it is."""
    place, way = np.array((0.1, 0.2, 0.3)), np.array(way, dtype=float)
    pose = z_along(place, way)
    np.testing.assert_allclose(pose[:3, 2], way / np.linalg.norm(way), atol=1e-15)
    np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-15)
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)
    np.testing.assert_allclose(along(pose, 2.0), place + 2.0 * pose[:3, 2], atol=1e-15)


def test_zero_direction_gives_no_rotation():
    """Between a place and itself there is no direction."""
    pose = z_along(np.ones(3), np.zeros(3))
    np.testing.assert_array_equal(pose[:3, :3], np.eye(3))
