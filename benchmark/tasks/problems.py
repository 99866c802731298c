"""Problems for measurements: the neutral scenarios next to the checkout, and the hexapod."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import json
from pathlib import Path

import ik_node as ik
from ik_node.description.files import description_path
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Goals = dict[str, tuple[list[float], list[float]]]

SCENARIOS = Path(__file__).resolve().parents[3] / 'shared' / 'scenarios' / 'scenarios.json'


@dataclass
class ProblemSet:
    """A solver with many starts and goals."""

    name: str
    solver: ik.Solver
    starts: list[Array]
    goals: list[Goals]


def build(scenario: dict) -> list[ik.Frame]:
    """Build a scenario's graph; the roots."""
    frames: dict[str, ik.Frame] = {}
    for spec in scenario['frames']:
        frame = ik.Link(spec['name']) if spec['type'] == 'link' else ik.Joint(spec['name'])
        frame.set_position(*spec['xyz'])
        frame.set_quaternion(*spec['quat'])
        if isinstance(frame, ik.Joint) and spec['dofs']:
            frame.set_dof(*spec['dofs'])
            for dof, lower, upper in zip(spec['dofs'], spec['lower'], spec['upper'], strict=True):
                frame.set_limits(
                    dof, -np.inf if lower is None else lower, np.inf if upper is None else upper
                )
        frames[spec['name']] = frame
        if spec['parent'] is not None:
            frames[spec['parent']].add_child(frame)
    for closure in scenario['closures']:
        frames[closure['joint']].make_closure(frames[closure['link']])
    roots = [frames[spec['name']] for spec in scenario['frames'] if spec['parent'] is None]
    for spec in scenario['goals']:
        goal = ik.Goal(spec['name'])
        goal.set_goal_dof(*spec['dofs'])
        goal.make_closure(frames[spec['link']])
        roots.append(goal)
    return roots


def scenario_sets() -> Iterator[ProblemSet]:
    """Yield the neutral scenarios, if they exist."""
    if not SCENARIOS.is_file():
        return
    for scenario in json.loads(SCENARIOS.read_text())['scenarios']:
        solver = ik.Solver(build(scenario))
        names = solver.joint_names
        place = [
            names.index(entry if entry in names else entry.split('.')[0])
            for entry in scenario['dof_order']
        ]
        starts, goals = [], []
        for problem in scenario['problems']:
            q = np.zeros(len(names))
            q[place] = problem['start']
            starts.append(q)
            goals.append({k: (v['xyz'], v['quat']) for k, v in problem['goals'].items()})
        yield ProblemSet(scenario['name'], solver, starts, goals)


def hexapod_set(count: int = 200, seed: int = 0) -> ProblemSet:
    """Return the hexapod of the gallery with reachable platform poses."""
    robot = ik.load_robot(description_path('hexapod.urdf'))
    home = robot.q
    solver = ik.Solver(robot)
    rng = np.random.default_rng(seed)
    goals: list[Goals] = []
    centre = robot.forward(home, 'platform_link')[:3, 3]
    while len(goals) < count:
        shift = rng.uniform(-0.01, 0.01, 3)
        turn = rng.uniform(-0.1, 0.1, 3)
        quat = [*(0.5 * turn), float(np.sqrt(1.0 - 0.25 * turn @ turn))]
        goals.append({'platform_link': ((centre + shift).tolist(), quat)})
    return ProblemSet('hexapod.urdf', solver, [home] * count, goals)
