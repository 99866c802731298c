"""
The two-arm `solve_ik` of Unitree's xr_teleoperate with ik_node: same arguments, same results.

In teleop/teleop_hand_and_arm.py write `arm_ik = ArmIK('assets/g1/g1_body29_hand14.urdf')` instead
of `arm_ik = G1_29_ArmIK()`. The hands are the links of the wrists, moved 5 cm along x as in
G1_29_ArmIK. Legs, waist and fingers keep their values. The torques hold the arms' weight.
"""

import ik_node as ik
import numpy as np

WRISTS = ('left_wrist_yaw_link', 'right_wrist_yaw_link')


class ArmIK:
    """Inverse kinematics of two arms, whose joints are those from the chest to both wrists."""

    def __init__(self, urdf, wrists=WRISTS, offset=(0.05, 0.0, 0.0), cycle=1 / 30, arms=None):
        self.robot = ik.load_robot(urdf)
        words = ('shoulder', 'elbow', 'wrist')
        names = self.robot.joint_names
        self.joints = list(arms or [name for name in names if any(w in name for w in words)])
        self._at = [names.index(name) for name in self.joints]
        self.wrists = wrists
        self._back = np.eye(4)
        self._back[:3, 3] = -np.asarray(offset)
        # The arms drift to the pose at start where the hands leave a choice.
        ik.save_rest_pose(self.robot.root)
        self.solver = ik.Solver(self.robot, ik.tracking(cycle))
        self._q = self.robot.q

    def solve_ik(
        self, left_wrist, right_wrist, current_lr_arm_motor_q=None, current_lr_arm_motor_dq=None
    ):
        """Return joint values and holding torques of both arms, left first [rad], [N m]."""
        if current_lr_arm_motor_q is not None:
            self._q[self._at] = current_lr_arm_motor_q
        hands = (left_wrist, right_wrist)
        goals = {w: np.asarray(h) @ self._back for w, h in zip(self.wrists, hands, strict=True)}
        self._q = self.solver.solve_pose(goals, q0=self._q, joints=self.joints).q
        return self._q[self._at], self.robot.gravity_effort(self._q, actuators=self.joints)
