"""The grid on which goals are dragged."""

from math import radians

from ik_node.viewer.panels.handle_panel import HandleStyle
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


def pose(place, turn=(0.0, 0.0, 0.0)):
    """Return a pose of a place [m] and a rotation vector [rad]."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    matrix[:3, 3] = place
    return matrix


START = pose((0.013, 0.027, 0.1), (0.3, -0.2, 0.5))


def test_drag_without_grid_is_unchanged():
    """Nothing is changed."""
    dragged = pose((0.2, 0.1, 0.3), (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(HandleStyle().snapped(START, dragged, np.eye(3)), dragged)


def test_grid_drag_in_world_axes_ends_on_multiples():
    """What is not moved stays where it was, off the grid."""
    dragged = START.copy()
    dragged[:2, 3] = (0.0961, -0.0449)
    found = HandleStyle(step=0.05).snapped(START, dragged, np.eye(3))
    np.testing.assert_allclose(found[:3, 3], (0.1, -0.05, 0.1), atol=1e-12)
    dragged[1, 3] = START[1, 3]
    found = HandleStyle(step=0.05).snapped(START, dragged, np.eye(3))
    np.testing.assert_allclose(found[:3, 3], (0.1, 0.027, 0.1), atol=1e-12)
    np.testing.assert_array_equal(found[:3, :3], START[:3, :3])


def test_grid_drag_in_other_axes_moves_by_multiples():
    """Counted from where it was."""
    axes = START[:3, :3]
    dragged = START.copy()
    dragged[:3, 3] += axes @ (0.069, 0.0, -0.12)
    found = HandleStyle(step=0.05).snapped(START, dragged, axes)
    np.testing.assert_allclose(axes.T @ (found - START)[:3, 3], (0.05, 0.0, -0.1), atol=1e-12)


@pytest.mark.parametrize(
    ('angle', 'wanted'), [(40.0, 45.0), (-22.0, -15.0), (172.0, 165.0), (7, 0)]
)
def test_grid_rotation_is_a_multiple_of_the_step(angle, wanted):
    """About the axis that it is turned about."""
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    dragged, expected = START.copy(), START.copy()
    for matrix, degrees in ((dragged, angle), (expected, wanted)):
        turn = Rotation.from_rotvec(radians(degrees) * axis).as_matrix()
        matrix[:3, :3] = turn @ START[:3, :3]
    found = HandleStyle(angle=radians(15.0)).snapped(START, dragged, np.eye(3))
    np.testing.assert_allclose(found, expected, atol=1e-12)
