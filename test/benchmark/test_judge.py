"""The forward kinematics that verifies answers agrees with SciPy and with our reader."""

import ik_node as ik
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tasks.all_tasks import GROUPS, tasks_of
from tasks.judge import forward, loop_errors, quaternion_matrices, quaternions, rpy_matrix
from tasks.mechanism import HINGE, Loop, Mechanism


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


def test_judge_measures_constrained_axes_of_closure_only():
    """A hinge may turn about z and a point in any direction; gaps and tilts count."""
    m = Mechanism('free')
    link = 'base'
    for name, axis in zip('abcdef', 'XYZzyx', strict=True):
        link = m.add(name, link, axis)
    moved = {'z gap': [0, 0, 0.1, 0, 0, 0], 'turned': [0, 0, 0, 0.2, 0, 0]}
    moved['tilted'] = [0, 0, 0, 0, 0, 0.3]
    expected = {
        HINGE: {'z gap': (0.1, 0), 'turned': (0, 0), 'tilted': (0, 0.3)},
        'X Y Z': {'z gap': (0.1, 0), 'turned': (0, 0), 'tilted': (0, 0)},
        'X Y Z EX EY EZ': {'z gap': (0.1, 0), 'turned': (0, 0.2), 'tilted': (0, 0.3)},
    }
    for dof, wanted in expected.items():
        for how, q in moved.items():
            poses = forward(m, np.array([q], dtype=float))
            found = loop_errors(Loop('loop', link, 'base', dof), poses)[0]
            np.testing.assert_allclose(found, wanted[how], atol=1e-12, err_msg=f'{dof}, {how}')
