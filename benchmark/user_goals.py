"""
The same goal built in, and written in Python with and without derivatives; `bench user`.

The tool of a six-axis arm, and the platform of a hexapod with closed loops, go from place to place
of a small circle. Times are processor times of one warm solve, the least of several rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import ik_node as ik
from ik_node.model.user_goal import Frames
import numpy as np
from numpy.typing import NDArray

POINTS, ROUNDS = 60, 5


class Place(ik.UserGoal):
    """A link is at a point; its derivatives are those of the base class."""

    def __init__(self, link: str) -> None:
        super().__init__('place')
        self.links = (link,)

    def residual(self, frames: Frames) -> NDArray[np.float64]:
        """Return the difference of both positions [m]."""
        return frames[self.links[0]][:3, 3] - frames['target'][:3, 3]


class KnownPlace(Place):
    """The same goal with its derivatives."""

    def jacobian(self, frames: Frames) -> dict[str, NDArray[np.float64]]:
        """Return the derivatives of the difference."""
        del frames
        return {self.links[0]: np.eye(3, 6)}


def time_of(robot: ik.Robot) -> tuple[float, float]:
    """Return the time of a solve [s], and the share of solves that converged."""
    solver, goal = ik.Solver(robot), robot.goals['place']
    turns = np.linspace(0.0, 2.0 * np.pi, POINTS)
    circle = 0.005 * np.column_stack((np.cos(turns), np.sin(turns), 0.0 * turns))
    link = goal.child.name if goal.child else ''
    places = robot.forward(robot.q, link)[:3, 3] + circle
    best, met = np.inf, 0
    for _ in range(ROUNDS):
        q, met, started = robot.q, 0, process_time()
        for place in places:
            solution = solver.solve_pose({'place': place}, q)
            q, met = solution.q, met + solution.converged
        best = min(best, (process_time() - started) / POINTS)
    return float(best), met / POINTS


def main(words: Sequence[str] = ()) -> int:
    """Print one row for each robot."""
    del words
    print('robot      built in   with jacobian   without')
    for name, link in (('arm6', 'tool_link'), ('hexapod', 'platform_link')):
        times = []
        for goal in (None, KnownPlace(link), Place(link)):
            robot = ik.load_robot(name)
            if goal is None:
                robot.add_goal(link, name='place', dof='X Y Z')
            else:
                robot.add_goal(goal)
            spent, met = time_of(robot)
            times.append(f'{1e6 * spent:7.0f} us' + (f' ({met:.0%} met)' if met < 1.0 else ''))
        print(f'{name:10}', '   '.join(times))
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
