"""
Use a solver in several processes.

The solver is pickled with its robot, and each process works with its own copy.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import ik_node as ik

URDF = Path(__file__).parents[1] / 'urdf'
POSES = [((0.005 * k, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0)) for k in range(-1, 2)]


def main() -> None:
    """Solve one pose in each process."""
    solver = ik.Solver(ik.load_robot(URDF / 'hexapod.urdf'))
    with ProcessPoolExecutor(2, get_context('spawn')) as pool:
        goals = [{'platform_link': pose} for pose in POSES]
        for solution in pool.map(solver.solve_pose, goals):
            print(solution.message)


if __name__ == '__main__':
    main()
