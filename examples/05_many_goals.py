"""
Solve thousands of goals on all processor cores.

Every row is solved as `solve_pose` would solve it. The result keeps arrays, and names are attached
on demand.
"""

from pathlib import Path

import ik_node as ik
import numpy as np

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'fivebar.urdf')
goal = robot.add_goal('tool_link', name='tool', dof='X Y')
solver = ik.Solver(robot)

rng = np.random.default_rng(0)
positions = goal.position + rng.uniform(-0.05, 0.05, (2000, 3))
quats_xyzw = np.tile((0.0, 0.0, 0.0, 1.0), (2000, 1))
batch = solver.solve_batch({'tool': (positions, quats_xyzw)})
reached = np.count_nonzero(batch.status == ik.Status.CONVERGED)
print(f'{reached} of {len(batch)} goals reached')
print(batch[0].message)
