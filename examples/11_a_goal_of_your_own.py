"""
Write a goal of your own: a camera looks at a point from a given distance.

The camera is on a platform with six legs, which form closed loops. The residual is a Python
method; without a method `jacobian` its derivatives are differences.
"""

import ik_node as ik
import numpy as np


class LineOfSight(ik.UserGoal):
    """The z axis of a link points at the goal's own position, from a distance [m]."""

    links = ('platform_link',)
    units = ('m', 'rad', 'rad')
    distance_to_point = 0.3

    def residual(self, frames):
        """Return distance and direction of the point in the camera's axes."""
        camera = frames['platform_link']
        x, y, z = camera[:3, :3].T @ (frames['target'][:3, 3] - camera[:3, 3])
        return [np.hypot(np.hypot(x, y), z) - self.distance_to_point, x / z, y / z]


robot = ik.load_robot('hexapod')
sight = robot.add_goal(LineOfSight('sight'), tolerance=(1e-6, 1e-6))
sight.set_position(0.02, 0.01, 0.39)
for result in ik.Solver(robot).solve():
    print(result.message)
