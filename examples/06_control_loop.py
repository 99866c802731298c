"""
Solve inside a control loop: prepare the call once, then call it with arrays at every cycle.

A prepared call resolves all names in advance. Forward kinematics of a parallel robot is prepared
in the same way: the motors are fixed at their measured values, and the solver closes the loops
with the other joints.
"""

from pathlib import Path

import ik_node as ik
import numpy as np

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'hexapod.urdf')
solver = ik.Solver(robot, ik.SolverOptions(restarts=0))
inverse = solver.prepare(['platform_link'])
passive = [name for name in robot.joint_names if name not in robot.actuated]
forward = solver.prepare([], joints=passive)

home = robot.forward(robot.q, 'platform_link')[:3, 3]
upright, q = np.array((0.0, 0.0, 0.0, 1.0)), robot.q
for cycle in range(1000):
    wanted = home + 0.005 * np.array((np.sin(0.01 * cycle), 0.0, 0.0))
    q = inverse(wanted, upright, q).q
measured = q.copy()  # what the motors report; the passive values in it are only the start
reached = robot.forward(forward(q0=measured).q, 'platform_link')[:3, 3]
print(f'platform {1e6 * np.abs(reached - wanted).max():.3f} um from where it is wanted')
