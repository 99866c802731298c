"""Poses on the way between two."""

from ik_node.kernels.continue_to import pose_between
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp


@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.0), (1e-9, 0.0, 0.0), (0.4, -1.0, 2.0)])
@pytest.mark.parametrize('sign', [1.0, -1.0])
@pytest.mark.parametrize('share', [0.0, 0.25, 1.0])
def test_pose_is_on_line_and_shorter_arc(turn, sign, share):
    """A quaternion and its negative are one orientation."""
    first = Rotation.from_rotvec((0.3, 0.2, -0.5))
    both = Rotation.concatenate([first, first * Rotation.from_rotvec(turn)])
    ends = np.array([[1.0, 2.0, 3.0], [1.5, 0.0, 3.0]])
    quats = both.as_quat() * np.array([[1.0], [sign]])
    position, quat = np.zeros(3), np.zeros(4)
    pose_between(ends[0], quats[0], ends[1], quats[1], share, position, quat)
    assert position == pytest.approx((1.0 - share) * ends[0] + share * ends[1], abs=1e-15)
    assert np.linalg.norm(quat) == pytest.approx(1.0, abs=1e-15)
    off = Rotation.from_quat(quat).inv() * Slerp([0.0, 1.0], both)(share)
    assert off.magnitude() < 1e-12
