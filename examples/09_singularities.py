"""
Compute how far a mechanism is from a singular configuration.

The condition number of the Jacobian grows without bound near a singularity. The mobility tells the
degrees of freedom with all loops closed.
"""

from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'fivebar.urdf')
goal = robot.add_goal('tool_link', name='tool', dof='X Y')
solver = ik.Solver(robot)
print(robot.mobility.report().splitlines()[0])

start, unit = goal.position.copy(), (0.0, 0.0, 0.0, 1.0)
q = robot.q
for height in (0.0, 0.02, 0.04):
    wanted = (start[0], start[1] + height, start[2])
    solution = solver.solve_pose({'tool': (wanted, unit)}, q)
    q = solution.q
    condition = solution.condition_number
    print(f'{height:.2f} m up: condition number {condition:.1f}, {solution.status.name}')
