"""
Goals that arms of 4 to 6 axes meet within a tolerance but not exactly; `bench tolerance`.

A goal is the pose of the hand at random joint values, moved and turned at random within its
tolerance: an answer exists. Every goal is solved from home and from a random start. A cell of the
table gives the share of CONVERGED, whose residual SciPy's rotations have confirmed, and the median
time of a solve.
"""

from __future__ import annotations

import argparse
from math import pi
import sys
from time import perf_counter

import ik_node as ik
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

# Rows d, a, alpha, theta of the standard convention [m, rad].
ARMS = {
    'yaw-pitch-pitch-pitch-roll': [
        (0.3, 0, pi / 2, 0),
        (0, 0.35, 0, 0.6),
        (0, 0.3, 0, -0.8),
        (0, 0, pi / 2, 0.5),
        (0.15, 0, 0, 0),
    ],
    'yaw-pitch-pitch-pitch': [
        (0.3, 0, pi / 2, 0),
        (0, 0.35, 0, 0.6),
        (0, 0.3, 0, -0.8),
        (0, 0.1, 0, 0.5),
    ],
    'yaw-pitch-pitch-roll-yaw': [
        (0.3, 0, pi / 2, 0),
        (0, 0.35, 0, 0.6),
        (0, 0.05, pi / 2, 0.2),
        (0.3, 0, -pi / 2, 0),
        (0, 0.12, 0, 0.3),
    ],
    'yaw-pitch-yaw-pitch-yaw': [
        (0.3, 0, pi / 2, 0),
        (0, 0, -pi / 2, 0.6),
        (0.4, 0, pi / 2, 0.3),
        (0, 0, -pi / 2, -0.8),
        (0.35, 0.05, 0, 0),
    ],
    'yaw and four pitches': [
        (0.2, 0, pi / 2, 0.1),
        (0, 0.25, 0, 0.4),
        (0, 0.25, 0, 0.3),
        (0, 0.2, 0, -0.5),
        (0, 0.1, 0, 0.2),
    ],
    'yaw-pitch-pitch-roll': [
        (0.3, 0.05, pi / 2, 0),
        (0, 0.4, 0, 0.5),
        (0, 0.35, pi / 2, -0.5),
        (0.2, 0.05, 0, 0),
    ],
    'parallel axes, tilted hand': [
        (0.3, 0.3, 0, 0.4),
        (0, 0.25, pi, 0.5),
        (0.1, 0, 0, 0.2),
        (0.08, 0.05, 0.7, 0.3),
    ],
    'skew 4': [
        (0.2, 0.1, 1.1, 0.2),
        (0.1, 0.3, -0.8, 0.5),
        (0.15, 0.2, 0.9, -0.4),
        (0.05, 0.15, -1.2, 0.6),
    ],
    'skew 5': [
        (0.2, 0.1, 1.1, 0.2),
        (0.1, 0.2, -0.8, 0.5),
        (0.15, 0.2, 0.9, -0.4),
        (0.05, 0.1, -1.2, 0.6),
        (0.1, 0.1, 0.3, 0.2),
    ],
    'skew 6': [
        (0.2, 0.1, 1.1, 0.2),
        (0.1, 0.2, -0.8, 0.5),
        (0.15, 0.2, 0.9, -0.4),
        (0.05, 0.1, -1.2, 0.6),
        (0.1, 0.1, 0.3, 0.2),
        (0.1, 0.05, 0.4, 0.1),
    ],
    'six axes with a wrist': [
        (0.3, 0, pi / 2, 0),
        (0, 0.4, 0, 0.5),
        (0, 0.05, pi / 2, -0.3),
        (0.35, 0, -pi / 2, 0.2),
        (0, 0, pi / 2, 0.4),
        (0.1, 0, 0, 0),
    ],
}
# [m, rad] for the norms, or for each axis.
TOLERANCES = (
    (1e-3, 0.3),
    (1e-4, 0.1),
    (0.03, 1e-3),
    (0.02, 0.02),
    (1e-3, 1e-3, 1e-3, 0.02, 0.02, 0.5),
    (0.01, 1e-3, 0.02, 0.1, 0.01, 0.2),
)
LIMIT = 2.6
HAND = 'hand'


def arm(name: str, tolerance: tuple[float, ...] | None) -> ik.Robot:
    """Return an arm of the family with a goal for its last link."""
    rows = ARMS[name]
    robot = ik.from_dh(rows, limits=[(-LIMIT, LIMIT)] * len(rows))
    robot.add_goal(list(robot.links)[-1], name=HAND, tolerance=tolerance)
    return robot


def off(robot: ik.Robot, q: Array, pose: tuple[Array, Array]) -> Array:
    """Return the position [m] and rotation vector [rad] of the hand beside a pose, (6,)."""
    there = robot.forward(q, list(robot.links)[-1])
    turn = Rotation.from_matrix(there[:3, :3]) * Rotation.from_quat(pose[1]).inv()
    return np.concatenate((there[:3, 3] - pose[0], turn.as_rotvec()))


def is_within(residual: Array, tolerance: tuple[float, ...]) -> bool:
    """Return True if a residual (6,) is within a tolerance of two or six numbers."""
    if len(tolerance) == 2:
        norms = np.linalg.norm(residual.reshape(2, 3), axis=1)
        return bool((norms <= np.array(tolerance) * (1.0 + 1e-9) + 1e-12).all())
    return bool((np.abs(residual) <= np.array(tolerance) * (1.0 + 1e-9) + 1e-12).all())


def moved(rng: np.random.Generator, tolerance: tuple[float, ...]) -> Array:
    """Draw a residual (6,) within a tolerance, evenly in the balls or in the box."""
    if len(tolerance) == 6:
        return rng.uniform(-1.0, 1.0, 6) * tolerance
    ways = rng.normal(size=(2, 3))
    ways *= (rng.uniform(size=2) ** (1 / 3) / np.linalg.norm(ways, axis=1))[:, None]
    return (ways * np.array(tolerance)[:, None]).ravel()


def tried(
    name: str, tolerance: tuple[float, ...], count: int, seed: int = 5
) -> tuple[list[bool], list[float]]:
    """
    Solve goals that an arm can meet within a tolerance.

    Returns
    -------
    converged : list of bool
        For every goal, from home and from a random start.
    seconds : list of float
        Time of every solve [s].

    Raises
    ------
    AssertionError
        If an answer is CONVERGED but not within the tolerance.

    """
    robot = arm(name, tolerance)
    solver, rng, home = ik.Solver(robot), np.random.default_rng(seed), robot.q.copy()
    converged, seconds = [], []
    for _ in range(count):
        there = robot.forward(rng.uniform(-2.5, 2.5, home.size), list(robot.links)[-1])
        away = moved(rng, tolerance)
        turn = Rotation.from_rotvec(away[3:]) * Rotation.from_matrix(there[:3, :3])
        pose = (there[:3, 3] + away[:3], turn.as_quat())
        for start in (home, rng.uniform(-2.5, 2.5, home.size)):
            begin = perf_counter()
            solution = solver.solve_pose({HAND: pose}, start)
            seconds.append(perf_counter() - begin)
            converged.append(solution.converged)
            assert not solution.converged or is_within(off(robot, solution.q, pose), tolerance)
    return converged, seconds


def main(words: list[str]) -> int:
    """Print the table; return 1 if less than 99 % of the goals are met."""
    parser = argparse.ArgumentParser(prog='bench tolerance', description=__doc__.split('\n')[1])
    parser.add_argument('--goals', type=int, default=100, help='goals for each cell')
    count = parser.parse_args(words).goals
    heads = (' '.join(f'{most:g}' for most in each) for each in TOLERANCES)
    print(f'{"":28}' + ''.join(f'{head:>34}' for head in heads))
    total: list[bool] = []
    for name in ARMS:
        line = f'{name:28}'
        for tolerance in TOLERANCES:
            converged, seconds = tried(name, tolerance, count)
            total += converged
            line += f'{np.mean(converged):24.1%} {1e6 * np.median(seconds):6.0f} us'
        print(line, flush=True)
    share = float(np.mean(total))
    print(f'{share:.2%} of {len(total)} are met')
    return 0 if share >= 0.99 else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
