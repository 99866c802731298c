"""
Count reachable goals that are solved from random starts; `bench starts`.

Scissor lifts are the difficult ones: each stage may fold over, and all must be upright for the
platform to reach its goal. `random` counts goals of random mechanisms, also from home.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import pi
import sys

import ik_node as ik
import numpy as np
from tasks.arms import irb2400, panda, ur5, within_limits
from tasks.fourbar import assembled, fourbar
from tasks.judge import angles_between, Array, errors, forward, limit_excess, quaternions
from tasks.mechanism import Loop, Mechanism, Triple
from tasks.platforms import answers, floating, reachable
from tasks.random_mechanisms import closed_values, MAKERS

TOLERANCE = 1e-6
Z1, Z3 = (0.0, 0.0, 0.1), (0.0, 0.0, 0.3)


@dataclass
class Problems:
    """
    Reachable goals, each with a random start.

    Attributes
    ----------
    link, dof : str
        The goal.
    witness : ndarray, shape (n, joints)
        A solution of each goal.

    """

    mechanism: Mechanism
    link: str
    dof: str
    witness: Array


def scissor_lift(stages: int) -> Mechanism:
    """Return crossed bars of 1 m on a fixed hinge and on a slide, with unlimited hinges."""
    m = Mechanism(f'scissor{stages}')
    slide = m.add('slide', 'base', 'X', limits=(0.2, 0.98))
    first = m.add('first0', 'base', 'y')
    second = m.add('second0', slide, 'y')
    for stage in range(stages):
        ends = {'xyz_a': (0.5, 0.0, 0.0), 'xyz_b': (0.5, 0.0, 0.0)}
        m.loops.append(Loop(f'cross{stage}', first, second, 'X Z', **ends))
        if stage + 1 < stages:
            above = (1.0, 0.0, 0.0)
            first, second = (
                m.add(f'first{stage + 1}', second, 'y', above),
                m.add(f'second{stage + 1}', first, 'y', above),
            )
    m.add('top_fixed', second, '-', (1.0, 0.0, 0.0), child='top')
    return m


def lifted(stages: int, count: int, rng: np.random.Generator) -> Problems:
    """Return lifts at random heights."""
    m = scissor_lift(stages)
    lean = rng.uniform(0.25, 1.35, count)
    # Bars turn about y: z is up where the angle is negative.
    values = {'slide': np.cos(lean), 'first0': -lean, 'second0': lean - pi}
    for stage in range(1, stages):
        values[f'first{stage}'] = pi - 2 * lean
        values[f'second{stage}'] = 2 * lean - pi
    return Problems(m, 'top', 'Z', np.stack([values[name] for name in m.names], axis=1))


def arm(m: Mechanism, count: int, rng: np.random.Generator) -> Problems:
    """Return an arm with poses of random values within its limits."""
    return Problems(m, 'tool', 'X Y Z EX EY EZ', within_limits(m, count, rng))


# Arms of 4 to 6 axes, mostly without a wrist: axes from the base on, the offset before each and of
# the tool [m], and half the travel of each [rad or m].
ARMS: dict[str, tuple[str, tuple[Triple, ...], tuple[float, ...]]] = {
    'yppp': ('zyyy', (Z1, Z1, Z3, Z3, Z1), 4 * (2.9,)),
    'ypppr': ('zyyyz', (Z1, Z1, Z3, Z3, Z1, Z1), (3.1, 1.6, 2.4, 1.9, 3.1)),
    'ypppr_side': ('zyyyz', (Z1, (0.03, 0.0, 0.02), Z3, Z3, Z1, Z1), (2.9, 1.2, 2.5, 1.8, 2.9)),
    'ypprp': ('zyyzy', (Z1, Z1, Z3, Z1, Z1, Z1), 5 * (2.9,)),
    'yppyr': ('zyyxz', (Z1, (0.05, 0.0, 0.1), Z3, Z3, (0.06, 0.0, 0.0), Z1), 5 * (2.9,)),
    'rypyp': (
        'xzyzy',
        (
            Z1,
            (0.1, 0.0, 0.1),
            (0.1, 0.05, 0.2),
            (0.0, 0.1, 0.2),
            (0.05, 0.0, 0.1),
            (0.1, 0.0, 0.0),
        ),
        5 * (2.9,),
    ),
    'skew5': (
        'zxyxz',
        (
            Z1,
            (0.2, 0.0, 0.1),
            (0.1, 0.1, 0.2),
            (0.15, 0.0, 0.1),
            (0.0, 0.12, 0.1),
            (0.05, 0.0, 0.1),
        ),
        5 * (2.8,),
    ),
    'scara': ('zzZz', (Z3, (0.3, 0.0, 0.0), (0.25, 0.0, 0.0), Z1, Z1), (2.3, 2.6, 0.15, 3.1)),
    'side_wrist': (
        'zyyzyz',
        (Z3, (0.0, 0.15, 0.2), (0.0, -0.1, 0.4), (0.02, 0.0, 0.2), Z3, Z1, Z1),
        6 * (2.9,),
    ),
    'no_wrist': (
        'zyyzyx',
        (Z3, (0.1, 0.0, 0.1), Z3, (0.1, 0.0, 0.2), (0.05, 0.0, 0.2), (0.0, 0.08, 0.0), Z1),
        6 * (2.9,),
    ),
}


def other_arm(name: str) -> Mechanism:
    """Return one of `ARMS`."""
    axes, offsets, travels = ARMS[name]
    m, link = Mechanism(name), 'base'
    for at, (axis, travel) in enumerate(zip(axes, travels, strict=True)):
        link = m.add(f'j{at}', link, axis, offsets[at], limits=(-travel, travel))
    m.add('tool_fixed', link, '-', offsets[-1], child='tool')
    return m


def arm_kind(name: str, count: int, rng: np.random.Generator) -> Problems:
    """Return one of `ARMS` with poses of random values within its limits."""
    return arm(other_arm(name), count, rng)


def stewart(count: int, rng: np.random.Generator) -> Problems:
    """Return a platform on six legs."""
    m = floating(6)
    return Problems(m, 'platform', 'X Y Z EX EY EZ', answers(m, reachable(6, count, rng), 6))


def crank(count: int, rng: np.random.Generator) -> Problems:
    """Return a four-bar with points of its coupler in both branches."""
    branch = np.where(rng.random(count) < 0.5, 1.0, -1.0)
    return Problems(fourbar(), 'pen', 'X Y Z', assembled(rng.uniform(-pi, pi, count), branch))


KINDS: dict[str, tuple[int, Callable[[int, np.random.Generator], Problems]]] = {
    'scissor4': (500, lambda count, rng: lifted(4, count, rng)),
    'scissor6': (500, lambda count, rng: lifted(6, count, rng)),
    'scissor10': (200, lambda count, rng: lifted(10, count, rng)),
    'scissor20': (100, lambda count, rng: lifted(20, count, rng)),
    'ur5': (20000, lambda count, rng: arm(ur5(), count, rng)),
    'irb2400': (20000, lambda count, rng: arm(irb2400(), count, rng)),
    'panda': (100000, lambda count, rng: arm(panda(), count, rng)),
    'fourbar': (20000, crank),
    'stewart': (5000, stewart),
    **{name: (10000, partial(arm_kind, name)) for name in ARMS},
}


def solve(
    problems: Problems, seed: int, *, home: bool = False, **options: float
) -> tuple[ik.BatchSolution, Array]:
    """
    Solve all from random starts, or from home.

    Return the answers, and their q in the mechanism's order.
    """
    m = problems.mechanism
    robot = ik.load_robot(m.urdf(), closures=m.closures(), assemble=False)
    robot.add_goal(problems.link, name='goal', dof=problems.dof)
    solver = ik.Solver(robot, ik.SolverOptions(**options))
    order = [solver.joint_names.index(name) for name in m.names]
    poses = forward(m, problems.witness)[problems.link]
    goals = (poses[:, :3, 3].copy(), quaternions(poses[:, :3, :3]))
    starts = np.zeros_like(problems.witness)
    starts[:, order] = within_limits(m, len(starts), np.random.default_rng((seed, 1)))
    if home:
        starts[:, order] = m.home_q
    found = solver.solve_batch({'goal': goals}, starts)
    return found, found.q[:, order]


def solved_and_wrong(problems: Problems, seed: int, **options: float) -> tuple[Array, Array]:
    """Return which problems are reported as solved, and which of these are wrong."""
    found, q = solve(problems, seed, **options)
    return found.converged, _wrong(problems, found.converged, q)


def _wrong(problems: Problems, solved: Array, q: Array) -> Array:
    """Return which answers have open loops, violated limits or missed goals."""
    m, axes = problems.mechanism, problems.dof.split()
    loops = errors(m, [], np.zeros((len(q), 0, 7)), q).max(axis=1)
    here, wanted = (forward(m, values)[problems.link] for values in (q, problems.witness))
    shift = [at for at, axis in enumerate('XYZ') if axis in axes]
    gap = np.abs(here[:, shift, 3] - wanted[:, shift, 3]).max(axis=1)
    if 'EX' in axes:
        gap = np.maximum(gap, angles_between(here[:, :3, :3], wanted[:, :3, :3]))
    missed = (loops > TOLERANCE) | (gap > TOLERANCE) | (limit_excess(m, q) > 0.0)
    return np.asarray(solved & missed)


def table_row(problems: Problems, seed: int, *, home: bool = False, **options: float) -> str:
    """Solve all and return their row."""
    found, q = solve(problems, seed, home=home, **options)
    solved = found.converged
    wrong = int(_wrong(problems, solved, q).sum())
    steps, starts = found.iterations[solved], found.starts[solved]
    return (
        f'{problems.mechanism.name:10} {len(q):7} {int((~solved).sum()):8} {solved.mean():9.3%}'
        f' {wrong:6} {np.median(steps):8.0f} {np.mean(steps):8.1f} {np.median(starts):7.0f}'
        f' {np.mean(starts):7.2f} {np.max(starts, initial=0):6}'
    )


HEADER = 'robot        goals unsolved    solved  wrong    steps     mean  starts    mean   most'


RANDOM_HEADER = 'random mechanisms  robots   goals  from     unsolved    solved  wrong'


def random_problems(name: str, number: int, goals: int, seed: int) -> Problems:
    """Return a random mechanism of a kind of `MAKERS` with goals that it reaches."""
    rng = np.random.default_rng((seed, list(MAKERS).index(name), number))
    m, link, dof = MAKERS[name](rng)
    return Problems(m, link, dof, closed_values(m, goals, rng))


def random_rows(name: str, robots: int, goals: int, seed: int, **options: float) -> list[str]:
    """Solve the goals of random mechanisms of a kind; return rows from home and random starts."""
    total, unsolved, wrong = 0, {'home': 0, 'random': 0}, {'home': 0, 'random': 0}
    for number in range(robots):
        problems = random_problems(name, number, goals, seed)
        total += len(problems.witness)
        for start in unsolved:
            found, q = solve(problems, seed, home=start == 'home', **options)
            unsolved[start] += int((~found.converged).sum())
            wrong[start] += int(_wrong(problems, found.converged, q).sum())
            if not found.converged.all():
                print(f'# {name} {number} {start}: {np.flatnonzero(~found.converged).tolist()}')
    return [
        f'{name:18} {robots:6} {total:7}  {start:6} {unsolved[start]:10}'
        f' {1 - unsolved[start] / total:9.3%} {wrong[start]:6}'
        for start in unsolved
    ]


def main(words: list[str]) -> int:
    """Print the table."""
    about = __doc__.strip().split('\n')[0]
    parser = argparse.ArgumentParser(prog='bench starts', description=about)
    parser.add_argument('names', nargs='*', metavar='ROBOT', help=', '.join([*KINDS, 'random']))
    parser.add_argument('--share', type=float, default=1.0, help='of the usual number of goals')
    parser.add_argument('--restarts', type=int, help='of every solve (the default)')
    parser.add_argument('--home', action='store_true', help='start at home')
    parser.add_argument('--seed', type=int, default=0, help='of the goals and starts (0)')
    parser.add_argument('--robots', type=int, default=200, help='of random (200)')
    parser.add_argument('--goals', type=int, default=50, help='of each robot of random (50)')
    args = parser.parse_args(words)
    options = {} if args.restarts is None else {'restarts': args.restarts}
    kinds = [name for name in KINDS if not args.names or name in args.names]
    if kinds:
        print(HEADER)
    for name in kinds:
        usual, make = KINDS[name]
        count = max(1, int(args.share * usual))
        problems = make(count, np.random.default_rng((args.seed, 0)))
        print(table_row(problems, args.seed, home=args.home, **options), flush=True)
    if not args.names or 'random' in args.names:
        print(RANDOM_HEADER)
        each = max(1, args.robots // len(MAKERS))
        for name in MAKERS:
            for row in random_rows(name, each, args.goals, args.seed, **options):
                print(row, flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
