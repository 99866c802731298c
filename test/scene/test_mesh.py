"""Shapes, their triangles and their poses as plain numbers."""

from math import pi

from ik_node.scene import Arrow, Capsule, Cylinder, mesh_of, Sector, Solid, Sphere
from ik_node.scene.skeleton import quats_of
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

TURN = Rotation.from_euler('xyz', (0.4, 1.1, -2.0))
PLACE = (3.0, -2.0, 1.0)
RGBA = (0.2, 0.4, 0.6, 0.8)
ROUND = 200


def common():
    x, y, z, w = TURN.as_quat().tolist()
    return 'n', 'axes', 'o', PLACE, (x, y, z, w), RGBA, 0.0


def own(triangles):
    return TURN.inv().apply((triangles - PLACE).reshape(-1, 3)).reshape(-1, 3, 3)


def volume(triangles):
    """Return the volume that a closed surface encloses, by the divergence theorem."""
    return (
        abs(
            np.einsum(
                'ni,ni->n', triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])
            ).sum()
        )
        / 6
    )


def area(triangles):
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.linalg.norm(normals, axis=1).sum() / 2


@pytest.mark.parametrize(
    ('shape', 'inside', 'low', 'high'),
    [
        (Sphere(*common(), 0.5, ROUND), 4 / 3 * pi * 0.125, (-0.5,) * 3, (0.5,) * 3),
        (Cylinder(*common(), 0.1, 2.0, ROUND), 0.02 * pi, (-0.1, -0.1, -1), (0.1, 0.1, 1)),
        (
            Capsule(*common(), 0.1, 2.0, ROUND),
            0.02 * pi + 4 / 3 * pi * 0.001,
            (-0.1, -0.1, -1.1),
            (0.1, 0.1, 1.1),
        ),
        (
            Solid(*common(), 'box', (0.2, 0.4, 0.6), '', False),
            0.048,
            (-0.1, -0.2, -0.3),
            (0.1, 0.2, 0.3),
        ),
        (
            Arrow(*common(), 1.0, 0.05, ROUND),
            0.7 * pi * 0.05**2 + pi * 0.12**2 * 0.1,
            (-0.12, -0.12, 0.0),
            (0.12, 0.12, 1.0),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_solids_are_closed(shape, inside, low, high):
    triangles, rgba = mesh_of(shape)
    found = own(triangles)
    assert volume(found) == pytest.approx(inside, rel=2e-3)
    np.testing.assert_allclose(found.min(axis=(0, 1)), low, atol=1e-3)
    np.testing.assert_allclose(found.max(axis=(0, 1)), high, atol=1e-3)
    assert rgba.shape == (len(triangles), 4)
    assert (rgba == RGBA).all()


@pytest.mark.parametrize(
    ('lower', 'upper', 'inner'), [(-0.5, 1.2, 0.0), (-pi, pi, 0.3), (2, 3, 0.1)]
)
def test_sector_has_face_and_hand(lower, upper, inner):
    """Its area is that of the sector, all between its angles and radii, in the xy plane."""
    triangles, _ = mesh_of(Sector(*common(), 0.5, inner, lower, upper, None, ROUND))
    found = own(triangles)
    assert area(found) == pytest.approx((upper - lower) / 2 * (0.25 - inner**2), rel=1e-3)
    np.testing.assert_allclose(found[..., 2], 0.0, atol=1e-12)
    radius = np.hypot(found[..., 0], found[..., 1])
    assert inner - 1e-9 <= radius.min() <= radius.max() <= 0.5 + 1e-9
    rim = found[radius > 0.4]
    angles = np.unwrap(np.arctan2(rim[:, 1], rim[:, 0]), period=2 * pi)
    assert np.ptp(np.mod(angles - lower + 1e-9, 2 * pi)) <= upper - lower + 1e-6


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
    given = rotations()
    found = quats_of(given.as_matrix())
    assert (found[:, 3] >= 0.0).all()
    assert (given.inv() * Rotation.from_quat(found)).magnitude().max() < 1e-14
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)
