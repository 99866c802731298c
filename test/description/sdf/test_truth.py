"""Drake's four-bar as its file is, against truth computed by other means."""

import json

import ik_node as ik
from ik_node.description.read import read_description
from ik_node.model.rotation import matrix_to_quat, pose_matrix
import numpy as np
import pytest

SDF = 'models/drake_four_bar/four_bar.sdf'


@pytest.fixture
def truth(shared):
    """Return the truth set."""
    return json.loads((shared / 'truth/drake_four_bar.json').read_text())


def pose(entry):
    """Return the 4x4 pose of a truth entry."""
    return pose_matrix(entry['xyz'], entry['quat_xyzw'])


def test_frames_and_loop_agree_with_the_published_ones(shared, truth):
    """Joints, motors, frames and loop gap at every pose."""
    description = read_description(shared / SDF)
    assert [joint.name for joint in description.joint_order] == truth['joints']
    assert description.actuated == truth['actuated']
    (closure,) = description.closures.values()
    for entry in truth['poses']:
        for name, value in zip(truth['joints'], entry['q'], strict=True):
            description.joints[name].set_dof_values(value)
        np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-9)
        for frame in truth['goal_frames']:
            found = description.links[frame['link']].matrix_world @ pose(frame)
            np.testing.assert_allclose(found, pose(entry['frames'][frame['name']]), atol=1e-9)


def test_every_pose_is_found_from_home(shared, truth):
    """The crank's and the coupler's poses, at 1e-6."""
    robot = ik.load_robot(shared / SDF)
    assert robot.mobility == 1
    solver = ik.Solver(
        robot,
        ik.SolverOptions(translation_converge_threshold=1e-6, rotation_converge_threshold=1e-6),
    )
    home = truth['poses'][0]['q']
    for entry in truth['poses']:
        robot_q = dict(zip(truth['joints'], entry['q'], strict=True))
        matrix = robot.forward([robot_q[name] for name in robot.joint_names], 'B')
        goal = {'B': (matrix[:3, 3], matrix_to_quat(matrix))}
        solution = solver.solve_pose(goal, q0=home)
        assert solution.status.name == 'CONVERGED'
        assert solution.goal_errors['B'].position < 1e-6


@pytest.mark.parametrize('name', ['four_bar_loop', 'four_bar_weld'])
def test_files_with_hyphens_in_comments_are_read(shared, name):
    """XML forbids them there; Drake and Gazebo read such files, and so does this."""
    description = read_description(shared / f'models/drake_four_bar/{name}.sdf')
    assert len(description.closures) == 1
