"""The two grippers of MuJoCo's collection against truth computed by MuJoCo, and solved."""

import json

from ik_node.native import is_compiled
from ik_node.robot import load_robot
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest

FILES = {
    ('robotiq_2f85_mjcf', '2f85.xml'): (3, ['left_driver_joint']),
    ('robotiq_2f85_mjcf', '2f85.kin.xml'): (3, []),
    ('xarm7_hand_mjcf', 'hand.xml'): (1, ['right_driver_joint']),
    ('xarm7_hand_mjcf', 'hand.kin.xml'): (1, []),
}
# Plain Python is a hundred times slower: some of the poses are for coverage.
STRIDE = 1 if is_compiled() else 20


@pytest.fixture(params=FILES, ids=[file for _, file in FILES])
def known(request, shared):
    """Return a truth set, its robot, and mobility and motors of that."""
    name, file = request.param
    truth = json.loads((shared / 'truth' / f'{name}.json').read_text())
    return truth, load_robot(shared / 'models' / name / file), *FILES[request.param]


def test_loops_and_frames_agree_with_mujoco(known):
    """At every pose all loops and couplings are closed and the bodies are where they are."""
    truth, robot, mobility, motors = known
    assert 'equality' in robot.dialect
    assert robot.mobility == mobility
    assert robot.actuated == motors
    assert robot.root.name == 'world'
    assert robot.joint_names == [joint['name'] for joint in truth['joints']]
    for entry in truth['poses']:
        q = np.array(entry['qpos'])
        robot.q = q
        np.testing.assert_array_equal(robot.q, q)  # within the limits
        for closure in robot.closures.values():
            np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)
        for joint in robot.joint_order:
            for coupling in joint.couplings.values():
                master = coupling.master.dof_values[coupling.master.dof[0]]
                assert abs(coupling.value(master) - joint.dof_values[joint.dof[0]]) < 1e-12
        for frame in truth['goal_frames']:
            found = robot.links[frame['body']].matrix_world
            wanted = entry['frames'][frame['name']]['xyz']
            np.testing.assert_allclose(found[:3, 3], wanted, atol=1e-12)


def test_every_pose_agrees_with_mujoco(known):
    """Goals at every pose are reached from the first one."""
    truth, robot, *_ = known
    for frame in truth['goal_frames']:
        robot.add_goal(frame['body'], name=f'goal_{frame["name"]}')
    solver = Solver(robot, SolverOptions())
    home = np.array(truth['poses'][0]['qpos'])
    for entry in truth['poses'][::STRIDE]:
        goals = {
            f'goal_{name}': (frame['xyz'], frame['quat_xyzw'])
            for name, frame in entry['frames'].items()
        }
        assert solver.solve_pose(goals, home).status is Status.CONVERGED
