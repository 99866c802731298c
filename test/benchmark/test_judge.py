"""The forward kinematics that verifies answers agrees with SciPy and with our reader."""

import ik_node as ik
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tasks.all_tasks import GROUPS, tasks_of
from tasks.judge import forward, quaternion_matrices, quaternions, rpy_matrix


@pytest.fixture
def rng():
    return np.random.default_rng(0)


TASKS = [task for task in tasks_of(list(GROUPS), 4) if task.size in (0, 10, 6)]


@pytest.mark.parametrize('task', TASKS, ids=lambda task: task.name)
def test_judge_frames_equal_frames_of_our_reader(task, rng):
    for form in task.forms.values():
        m = form.mechanism
        robot = ik.load_robot(m.urdf(), assemble=False)
        q = rng.uniform(-1, 1, (2, len(m.names)))
        poses = forward(m, q)
        for at in range(2):
            values = np.zeros(len(m.names))
            values[[robot.joint_names.index(name) for name in m.names]] = q[at]
            for link in (m.joints[-1].child, m.joints[len(m.joints) // 2].child):
                expected = robot.forward(values, link)
                np.testing.assert_allclose(poses[link][at], expected, atol=1e-12)


def test_judge_rotations_equal_scipy(rng):
    """Euler angles as in URDF and quaternions xyzw, in both directions and at half turns."""
    for rpy in rng.uniform(-3, 3, (50, 3)):
        expected = Rotation.from_euler('xyz', rpy).as_matrix()
        np.testing.assert_allclose(rpy_matrix(tuple(rpy)), expected, atol=1e-14)
    turns = Rotation.random(200, rng=rng)
    half = Rotation.from_rotvec(np.pi * np.eye(3))
    matrices = np.concatenate((turns.as_matrix(), half.as_matrix(), np.eye(3)[None]))
    np.testing.assert_allclose(quaternion_matrices(quaternions(matrices)), matrices, atol=1e-14)
    np.testing.assert_allclose(
        np.abs((quaternions(turns.as_matrix()) * turns.as_quat()).sum(axis=1)), 1.0, atol=1e-14
    )
