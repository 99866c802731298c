"""Real models whose loops are declared inside: the same as annotated by hand, and solved."""

import json

import ik_node as ik
from ik_node.description.read import read_description
import numpy as np
import pytest

# truth set -> what is recognised, and the joints with motors that the file names
DECLARED = {
    'urdfplus_four_bar': ('URDF + URDF+', ['joint1']),
    'closed_loop_2bt': ('URDF + gazebo joint', []),
}


@pytest.fixture(params=DECLARED)
def truth(request, shared):
    """Return a truth set."""
    return json.loads((shared / 'truth' / f'{request.param}.json').read_text())


def without_sidecar(shared, truth):
    """Return the text of a model, beside which no annotations are looked for."""
    return (shared / truth['model']).read_text()


def test_the_loops_are_those_annotated_by_hand(shared, truth):
    """Both have as many rows, and all of them vanish at every true pose."""
    annotated = read_description(shared / truth['model'], closures=shared / truth['closures_yaml'])
    declared = read_description(without_sidecar(shared, truth))
    assert (declared.dialect, declared.actuated) == DECLARED[truth['name']]
    rows = [sorted(each.dof for each in d.closures.values()) for d in (annotated, declared)]
    assert rows[0] == rows[1]
    for entry in truth['poses']:
        for description in (annotated, declared):
            for name, value in zip(truth['joints'], entry['q'], strict=True):
                description.joints[name].set_dof_values(value)
            for closure in description.closures.values():
                np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-9)
    for name in truth['joints']:  # and off the loops they say the same gap
        for description in (annotated, declared):
            description.joints[name].set_dof_values(0.3)
    gaps = [
        [np.linalg.norm(c.get_residual()) for c in d.closures.values()]
        for d in (annotated, declared)
    ]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-9)


def test_true_poses_are_reached(shared, truth):
    """From home, all of them, to a micrometre and a microradian."""
    robot = ik.load_robot(without_sidecar(shared, truth))
    solver = ik.Solver(robot)
    home = dict(zip(truth['joints'], truth['poses'][0]['q'], strict=True))
    start = np.array([home[name] for name in robot.joint_names])
    base = robot.forward(start, truth['base_link'])
    for entry in truth['poses']:
        goals = {}
        for frame in truth['goal_frames']:
            assert not np.any(frame['xyz'])  # the goal frames are the links themselves
            wanted = entry['frames'][frame['name']]
            goals[frame['link']] = (
                base[:3, :3] @ wanted['xyz'] + base[:3, 3],
                wanted['quat_xyzw'],
            )
        solution = solver.solve_pose(goals, start)
        assert solution.status == ik.Status.CONVERGED
        for link, (position, _) in goals.items():
            found = robot.forward(solution.q, link)
            np.testing.assert_allclose(found[:3, 3], position, atol=1e-6)


def test_mobility_of_declared_loops_is_as_published(shared, truth):
    """One motion is left, away from the square where the parallelogram may fold."""
    robot = ik.load_robot(without_sidecar(shared, truth))
    middle = truth['poses'][len(truth['poses']) // 2]
    values = dict(zip(truth['joints'], middle['q'], strict=True))
    robot.q = [values[name] for name in robot.joint_names]
    assert robot.mobility == middle['dof'] == 1
