"""
Load a robot with closed loops and move its platform to a pose.

The hexapod's six legs form six loops. They are closed when the robot is loaded, and every solution
keeps them closed.
"""

from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'hexapod.urdf')
print(f'{robot.name}: {len(robot.joint_names)} joint values, mobility {robot.mobility}')

solver = ik.Solver(robot)
solution = solver.solve_pose({'platform_link': ((0.005, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))})
print(solution.message)

values = dict(zip(robot.joint_names, solution.q, strict=True))
for motor in robot.actuated:
    print(f'{motor}: {1000.0 * values[motor]:.2f} mm')
