"""
Solve for many poses in a file; the exit code is 1 if one of them does not converge.

Input: a CSV file with the columns x y z [m] and, for poses with an orientation, qx qy qz qw. Its
first line may name the columns. --link gives the link of the poses. For more than one link, name
the columns LINK.x and so on, or repeat --link in the order of the columns. A .npy file with the
same columns works as well.

Output: a CSV file with the joint values, the status, the iterations, and the residuals of goals
and loops in [m] and [rad]. It is written during the run; --resume continues after Ctrl-C. A file
that exists is replaced with --overwrite only.
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

# Number of problems between two writes to the file.
BLOCK = 5000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, files, start and threads."""
    add_robot_arguments(parser)
    parser.add_argument(
        '--goals', required=True, metavar='FILE', help='input file with poses: .csv or .npy'
    )
    parser.add_argument(
        '--link', action='append', default=[], help='link of the poses; may be repeated'
    )
    parser.add_argument('-o', '--out', required=True, metavar='FILE', help='output file: .csv')
    parser.add_argument(
        '--start',
        nargs='+',
        default=[],
        metavar='JOINT=VALUE',
        help='initial joint values [rad or m]',
    )
    parser.add_argument('--threads', type=int, metavar='N', help='default: one per core')
    usual = SolverOptions().restarts
    parser.add_argument(
        '--restarts',
        type=int,
        default=usual,
        metavar='N',
        help=f'random restarts; default {usual}',
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument('--resume', action='store_true', help='continue an output file')
    existing.add_argument('--overwrite', action='store_true', help='replace an output file')
    parser.set_defaults(goal=[])


def run(args: argparse.Namespace) -> int:
    """Solve the problems block by block and return the exit code."""
    arguments, options = parse_goal_arguments(args), SolverOptions(restarts=args.restarts)
    robot = robot_of(args)
    q0, poses = arguments.of(robot)[1], _poses_of(args, robot)
    total = len(next(iter(poses.values()))[0])
    threads = thread_count(args.threads)
    solver = Solver(robot, options)
    solver.warm()
    answers = AnswerTable(Path(args.out), robot, resume=args.resume, overwrite=args.overwrite)
    before = answers.row_count
    if before > total:
        raise DescriptionError(f'{before} results for {total} poses', source=args.out)
    began = perf_counter()
    try:
        # The bar is shown only if standard error is a terminal, and removed at the end.
        with tqdm(total=total, initial=before, miniters=1, disable=None, leave=False) as bar:
            for first in range(before, total, BLOCK):
                block = slice(first, first + BLOCK)
                part = {link: (p[block], r[block]) for link, (p, r) in poses.items()}

                def progress(done: int, _: int, first: int = first) -> None:
                    bar.update(first + done - bar.n)

                answers.add(solver.solve_batch(part, q0, threads=threads, progress=progress))
    except KeyboardInterrupt:
        done = f'{answers.row_count} of {total} are in {args.out}'
        print(f'ik_node batch: {done}; --resume continues', file=sys.stderr)
        raise
    spent = perf_counter() - began
    print(_in_words(answers, total - before, spent))
    return 0 if answers.counts['CONVERGED'] == total else 1


def _poses_of(args: argparse.Namespace, robot: Robot) -> dict[str, tuple[Array, Array]]:
    """Read and check all poses, and add their goals to the robot."""
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
