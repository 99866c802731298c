"""
Solve for many poses in a file; the exit code is 1 if one of them does not converge.

Input: a CSV file with the columns x y z [m] and, for poses with an orientation, qx qy qz qw. Its
first line may name the columns. --link gives the link of the poses. For more than one link, name
the columns LINK.x and so on, or repeat --link in the order of the columns. A .npy file with the
same columns works as well.

Output: a CSV file with the joint values, the status, the iterations, and the residuals of goals
and loops in [m] and [rad]. During the run its rows are in FILE.part; --resume continues after
Ctrl-C or a kill, and the file ends the same. A file that exists is replaced with --overwrite only.

--engine processes solves in other processes, --engine dask also on other machines. See
docs/batch.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
import sys
from time import perf_counter
from typing import Any

from ik_node.cli import arguments as shared
from ik_node.cli.answer_table import answer_header, answer_rows, AnswerTable
from ik_node.errors import DescriptionError
from ik_node.model.rotation import Array
from ik_node.motion.read import read_goal_table
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.batch.batch_run import BatchWork, many_poses, solve_batch
from ik_node.solver.batch.engines import part_size, run_chunks
from tqdm import tqdm

# Number of poses that are checked at a time.
BLOCK = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, files, start, engine and part."""
    table = f"""
    --goals FILE  input file with poses: .csv or .npy (required)
    --link LINK  link of the poses; may be repeated
    -o --out FILE  output file: .csv (required)
    --restarts N  random restarts; [default: {SolverOptions().restarts}]
    """
    existing = """
    --resume  continue an output file
    --overwrite  replace an output file
    """
    shared.add_robot_arguments(parser)
    shared.add_options(parser, table + shared.START)
    shared.add_collision_arguments(parser)
    shared.add_engine_arguments(parser, chunk=True)
    shared.add_options(parser.add_mutually_exclusive_group(), existing)
    parser.set_defaults(goal=[])


def run(args: argparse.Namespace) -> int:
    """Solve the problems part by part and return the exit code."""
    arguments, avoiding = shared.parse_goal_arguments(args), shared.collision_options(args)
    options = SolverOptions(restarts=args.restarts, **avoiding)
    shared.check_outputs(args, [('-o', args.out)], [args.goals])
    robot = shared.robot_of(args)
    q0, poses = arguments.of(robot)[1], _poses_of(args, robot)
    rows = range(len(next(iter(poses.values()))[0]))
    solver = Solver(robot, options)
    work = solver.batch_work(poses)
    solver.warm()
    with shared.engine_of(args) as (executor, threads, limit):
        answers = AnswerTable(
            Path(args.out),
            answer_header(robot, poses),
            resume=args.resume,
            overwrite=args.overwrite,
        )
        before = answers.row_count
        if before > len(rows):
            raise DescriptionError(f'{before} results for {len(rows)} poses', source=args.out)
        if before > 0:
            last = {
                name: (p[before - 1 :][:1], r[before - 1 :][:1]) for name, (p, r) in poses.items()
            }
            if _answers(work, (last, q0, 1))[0] != answers.last:
                why = 'its last row is no answer of this robot to this pose with these options'
                raise DescriptionError(f'cannot be continued: {why}', source=args.out)
        began, size = perf_counter(), limit or part_size(len(rows) - before, executor, threads)

        def chunks() -> Iterator[tuple[range, Any]]:
            # Only the parts that are being solved are copied: poses may be maps of files.
            for own in (rows[at : at + size] for at in range(before, len(rows), size)):
                cut = slice(own.start, own.stop)
                part = {name: (p[cut], r[cut]) for name, (p, r) in poses.items()}
                yield own, (part, q0, threads)

        # The bar is shown only if standard error is a terminal, and removed at the end.
        with tqdm(total=len(rows), initial=before, miniters=1, disable=None, leave=False) as bar:
            parts = run_chunks(
                executor, _answers, work, chunks(), lambda done: bar.update(before + done - bar.n)
            )
            try:
                with closing(parts):
                    for text, counts in parts:
                        answers.add(text, counts)
            except KeyboardInterrupt:
                done = f'{answers.row_count} of {len(rows)} are in {answers.part}'
                print(f'ik_node batch: {done}; --resume continues', file=sys.stderr)
                raise
        answers.finish()
        spent = perf_counter() - began
    print(_in_words(answers, len(rows) - before, spent))
    return 0 if answers.counts['CONVERGED'] == len(rows) else 1


def _answers(work: BatchWork, part: tuple[Any, Array, int]) -> tuple[bytes, Counter[str]]:
    """Solve a part in this process or a worker, and return its rows and counts."""
    poses, q0, threads = part
    return answer_rows(solve_batch(work, poses, q0, threads), tuple(poses))


def _poses_of(args: argparse.Namespace, robot: Robot) -> dict[str, tuple[Array, Array]]:
    """Read and check all poses, and add their goals to the robot."""
    path = Path(args.goals)
    if not path.is_file():
        raise DescriptionError('no such file', source=args.goals)
    table = read_goal_table(path, args.link)
    for link, goals in table.items():
        robot.add_goal(link, name=link, dof='X Y Z EX EY EZ' if goals.turned else 'X Y Z')
    poses = {link: (goals.positions, goals.quats_xyzw) for link, goals in table.items()}
    for first in range(0, len(next(iter(poses.values()))[0]), BLOCK):
        block = slice(first, first + BLOCK)
        many_poses({link: (p[block], r[block]) for link, (p, r) in poses.items()}, first=first)
    return poses


def _in_words(answers: AnswerTable, fresh: int, spent: float) -> str:
    counts = ', '.join(f'{count} {name}' for name, count in sorted(answers.counts.items()))
    rate = f' ({fresh} in {spent:.2f} s, {fresh / spent:.0f}/s)' if fresh else ''
    return f'{counts or "no poses"}{rate}'
