"""
Robots scaled from 1e-4 to 1000 of their size: success and steps; `bench size`.

The truth sets and scenarios of ../shared with all lengths scaled, tolerances too. Solved are the
problems that end CONVERGED, from home (or the scenario's start) and from random starts between the
limits; driven, the actuated joints of truth sets that go from home to where a pose has them.
`--default` keeps tolerances at their defaults for robots that are scaled down.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
import json
from pathlib import Path

import ik_node as ik
from ik_node.model.constraint import Constraint
import numpy as np
from numpy.typing import NDArray
from tasks.problems import build, SCENARIOS

Array = NDArray[np.float64]
Goals = dict[str, tuple[Array, Array]]

FACTORS = (1e-4, 1e-3, 1e-2, 0.1, 10.0, 100.0, 1000.0)
SHARED = SCENARIOS.parents[1]


def scale(roots: Iterable[ik.Frame], factor: float) -> None:
    """Multiply all lengths of a graph, also limits, couplings, tolerances and rounding errors."""
    frames: list[ik.Frame] = []
    for root in roots:
        root.traverse(frames.append)
    for frame in frames:
        frame.set_position(*(factor * frame.position))
        if isinstance(frame, ik.Link):
            frame.centre_of_mass = factor * frame.centre_of_mass
        elif isinstance(frame, Constraint):
            frame.set_offset(factor * frame.offset_position, frame.offset_quaternion)
            frame.distance *= factor
            if frame.tolerance is not None:
                frame.tolerance = (factor * frame.tolerance[0], frame.tolerance[1])
            if isinstance(frame, ik.Closure) and frame.rounding is not None:
                frame.rounding = (factor * frame.rounding[0], frame.rounding[1])
        elif isinstance(frame, ik.Joint):
            _scale_joint(frame, factor)


def _scale_joint(joint: ik.Joint, factor: float) -> None:
    for dof in joint.dof if not joint.is_closure else ():
        unit = 1.0 if dof.is_rotation else factor
        coupling = joint.couplings.get(dof)
        if coupling is not None:
            powers = 1.0 if coupling.master_dof.is_rotation else factor
            own = [unit * c / powers**at for at, c in enumerate(coupling.coefficients)]
            joint.couple(dof, coupling.master, coupling.master_dof, own)
        if not dof.is_rotation:
            value = joint.dof_values[dof]
            limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
            joint.set_limits(dof, *(factor * np.array(limits)))
            joint.set_dof_value(dof, factor * value)
            for wish in (joint.dof_target, joint.dof_rest_pose, joint.max_velocity):
                wish[dof] *= factor


@dataclass
class Case:
    """
    Problems of one robot, in its original size.

    Attributes
    ----------
    load : callable
        Returns the roots of a graph of its own.
    starts : list of ndarray, shape (nq,)
        By the names in `names`.
    goals : list of dict of str to (position, quat_xyzw)
    driven : list of dict of str to float
        Values of joints.

    """

    name: str
    load: Callable[[], Sequence[ik.Frame]]
    names: list[str]
    starts: list[Array]
    goals: list[Goals]
    driven: list[dict[str, float]] = field(default_factory=list)


def truth_case(file: Path) -> Case:
    """Return the problems of a truth set: from the first pose to every one."""
    truth = json.loads(file.read_text())
    closures = truth.get('closures_yaml')

    def load() -> Sequence[ik.Frame]:
        robot = ik.load_robot(
            SHARED / truth['model'],
            closures=SHARED / closures if closures else None,
            assemble=False,
        )
        for frame in truth['goal_frames']:
            offset = (frame['xyz'], frame['quat_xyzw'])
            robot.add_goal(frame['link'], name=f'goal_{frame["name"]}', offset=offset)
        return robot.roots

    poses, names = truth['poses'], truth['joints']
    home = np.array(poses[0]['q'])
    driven = [
        {name: pose['q'][names.index(name)] for name in truth.get('actuated') or ()}
        for pose in poses
    ]
    return Case(
        name=truth['name'],
        load=load,
        names=names,
        starts=[home for _ in poses],
        goals=[
            {
                f'goal_{name}': (np.array(frame['xyz']), np.array(frame['quat_xyzw']))
                for name, frame in pose['frames'].items()
            }
            for pose in poses
        ],
        driven=driven if closures and driven[0] else [],
    )


def scenario_case(scenario: dict) -> Case:
    """Return the problems of a scenario, each with its own start."""
    problems = scenario['problems']
    solver = ik.Solver(build(scenario))
    order = [
        entry if entry in solver.joint_names else entry.split('.')[0]
        for entry in scenario['dof_order']
    ]
    return Case(
        name=scenario['name'],
        load=lambda: build(scenario),
        names=order,
        starts=[np.array(problem['start']) for problem in problems],
        goals=[
            {k: (np.array(v['xyz']), np.array(v['quat'])) for k, v in problem['goals'].items()}
            for problem in problems
        ],
    )


def all_cases(names: Sequence[str] = ()) -> Iterator[Case]:
    """Yield every case, or the cases with these names."""
    for file in sorted((SHARED / 'truth').glob('*.json')):
        if 'flavour' not in json.loads(file.read_text()) and (not names or file.stem in names):
            yield truth_case(file)
    for scenario in json.loads(SCENARIOS.read_text())['scenarios']:
        if not names or scenario['name'] in names:
            yield scenario_case(scenario)


@dataclass
class Outcome:
    """The results of a case: solved problems and their steps."""

    solved: list[bool] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def add(self, solution: ik.Solution) -> None:
        """Count a solution."""
        self.solved.append(solution.status is ik.Status.CONVERGED)
        self.steps.append(solution.iterations)

    def extend(self, other: Outcome) -> None:
        """Add the counts of another outcome."""
        self.solved += other.solved
        self.steps += other.steps

    @property
    def share(self) -> float:
        """Return the share that was solved [%]."""
        return 100.0 * float(np.mean(self.solved)) if self.solved else 100.0

    @property
    def mean_steps(self) -> float:
        """Return the mean number of steps."""
        return float(np.mean(self.steps)) if self.steps else 0.0


def run(case: Case, factor: float, *, tolerance: float = 0.0, stride: int = 1) -> list[Outcome]:
    """
    Solve a scaled case.

    Parameters
    ----------
    case : Case
        What to solve.
    factor : float
        Of all lengths.
    tolerance : float
        [m]; 0 = 1e-6 times the factor.
    stride : int
        Every so many problems count.

    Returns
    -------
    list of Outcome
        From home, from random starts, driven.

    """
    roots = case.load()
    scale(roots, factor)
    options = ik.SolverOptions(translation_converge_threshold=tolerance or 1e-6 * factor)
    solver = ik.Solver(roots, options)
    place = [case.names.index(name) for name in solver.joint_names]
    owner = solver.tree.owner
    unit = np.array([1.0 if dof.is_rotation else factor for _, dof in owner])
    lower, upper = (
        np.array([getattr(joint, side)[dof] for joint, dof in owner])
        for side in ('min_dof_limit', 'max_dof_limit')
    )
    random = np.random.default_rng(5)
    home, anywhere, driven = Outcome(), Outcome(), Outcome()
    for start, goals in list(zip(case.starts, case.goals, strict=True))[::stride]:
        q0 = unit * start[place]
        scaled = {name: (factor * position, quat) for name, (position, quat) in goals.items()}
        home.add(solver.solve_pose(scaled, q0))
        low, high = np.maximum(lower, q0 - np.pi * unit), np.minimum(upper, q0 + np.pi * unit)
        q0 = random.uniform(np.minimum(low, high), high)
        anywhere.add(solver.solve_pose(scaled, q0))
    slides = {name for name, (_, dof) in zip(solver.joint_names, owner, strict=True) if dof < 3}
    for start, values in list(zip(case.starts, case.driven, strict=False))[::stride]:
        wanted = {name: v * (factor if name in slides else 1.0) for name, v in values.items()}
        driven.add(solver.drive(wanted, unit * start[place]))
    return [home, anywhere, driven]


def row(label: str, outcomes: Sequence[Outcome], before: Sequence[Outcome]) -> str:
    """Return a row with outcomes and the increase of steps over the unscaled case."""
    text = f'{label:28s}'
    for outcome, unscaled in zip(outcomes, before, strict=True):
        more = 100.0 * (outcome.mean_steps / max(unscaled.mean_steps, 1e-9) - 1.0)
        none = '     -      -      -'
        text += (
            f'{outcome.share:7.2f}{outcome.mean_steps:7.1f}{more:+6.0f}%'
            if outcome.solved
            else none
        )
    return text


def main() -> None:
    """Print a table with totals by factor, and every case that differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('cases', nargs='*', help='truth sets and scenarios; none = all')
    parser.add_argument('--stride', type=int, default=1, help='every so many problems')
    parser.add_argument('--default', action='store_true', help='tolerances at their defaults')
    parser.add_argument('--each', action='store_true', help='a row for every case')
    args = parser.parse_args()
    heads = ''.join(
        f'{head:>8s}{"steps":>6s}{"more":>7s}' for head in ('home %', 'any %', 'drive %')
    )
    print(f'{"factor":28s}{heads}')
    cases = list(all_cases(args.cases))
    unscaled = [run(case, 1.0, stride=args.stride) for case in cases]
    for factor in (1.0, *FACTORS):
        if args.default and factor > 1.0:
            continue
        total = [Outcome(), Outcome(), Outcome()]
        before = [Outcome(), Outcome(), Outcome()]
        for case, base in zip(cases, unscaled, strict=True):
            tolerance = 1e-6 if args.default else 0.0
            found = run(case, factor, tolerance=tolerance, stride=args.stride)
            for into, part in zip((*total, *before), (*found, *base), strict=True):
                into.extend(part)
            if args.each:
                print(row(f'  {factor:g} {case.name}', found, base), flush=True)
        print(row(f'{factor:g}', total, before), flush=True)


if __name__ == '__main__':
    main()
