"""
Mechanisms with geometry of 3 to 8 decimals, compared with the exact ones.

Every link but the root gets a frame that is turned at random, as in an export from CAD, so that
rounding bends the planes and centres that redundant loops rely on. For each mechanism and number
of decimals a line says: the mobility of both; how far an actuated joint, driven through its range,
ends from where the exact one does; how far the goals that the exact one reaches, and those beyond,
are missed by more than by the exact one; and the largest gap of a loop. Lengths are in units of
half a digit, 0.5e-3 m for 3 decimals. A line that ends with `ok` differs by rounding only.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import sys

import ik_node as ik
from ik_node.description.files import description_path
import numpy as np
from tasks.cut_loops import can_be_cut, CUTS, LINKAGES, urdf_of
from tasks.rounded import rounded_urdf, tilted_urdf

SHARED = Path(__file__).resolve().parents[2] / 'shared' / 'models'
GALLERY = (
    *('delta', 'fivebar', 'gripper', 'hexapod', 'knee_leg', 'palletizer', 'peaucellier'),
    *('rocker_bogie', 'scissor_lift', 'strandbeest', 'ankle', 'excavator'),
)
MODELS = (
    *('closed_loop_2bt/closed_loop.urdf', 'delta_clavel/model.urdf', 'fivebar_planar/model.urdf'),
    *('fourbar_crank_rocker/model.urdf', 'gepetto_5bar/robot.urdf', 'gepetto_5bar_3d/robot.urdf'),
    *('planar_3rrr/model.urdf', 'slider_crank_offset/model.urdf'),
    *('urdfplus_four_bar/four_bar.urdf', 'robotiq_2f85_mjcf/2f85.xml', 'xarm7_hand_mjcf/hand.xml'),
)
DECIMALS = (3, 4, 5, 6, 7, 8)
# What rounding may make of an answer, in units of half a digit: links and axes add up, and near
# the end of a range a small change of the mechanism moves it far.
MOST_ERROR, MOST_GAP = 100.0, 30.0
TOLERANCE = 1e-6  # of closures [m], [rad]
# How far a joint is driven from home [rad or m], as a share of its range if it has one.
TRAVEL, SHARE, STOPS = 0.6, 0.3, 4


@dataclass(frozen=True)
class Behaviour:
    """
    The results of a mechanism.

    Attributes
    ----------
    mobility : int
    reached : ndarray
        Where the driven joint ended at every stop [rad or m].
    driven : tuple of bool
        Whether that was CONVERGED.
    missed : ndarray
        Distance from every goal [m].
    met : tuple of bool
        Whether that was CONVERGED.
    gap : float
        The largest of any loop [m or rad].

    """

    mobility: int
    reached: np.ndarray
    driven: tuple[bool, ...]
    missed: np.ndarray
    met: tuple[bool, ...]
    gap: float


@dataclass(frozen=True)
class Task:
    """The task of a mechanism and its rounded copies: a joint, stops, a link and goals."""

    q: np.ndarray
    joint: str
    stops: tuple[float, ...]
    link: str
    goals: tuple[np.ndarray, ...]


def mechanisms(shared: Path = SHARED) -> Iterator[tuple[str, str]]:
    """Yield names and exact URDFs with loops and turned frames; last are loops cut in each way."""
    paths: list[tuple[Path | str, Path | None]] = [
        (description_path(f'{name}.urdf'), None) for name in GALLERY
    ]
    for name in MODELS:
        path = shared / name
        beside = path.parent / 'closures.yaml'
        plain = path.name in ('model.urdf', 'closed_loop.urdf') and beside.exists()
        paths.append((path, beside if plain else None))
    for path, closures in paths:
        if Path(path).exists():
            robot = ik.load_robot(path, closures=closures)
            stem = Path(path).stem
            plain_name = Path(path).parent.name if stem in ('model', 'robot') else stem
            yield plain_name, tilted_urdf(robot.to_urdf())
    for name, build in LINKAGES.items():
        for cut in CUTS:
            if can_be_cut(build(), cut):
                yield f'{name}/{cut}', urdf_of(build(), cut)


def task_of(robot: ik.Robot) -> Task:
    """Return the task: stops of the first movable joint, and points on a link's path."""
    if int(robot.mobility) > int(_away(robot).mobility) > 0:
        robot = _away(robot)  # where branches meet, a drive may go into either
    solver = ik.Solver(robot)
    held = robot.actuated or robot.joint_names
    followers = {name for joint in robot.joint_order for name in _coupled(joint)}
    joint = next(name for name in held if name not in followers)
    at = robot.joint_names.index(joint)
    low, high = robot.lower[at], robot.upper[at]
    travel = min(TRAVEL, SHARE * (high - low))
    stops = tuple(float(robot.q[at] + travel * x) for x in np.linspace(-1.0, 1.0, STOPS))
    closure = next(iter(robot.closures.values()))
    link = closure.child.name
    goals = []
    for stop in stops:
        q = solver.drive({joint: stop}).q
        # Beside the point of the loop: that of a four-bar's rocker goes round in a circle.
        here = robot.forward(q, link)
        goals.append(here[:3, 3])
        goals.append(here[:3, 3] + 0.3 * (here[:3, 3] - robot.forward(robot.q, link)[:3, 3]))
    return Task(robot.q, joint, stops, link, tuple(goals))


def _away(robot: ik.Robot) -> ik.Robot:
    moved = ik.load_robot(robot.to_urdf(), assemble=False)
    moved.q = robot.q + 0.9 * np.linspace(1.0, 2.0, len(robot.q))
    moved.assemble()
    return moved


def _coupled(joint: ik.Joint) -> list[str]:
    names = dict(zip(joint.dof, joint.value_names, strict=True))
    return [names[dof] for dof in joint.couplings]


def behaviour(robot: ik.Robot, task: Task) -> Behaviour:
    """Run the whole task of a mechanism, each part from the exact home."""
    start = ik.Solver(robot).solve_pose({}, q0=task.q).q
    mobility = _mobility(robot, start)
    solver, at = ik.Solver(robot), robot.joint_names.index(task.joint)
    driven = [solver.drive({task.joint: stop}, q0=start) for stop in task.stops]
    robot.add_goal(task.link, name='rounding', dof='X Y Z')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=0))
    found = [
        solver.solve_pose({'rounding': (goal, (0, 0, 0, 1))}, q0=start) for goal in task.goals
    ]
    gaps = [max(error) for each in (*driven, *found) for error in each.closure_errors.values()]
    return Behaviour(
        mobility,
        np.array([each.q[at] for each in driven]),
        tuple(each.status is ik.Status.CONVERGED for each in driven),
        np.array([each.goal_errors['rounding'].position for each in found]),
        tuple(each.status is ik.Status.CONVERGED for each in found),
        max(gaps),
    )


def _mobility(robot: ik.Robot, q: np.ndarray) -> int:
    before = robot.q
    robot.q = q
    found = int(robot.mobility)
    robot.q = before
    return found


@dataclass(frozen=True)
class Row:
    """The differences of a rounded mechanism from the exact one, in half digits."""

    name: str
    decimals: int
    mobility: tuple[int, int]
    driven: float
    missed: float
    gap: float

    @property
    def is_fine(self) -> bool:
        """Return True if the difference is caused by rounding only."""
        half = 0.5 * 10.0**-self.decimals
        same = self.mobility[0] == self.mobility[1]
        return (
            same
            and max(self.driven, self.missed) <= MOST_ERROR
            and self.gap <= max(MOST_GAP, TOLERANCE / half)
        )

    def __str__(self) -> str:
        exact, rounded = self.mobility
        state = 'ok' if self.is_fine else 'NOT'
        return (
            f'{self.name:26} {self.decimals}  mobility {exact} {rounded}  '
            f'driven {self.driven:7.1f}  goals {self.missed:7.1f}  gap {self.gap:6.1f}  {state}'
        )


def rows(name: str, urdf: str, decimals: tuple[int, ...] = DECIMALS) -> Iterator[Row]:
    """Compare one mechanism with its rounded copies."""
    task = task_of(ik.load_robot(urdf))
    exact = behaviour(ik.load_robot(urdf), task)
    for count in decimals:
        found = behaviour(ik.load_robot(rounded_urdf(urdf, count)), task)
        half = 0.5 * 10.0**-count
        off = np.abs(found.reached - exact.reached)
        yield Row(
            name,
            count,
            (exact.mobility, found.mobility),
            float(np.max(off)) / half,
            float(np.max(np.abs(found.missed - exact.missed))) / half,
            found.gap / half,
        )


def main() -> int:
    """Print the table; exit code 1 if any line is not ok."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('names', nargs='*', help='mechanisms; none = all')
    parser.add_argument('--decimals', type=int, nargs='+', default=DECIMALS)
    chosen = parser.parse_args()
    fine = True
    for name, urdf in mechanisms():
        if not chosen.names or name in chosen.names:
            for row in rows(name, urdf, tuple(chosen.decimals)):
                print(row, flush=True)
                fine = fine and row.is_fine
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())
