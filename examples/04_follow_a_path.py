"""
Follow a path of poses without jumps and within the velocity limits.

The platform of a delta robot moves along a circle. Where a joint would be too fast, the path is
delayed.
"""

from pathlib import Path

import ik_node as ik
import numpy as np

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'delta.urdf')
solver = ik.Solver(robot)
home = robot.forward(robot.q, 'platform_link')[:3, 3]

angle = np.linspace(0.0, 2.0 * np.pi, 100)
circle = home + 0.03 * np.column_stack((np.cos(angle) - 1.0, np.sin(angle), np.zeros(100)))
upright = np.tile((0.0, 0.0, 0.0, 1.0), (100, 1))

path = solver.solve_path({'platform_link': (circle, upright)}, dt=0.01)
print(f'{len(path)} points, {len(path.failures)} not reached')
print(f'duration {path.times[-1]:.2f} s')
print(f'fastest joint {np.abs(path.velocity).max():.2f} rad/s')
