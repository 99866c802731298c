"""Triangles of shapes: closed surfaces of the right size, where the shape is."""

from math import pi

from ik_node.scene import (
    Arrow,
    AXIS_COLOURS,
    Capsule,
    Cylinder,
    mesh_of,
    Sector,
    Segment,
    Sphere,
    Text,
    Triad,
)
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

TURN = Rotation.from_euler('xyz', (0.4, 1.1, -2.0))
PLACE = (3.0, -2.0, 1.0)
RGBA = (0.2, 0.4, 0.6, 0.8)
ROUND = 200


def common():
    """Return what every shape begins with."""
    x, y, z, w = TURN.as_quat().tolist()
    return 'n', 'axes', 'o', PLACE, (x, y, z, w), RGBA, 0.0


def own(triangles):
    """Return triangles in the shape's own frame."""
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
    """Return the area of a surface."""
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
            Arrow(*common(), 1.0, 0.05, ROUND),
            0.7 * pi * 0.05**2 + pi * 0.12**2 * 0.1,
            (-0.12, -0.12, 0.0),
            (0.12, 0.12, 1.0),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_solids_are_closed(shape, inside, low, high):
    """Volume and extent are those of the solid, in its own frame."""
    triangles, rgba = mesh_of(shape)
    found = own(triangles)
    assert volume(found) == pytest.approx(inside, rel=2e-3)
    np.testing.assert_allclose(found.min(axis=(0, 1)), low, atol=1e-3)
    np.testing.assert_allclose(found.max(axis=(0, 1)), high, atol=1e-3)
    assert rgba.shape == (len(triangles), 4)
    assert (rgba == RGBA).all()


def test_a_segment_is_a_thin_tube():
    """As long and as wide as it says."""
    found = own(mesh_of(Segment(*common(), 2.0, 0.1))[0])
    np.testing.assert_allclose(found.min(axis=(0, 1))[[0, 2]], (-0.05, -1), atol=1e-12)
    np.testing.assert_allclose(found.max(axis=(0, 1))[[0, 2]], (0.05, 1), atol=1e-12)


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


def test_sector_hand_is_opaque_and_darker_than_face():
    """Two opaque triangles from the middle to the rim, darker than the face."""
    triangles, rgba = mesh_of(Sector(*common(), 0.5, 0.0, -1.0, 1.0, 0.3, ROUND))
    solid = rgba[:, 3] == 1.0
    assert solid.sum() == 2
    assert (rgba[solid, :3] < np.array(RGBA[:3])).all()
    tips = own(triangles[solid]).reshape(-1, 3)
    tip = tips[np.linalg.norm(tips, axis=1) > 0.25].mean(axis=0)
    assert np.arctan2(tip[1], tip[0]) == pytest.approx(0.3, abs=0.05)


def test_triad_has_three_colours():
    """Red along x, green along y, blue along z; the opacity is the shape's."""
    triangles, rgba = mesh_of(Triad(*common(), 0.4, 0.02))
    for axis, colour in enumerate(AXIS_COLOURS):
        mine = own(triangles[(rgba == (*colour[:3], RGBA[3])).all(axis=1)])
        assert mine[..., axis].max() == pytest.approx(0.4)
        assert mine[..., axis].min() == pytest.approx(0.0)
        others = np.delete(mine, axis, axis=2)
        assert np.abs(others).max() <= 0.0100001


def test_text_shape_has_no_triangles():
    """Whoever draws it knows letters."""
    triangles, rgba = mesh_of(Text(*common(), 'text', 0.1))
    assert triangles.shape == (0, 3, 3)
    assert rgba.shape == (0, 4)


@pytest.mark.parametrize('segments', [3, 4, 5, 24])
def test_shapes_have_the_given_number_of_sides(segments):
    """A cylinder of n sides has n different directions around it, a disc n corners."""
    found = own(mesh_of(Cylinder(*common(), 0.1, 1.0, segments))[0]).reshape(-1, 3)
    rim = found[np.hypot(found[:, 0], found[:, 1]) > 0.05]
    assert len({tuple(point) for point in np.round(rim[:, :2], 9) + 0.0}) == segments
    assert len(mesh_of(Sector(*common(), 0.5, 0.0, -pi, pi, None, segments))[0]) == segments
