"""Shapes: where they begin and end."""

from ik_node.scene import Arrow, Sector, Segment
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

QUAT = Rotation.from_euler('xyz', (0.3, -0.8, 1.9))
PLACE = (0.5, -0.4, 0.3)


def common():
    """Return what every shape begins with."""
    x, y, z, w = QUAT.as_quat().tolist()
    return 'layer/name', 'layer', 'name', PLACE, (x, y, z, w), (1.0, 0.0, 0.0, 1.0), 0.0


def placed(point):
    """Return a point of the shape's frame in the root frame."""
    return QUAT.apply(point) + PLACE


def test_a_segment_has_its_middle_at_its_origin():
    """It goes along z from -length / 2 to length / 2."""
    segment = Segment(*common(), length=0.6, width=0.01)
    np.testing.assert_allclose(segment.start, placed((0, 0, -0.3)), atol=1e-15)
    np.testing.assert_allclose(segment.end, placed((0, 0, 0.3)), atol=1e-15)


def test_an_arrow_begins_at_its_origin():
    """Its tip is a length away along z, its head a part of it and wider."""
    arrow = Arrow(*common(), length=0.6, radius=0.01, segments=8)
    np.testing.assert_allclose(arrow.end, placed((0, 0, 0.6)), atol=1e-15)
    assert arrow.head_length == pytest.approx(0.18)
    assert arrow.head_radius == pytest.approx(0.024)


@pytest.mark.parametrize('value', [-2.0, 0.0, 0.7])
def test_hand_of_a_sector_ends_on_its_rim(value):
    """It points to its value, counted from x about z."""
    sector = Sector(*common(), 0.2, 0.0, -2.5, 1.0, value, 24)
    point = 0.2 * np.array((np.cos(value), np.sin(value), 0.0))
    np.testing.assert_allclose(sector.hand, placed(point), atol=1e-15)
    assert Sector(*common(), 0.2, 0.0, -2.5, 1.0, None, 24).hand is None
