"""The judge, against SciPy's rotations and our own reading of the same mechanisms."""

import ik_node as ik
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tasks.all_tasks import GROUPS, tasks_of
from tasks.judge import (
    angles_between,
    errors,
    forward,
    limit_excess,
    loop_errors,
    quaternion_matrices,
    quaternions,
    rpy_matrix,
)
from tasks.mechanism import HINGE, Loop, Mechanism


@pytest.fixture
def rng():
    """Return numbers that are the same in every run."""
    return np.random.default_rng(0)


TASKS = [task for task in tasks_of(list(GROUPS), 4) if task.size not in (300, 1000, 60)]


@pytest.mark.parametrize('task', TASKS, ids=lambda task: task.name)
def test_frames_are_where_our_reader_has_them(task, rng):
    """Every link of every mechanism, at values that close nothing."""
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


def test_rotations_are_those_of_scipy(rng):
    """Angles in the order of URDF, quaternions xyzw, both ways and for half turns."""
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


def test_a_small_angle_is_not_lost_in_rounding():
    """1e-9 rad is told from 2e-9 rad, and nearly half a turn is not folded."""
    for angle in (1e-9, 2e-9, 1e-4, 3.0):
        turned = Rotation.from_rotvec((0.0, angle, 0.0)).as_matrix()
        assert angles_between(turned[None], np.eye(3)[None])[0] == pytest.approx(angle, rel=1e-6)


def test_a_loop_is_judged_by_what_it_asks():
    """A hinge may turn about its z, a point in any way; a gap or a tilt counts."""
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


def test_a_wrong_answer_is_found_out():
    """Each joint moved by 1e-5 makes an error of more than 1e-7 somewhere."""
    for task in TASKS:
        form = task.main
        for column in range(len(form.mechanism.names)):
            # A driven joint may still be right when it is moved, a neck is never asked about.
            if column in form.driven_columns or 'neck' in form.mechanism.names[column]:
                continue
            q = form.witness.copy()
            q[:, column] += 1e-5
            assert (errors(form.mechanism, form.goals, form.targets, q).max(axis=1) > 1e-7).all()


def test_limits_are_looked_at():
    """The farthest outside counts; without limits nothing is outside."""
    m = Mechanism('two')
    m.add('bounded', 'base', 'z', limits=(-1.0, 2.0))
    m.add('free', 'bounded_link', 'z')
    q = np.array(((-1.5, 99.0), (2.0, 0.0), (2.25, 0.0)))
    np.testing.assert_allclose(limit_excess(m, q), (0.5, 0.0, 0.25))
