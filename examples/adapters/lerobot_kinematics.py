"""
LeRobot's `RobotKinematics` with ik_node: the same constructor, methods, degrees and 4x4 poses.

Put this file beside your script, and write `from lerobot_kinematics import RobotKinematics`
instead of `from lerobot.model.kinematics import RobotKinematics`. placo is not needed. A measured
joint outside its limits stays where it is or moves inwards, so that the arm does not jump.
"""

import ik_node as ik
import numpy as np


class RobotKinematics:
    """Forward and inverse kinematics of an arm, in degrees."""

    def __init__(self, urdf_path, target_frame_name='gripper_frame_link', joint_names=None):
        self.robot = ik.load_robot(urdf_path)
        self.joint_names = list(joint_names or self.robot.joint_names)
        self.target_frame_name = target_frame_name
        self._at = [self.robot.joint_names.index(name) for name in self.joint_names]
        self._solvers = {}

    def _q(self, joint_pos_deg):
        q = self.robot.q
        q[self._at] = np.deg2rad(joint_pos_deg[: len(self._at)])
        return q

    def forward_kinematics(self, joint_pos_deg):
        """Return the 4x4 pose of the target frame."""
        return self.robot.forward(self._q(joint_pos_deg), self.target_frame_name)

    def inverse_kinematics(
        self, current_joint_pos, desired_ee_pose, position_weight=1.0, orientation_weight=0.01
    ):
        """Return joint positions near the current ones; further values, a gripper's, stay."""
        weights = (position_weight, orientation_weight)
        if weights not in self._solvers:
            options = ik.SolverOptions(
                restarts=0,
                compromise=True,
                characteristic_length=1.0,
                translation_factor=position_weight**0.5,
                rotation_factor=orientation_weight**0.5,
            )
            self._solvers[weights] = ik.Solver(self.robot, options)
        answer = self._solvers[weights].solve_pose(
            {self.target_frame_name: np.asarray(desired_ee_pose, float)},
            q0=self._q(current_joint_pos),
            joints=self.joint_names,
        )
        result = np.array(current_joint_pos, float)
        result[: len(self._at)] = np.rad2deg(answer.q[self._at])
        return result
