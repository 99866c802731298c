"""What is seen under the pointer."""

from types import SimpleNamespace

from ik_node.viewer.stage.view_ray import ViewRay
import numpy as np
import pytest

LOW = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
HIGH = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]


def seen(eye, along, triangles=(LOW, HIGH)):
    """Return what is hit by a line of sight."""
    event = SimpleNamespace(ray_origin=eye, ray_direction=along)
    return ViewRay.of(event).hit(np.array(triangles))


def test_ray_hits_the_nearest_triangle():
    """From either side of the triangles, and aslant."""
    assert seen((0.2, 0.3, 5.0), (0.0, 0.0, -1.0)) == pytest.approx((0.2, 0.3, 1.0))
    assert seen((0.2, 0.3, -5.0), (0.0, 0.0, 1.0)) == pytest.approx((0.2, 0.3, 0.0))
    along = np.array((0.1, 0.1, -1.0)) / np.sqrt(1.02)
    assert seen((0.1, 0.1, 2.0), along) == pytest.approx((0.2, 0.2, 1.0))


@pytest.mark.parametrize(
    ('eye', 'along'),
    [
        ((0.8, 0.8, 5.0), (0.0, 0.0, -1.0)),
        ((-0.1, 0.2, 5.0), (0.0, 0.0, -1.0)),
        ((0.2, 0.3, 5.0), (0.0, 0.0, 1.0)),
        ((0.2, 0.3, 0.0), (1.0, 0.0, 0.0)),
    ],
)
def test_ray_beside_or_along_triangles_hits_nothing(eye, along):
    """Beside them, away from them, and along them nothing is hit."""
    assert seen(eye, along) is None


def test_ray_without_triangles_hits_nothing():
    """No triangles, no hit."""
    assert seen((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), np.zeros((0, 3, 3))) is None
