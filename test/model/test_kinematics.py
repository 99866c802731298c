"""Pose and Jacobian of a frame in NumPy agree with the oracle."""

from ik_node.model.frame import find_roots
from ik_node.model.kinematics import TreePoses
from ik_node.model.tree import build_tree
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import MECHANISMS

STEP = 1e-6


def test_pose_of_every_frame_equals_oracle():
    """All frames at random values are where 4x4 products put them."""
    for name in ['mixed', 'free_body', 'coupled', 'relative', 'two_arm_box']:
        m, rng = MECHANISMS[name](), np.random.default_rng(4)
        tree = build_tree(find_roots(m.roots))
        q = m.random_q(tree.names, rng)
        poses, there = TreePoses(tree), m.naive(tree.names, q)
        for frame in there.frames:
            np.testing.assert_allclose(poses.pose(q, frame), there.world(frame), atol=1e-13)


@pytest.mark.parametrize('name', ['mixed', 'universals', 'free_body', 'coupled'])
def test_jacobian_is_derivative_of_pose(name):
    """Linear rows by central differences, angular rows by the rotation between two poses."""
    m, rng = MECHANISMS[name](), np.random.default_rng(5)
    tree = build_tree(find_roots(m.roots))
    q = m.random_q(tree.names, rng)
    link = list(m.links.values())[-1]
    found = TreePoses(tree).jacobian(q, link)
    assert found.shape == (6, len(tree.names))
    for at in range(q.size):
        ends = []
        for step in (STEP, -STEP):
            moved = q.copy()
            moved[at] += step
            ends.append(m.naive(tree.names, moved).world(link))
        plus, minus = ends
        linear = (plus[:3, 3] - minus[:3, 3]) / (2 * STEP)
        turn = Rotation.from_matrix(plus[:3, :3] @ minus[:3, :3].T).as_rotvec() / (2 * STEP)
        np.testing.assert_allclose(found[:, at], [*linear, *turn], atol=1e-8)


def test_root_link_has_own_pose_and_zero_jacobian():
    """No joint moves the root link."""
    m = MECHANISMS['arm6']()
    m.links['base'].set_position(0.1, 0.2, 0.3)
    poses = TreePoses(build_tree(find_roots(m.roots)))
    pose = poses.pose(np.zeros(6), m.links['base'])
    assert pose[:3, 3].tolist() == [0.1, 0.2, 0.3]
    pose[0, 3] = 9.0  # a copy: the tree's own is not touched
    assert poses.pose(np.zeros(6), m.links['base'])[0, 3] == 0.1
    assert not poses.jacobian(np.zeros(6), m.links['base']).any()
