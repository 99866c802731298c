"""
Solve in a background thread while the program continues, as in a GUI or a server.

`solve` returns a future at once. `update_frame_state` hands the newest goal to the solve that
runs.
"""

from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'

robot = ik.load_robot(URDF / 'delta.urdf')
goal = robot.add_goal('platform_link', name='platform', dof='X Y Z')

with ik.AsyncSolver(robot) as solver:
    start = goal.position.copy()
    for step in range(1, 6):  # a mouse drags the goal
        goal.set_position(start[0], start[1], start[2] + 0.002 * step)
        if not solver.update_frame_state():
            future = solver.solve()
    results = future.result(timeout=120.0)
    print(f'{results[0].status.name}: platform lifted by {goal.position[2] - start[2]:.3f} m')
