"""
Close a loop while the robot works, and open it again: two arms that carry one box.

A closure can be switched on and off between solves. The next call applies the change.
"""

from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'two_arms_one_box.urdf')
solver = ik.Solver(robot)
grasps = list(robot.closures.values())
print(f'box held: mobility {robot.mobility}, {len(solver.chains)} chain(s) of joints')

for grasp in grasps:
    grasp.enabled = False
print(f'box released: mobility {robot.mobility}')

for grasp in grasps:
    grasp.enabled = True
print(f'box held again: {max(result.status for result in solver.solve()).name}')
