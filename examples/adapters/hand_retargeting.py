"""
Position retargeting of dex-retargeting with ik_node: `retarget`, `set_qpos`, `get_qpos`.

    retargeting = SeqRetargeting('hand.urdf', ['thumb_tip', 'index_tip'])
    qpos = retargeting.retarget(key_points[indices])  # (n, 3) [m], as for PositionOptimizer

With `target_origin_link_names`, links that do not move, the values are vectors from these, as for
VectorOptimizer.
Fingers with linkages work as well: their loops stay closed, and passive joints are part of qpos.
"""

import ik_node as ik
import numpy as np


class SeqRetargeting:
    """Joint values of a hand whose links follow points, one frame after the other."""

    def __init__(
        self,
        urdf,
        target_link_names,
        target_origin_link_names=(),
        scaling_factor=1.0,
        cycle=1 / 30,
        max_velocity=10.0,
    ):
        self.robot = robot = ik.load_robot(urdf)
        self._scaling = scaling_factor
        self._from = [robot.forward(robot.q, name)[:3, 3] for name in target_origin_link_names]
        self.joint_names = self.robot.joint_names
        goals = [self.robot.add_goal(link, dof='X Y Z') for link in target_link_names]
        self._goals = [goal.name for goal in goals]
        self._solver = ik.Solver(self.robot, ik.tracking(cycle, max_velocity=max_velocity))
        self._q = self.robot.q

    def retarget(self, ref_value, fixed_qpos=None):
        """Return values (nq,) [rad] for positions (n, 3) [m]; `fixed_qpos`: name -> value."""
        fixed = dict(fixed_qpos or {})
        for name, value in fixed.items():
            self._q[self.joint_names.index(name)] = value
        free = [name for name in self.joint_names if name not in fixed]
        points = self._scaling * np.asarray(ref_value, float)
        points += self._from or 0.0
        goals = dict(zip(self._goals, points, strict=True))
        self._q = self._solver.solve_pose(goals, q0=self._q, joints=free).q
        return self._q.copy()

    def set_qpos(self, robot_qpos):
        """Start the next frame from these joint values."""
        self._q = np.array(robot_qpos, float)

    def get_qpos(self):
        """Return the joint values of the last frame."""
        return self._q.copy()
