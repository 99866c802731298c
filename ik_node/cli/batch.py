"""
Solve for many poses, from a file into a file; exit code 1 if one of them does not converge.

The poses: a CSV file with the columns x y z, in [m], and qx qy qz qw if the orientation counts,
too. Its first line may name them; --link says whose they are. For more than one link the names are
LINK.x and so on, or --link is repeated and the columns stand in that order. Or the same as an
array in a .npy file.

The answers: a CSV file with the value of every joint, the status, the steps, and how far goals and
loops are off, [m] and [rad]. It is written as the work goes on; --resume goes on after Ctrl-C.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from time import perf_counter

from ik_node.cli.goal_arguments import parse_goal_arguments
from ik_node.cli.robot_arguments import add_robot_arguments, robot_of
from ik_node.cli.tables.goal_table import AnswerTable, read_goal_table
from ik_node.errors import DescriptionError
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.batch.batch_input import many_poses
from ik_node.solver.batch.batch_run import thread_count
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

Array = NDArray[np.float64]

# Problems between two writings of the file.
BLOCK = 5000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, files, start and threads."""
    add_robot_arguments(parser)
    parser.add_argument('--goals', required=True, metavar='FILE', help='the poses: .csv or .npy')
    parser.add_argument(
        '--link', action='append', default=[], help='whose poses they are; may be repeated'
    )
    parser.add_argument('-o', '--out', required=True, metavar='FILE', help='the answers: .csv')
    parser.add_argument(
        '--start', nargs='+', default=[], metavar='JOINT=VALUE', help='where to start [rad or m]'
    )
    parser.add_argument('--threads', type=int, metavar='N', help='default: one for every core')
    usual = SolverOptions().restarts
    parser.add_argument(
        '--restarts', type=int, default=usual, metavar='N', help=f'further starts; default {usual}'
    )
    parser.add_argument('--resume', action='store_true', help='go on with the file of answers')
    parser.set_defaults(goal=[])


def run(args: argparse.Namespace) -> int:
    """Solve block by block."""
    asked, options = parse_goal_arguments(args), SolverOptions(restarts=args.restarts)
    robot = robot_of(args)
    q0, poses = asked.of(robot)[1], _poses_of(args, robot)
    total = len(next(iter(poses.values()))[0])
    threads = thread_count(args.threads)
    solver = Solver(robot, options)
    solver.warm()
    answers = AnswerTable(Path(args.out), robot, resume=args.resume)
    before = answers.row_count
    if before > total:
        raise DescriptionError(f'{before} answers to {total} poses', source=args.out)
    began = perf_counter()
    try:
        # A bar only where standard error is a terminal, and not after the end.
        with tqdm(total=total, initial=before, miniters=1, disable=None, leave=False) as bar:
            for first in range(before, total, BLOCK):
                block = slice(first, first + BLOCK)
                part = {link: (p[block], r[block]) for link, (p, r) in poses.items()}

                def progress(done: int, _: int, first: int = first) -> None:
                    bar.update(first + done - bar.n)

                answers.add(solver.solve_batch(part, q0, threads=threads, progress=progress))
    except KeyboardInterrupt:
        done = f'{answers.row_count} of {total} are in {args.out}'
        print(f'ik_node batch: {done}; --resume goes on', file=sys.stderr)
        raise
    spent = perf_counter() - began
    print(_in_words(answers, total - before, spent))
    return 0 if answers.counts['CONVERGED'] == total else 1


def _poses_of(args: argparse.Namespace, robot: Robot) -> dict[str, tuple[Array, Array]]:
    """Read all poses and add their goals to the robot; any row that is bad is found here."""
    path = Path(args.goals)
    if not path.is_file():
        raise DescriptionError('no such file', source=args.goals)
    table = read_goal_table(path, args.link)
    for link, found in table.items():
        robot.add_goal(link, name=link, dof='X Y Z EX EY EZ' if found.turned else 'X Y Z')
    return many_poses({link: (found.positions, found.quats_xyzw) for link, found in table.items()})


def _in_words(answers: AnswerTable, fresh: int, spent: float) -> str:
    counts = ', '.join(f'{count} {name}' for name, count in sorted(answers.counts.items()))
    rate = f' ({fresh} in {spent:.2f} s, {fresh / spent:.0f}/s)' if fresh else ''
    return f'{counts or "no poses"}{rate}'
