"""
Ask for less than a pose, and for several things at once.

The tool of a six-axis arm is to stay at a point and, if possible, look at a second point. A goal
of a lower priority number is met first.
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
