"""
Use goals on fewer than six axes, and several goals with priorities.

The tool of a six-axis arm shall stay at a point and, if possible, point at a second one. Goals
with a lower priority number are met first.
"""

from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'arm6.urdf')
link = list(robot.links)[-1]

point = robot.add_goal(link, name='point', dof='X Y Z')
point.set_position(*(point.position - 0.1))
gaze = robot.add_goal(link, name='gaze', kind='look_at', axis='Z', priority=1)
gaze.set_position(2.0, 0.5, 0.2)

solver = ik.Solver(robot)
for result in solver.solve():
    print(result.message)
    for name, error in result.goal_errors.items():
        print(f'{name}: {error.position:.1e} m, {error.orientation:.1e} rad')
