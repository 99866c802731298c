"""Residual rows of constraints that no solve is needed for, compared with plain geometry."""

from ik_node.model.residual import residual_rows
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

EVERY = np.ones(6, dtype=bool)


def pose(position, turn=(0.0, 0.0, 0.0)):
    """Return a 4x4 pose of a position [m] and a rotation vector [rad]."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), position
    return matrix


@pytest.mark.parametrize('target', [(0.4, -0.3, 1.0), (0.03, 0.04, -2.0), (3.0, 4.0, 0.5)])
def test_look_at_rows_are_the_angle_towards_the_target(target):
    """Their norm is the angle of the z axis to the target; they point aside as the target does."""
    frame = pose((0.1, 0.2, 0.3), (0.2, -0.4, 0.6))
    way = np.asarray(target) - frame[:3, 3]
    rows = residual_rows('look_at', 'link', EVERY, 0.0, frame, pose(target))
    angle = np.arccos(way @ frame[:3, 2] / np.linalg.norm(way))
    assert np.linalg.norm(rows) == pytest.approx(angle)
    aside = frame[:3, :2].T @ way
    assert rows / angle == pytest.approx(aside / np.linalg.norm(aside))


@pytest.mark.parametrize(('height', 'rows'), [(1.0, (0.0, 0.0)), (-1.0, (np.pi, 0.0))])
def test_look_at_rows_straight_ahead_and_behind(height, rows):
    """A target behind is half a turn about a fixed axis away."""
    found = residual_rows('look_at', 'link', EVERY, 0.0, pose((0, 0, 0)), pose((0, 0, height)))
    assert found == pytest.approx(rows)
