"""The adapters to other programs: their documented calls give what those programs expect."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import ik_node as ik
from ik_node.description.files import description_path
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / 'examples' / 'adapters'


def adapter(name):
    """Import an adapter from its file."""
    spec = spec_from_file_location(name, FOLDER / f'{name}.py')
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lerobot_kinematics_goes_forth_and_back_in_degrees():
    """A gripper's value at the end is kept, and a joint outside its limits does not jump."""
    path = str(description_path('arm6.urdf'))
    made = adapter('lerobot_kinematics').RobotKinematics(path, 'tool_link')
    home = np.array((10.0, 20.0, -30.0, 15.0, 25.0, -40.0))
    pose = made.forward_kinematics(home)
    assert pose.shape == (4, 4)
    near = np.append(home + 3.0, 55.0)
    found = made.inverse_kinematics(near, pose, orientation_weight=1.0)
    assert found[6] == 55.0
    np.testing.assert_allclose(made.forward_kinematics(found), pose, atol=1e-5)
    position = made.inverse_kinematics(near, pose, 1.0, 0.0)
    assert np.abs(made.forward_kinematics(position)[:3, 3] - pose[:3, 3]).max() < 1e-5
    outside = home.copy()
    outside[1] = np.rad2deg(made.robot.upper[1]) + 3.0
    still = made.inverse_kinematics(outside, made.forward_kinematics(outside))
    assert np.abs(still - outside).max() < np.rad2deg(0.01)


def test_two_arms_follow_both_wrists():
    """Results are the joints of both arms; the legs stay, and gravity needs torques."""
    urdf = description_path('humanoid.urdf')
    robot = ik.load_robot(urdf)
    links = [name for name in robot.links if 'hand' in name][:2]
    module = adapter('xr_teleoperate_arm_ik')
    arms = [name for name in robot.joint_names if any(w in name for w in ('shoulder', 'elbow'))]
    arm_ik = module.ArmIK(urdf, links, offset=(0.0, 0.0, 0.0), arms=arms)
    wanted = [robot.forward(robot.q, link) for link in links]
    for pose in wanted:
        pose[2, 3] += 0.01
    q = robot.q
    for _ in range(20):
        values, torques = arm_ik.solve_ik(*wanted, q[arm_ik._at], np.zeros(len(arms)))
        q[arm_ik._at] = values
    assert values.shape == torques.shape == (len(arms),)
    assert np.isfinite(torques).all()
    assert torques.any()
    for link, pose in zip(links, wanted, strict=True):
        assert np.linalg.norm(robot.forward(q, link)[:3, 3] - pose[:3, 3]) < 0.01


@pytest.mark.parametrize('vectors', [{}, {'target_origin_link_names': ['base_link']}])
def test_retargeting_follows_points_or_scaled_vectors(vectors):
    """A closed finger follows its tip."""
    hand = adapter('hand_retargeting').SeqRetargeting(
        description_path('robotiq_2f85.urdf'), ['right_pad_link'], scaling_factor=2.0, **vectors
    )
    robot = hand.robot
    wanted = robot.forward(ik.Solver(robot).drive({'right_driver': 0.3}).q, 'right_pad_link')
    value = wanted[:3, 3] - (robot.forward(robot.q, 'base_link')[:3, 3] if vectors else 0.0)
    for _ in range(10):
        q = hand.retarget(value[None] / 2.0)
    assert q[hand.joint_names.index('right_driver')] == pytest.approx(0.3, abs=1e-3)
    hand.set_qpos(q)
    np.testing.assert_array_equal(hand.get_qpos(), q)


def test_states_for_simulators_have_closed_loops_in_the_order_of_the_simulator():
    """An unknown joint is named."""
    robot, states = ik.load_robot('fivebar'), adapter('simulator_states').states
    names = robot.joint_names[::-1]
    found = states(robot, 20, names)
    assert found.shape == (20, len(names))
    solver = ik.Solver(robot)
    for row in found:
        answer = solver.solve_pose({}, q0=dict(zip(names, row, strict=True)))
        assert np.abs(answer.q[::-1] - row).max() < 1e-6
    with pytest.raises(ValueError, match='elbow9'):
        states(robot, 1, ['elbow9'])
