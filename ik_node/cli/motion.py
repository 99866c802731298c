"""
Let a robot follow the motion of key points, such as a motion capture of a person.

Input: CSV with the columns time [s] and NAME.x NAME.y NAME.z of each key point, with orientation
also NAME.qx NAME.qy NAME.qz NAME.qw; NPZ with an array of the same columns for each key point, and
times; or BVH. Several files, or a folder, are solved as many paths. --map names a YAML file: which
link follows which key point, with scale, offset, weight and dof. Without --map, links follow the
key points that have their names.

Usually the goals conflict: in every frame the robot is as near to them as possible, with closed
loops and within limits. With --exact, each goal that is not met is a failure.

Output: NPZ or CSV with times and joint values, for several motions one file each in a folder; with
--bag a bag of ROS 2, with --preview a moving picture of the first motion. Frames that failed are
listed with their reasons, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
import sys
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.cli import arguments as shared
from ik_node.cli.answer_table import answer_header, answer_rows, AnswerTable
from ik_node.display import say
from ik_node.errors import DescriptionError, OptionError
from ik_node.model.rotation import Array
from ik_node.motion.mapping import read_map, same_names
from ik_node.motion.read import MotionFile, read_motion, SUFFIXES
from ik_node.motion.write import free_output, write_bag, write_npz
from ik_node.robot import Robot
from ik_node.scene.preview import check_preview, write_preview
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.batch.batch_solution import PathSolution
from ik_node.whole_file import whole_file
import numpy as np
from tqdm import tqdm

EPILOG = """examples:
  ik_node motion humanoid.urdf --motion walk.bvh --map map.yaml -o walk.npz --bag walk_bag
  ik_node motion humanoid.urdf --motion clips/*.bvh --map map.yaml -o solved --preview first.gif
"""
# Time between frames if neither the file nor an option states it [s].
USUAL_DT = 1.0 / 60.0
# Times of a file whose steps differ by less than this share count as evenly spaced.
EVEN = 1e-3
# Number of motions that are in memory at once.
BLOCK = 64
# Most failures that are listed.
MOST_FAILURES = 20
# Usual weight of the change of the joints: without it, joints would jump where goals leave them
# nearly free.
SMOOTHING = 1e-3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, motions, mapping, outputs and options."""
    table = f"""
    --motion FILE...  motions: files that end in {' '.join(SUFFIXES)}, or folders with such files
        (required)
    --map MAP.yaml  mapping of key points to links
    -o --out OUT  output: a file that ends in .npz or .csv; for several motions a folder
    --format npz|csv  format of the files in a folder; [default: npz]
    --smoothing W  weight of the change of the joints from frame to frame, beside the goals; not
        with --exact; [default: {SMOOTHING:g}]
    --preview FILE  moving picture, .gif
    --bag DIR  bag of ROS 2; for several motions a folder of bags
    --resume  leave out motions whose outputs exist
    --overwrite  replace existing outputs
    """
    rate = """
    --dt S  time between frames [s]
    --fps HZ  frames per second; the default is what the file states, else 60
    """
    goals = """
    --compromise  goals may conflict: as near to all of them as possible (default)
    --exact  a goal that is not met is a failure
    """
    shared.add_robot_arguments(parser)
    shared.add_collision_arguments(parser)
    shared.add_options(parser, table)
    for alternatives in (rate, goals):
        shared.add_options(parser.add_mutually_exclusive_group(), alternatives)
    shared.add_engine_arguments(parser)
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Solve the motions and return the exit code."""
    paths, avoiding = _motion_paths(args.motion), shared.collision_options(args)
    robot = shared.robot_of(args)
    dt = _given_dt(args)
    mapping = read_map(Path(args.map)) if args.map else same_names(read_motion(paths[0]), robot)
    mapping.add_goals(robot)
    outputs = _Outputs(args, paths)
    total = len(paths)
    paths = [path for path in paths if not outputs.has(path)]
    solver = Solver(robot, SolverOptions(compromise=not args.exact, **avoiding))
    solver.warm()
    smoothing = None if args.exact else args.smoothing
    frames, failed, spent = 0, 0, 0.0
    failures: list[str] = []
    solved_q: list[Array] = []
    counts = robot.collisions.avoided(solver.options.avoid_collisions)
    with (
        shared.engine_of(args) as (executor, threads, _),
        # The bar is shown only if standard error is a terminal, and removed at the end.
        tqdm(unit=' frames', miniters=1, disable=None, leave=False) as bar,
    ):
        for first in range(0, len(paths), BLOCK):
            motions = [read_motion(path) for path in paths[first : first + BLOCK]]
            for group in _groups(motions, dt):
                poses = [mapping.poses(motion) for motion in group.motions]
                began = perf_counter()
                solved = solver.solve_paths(
                    poses,
                    dt=group.dt,
                    times=group.times,
                    smoothing=smoothing,
                    threads=threads,
                    executor=executor,
                    progress=partial(_show, bar, bar.n),
                )
                spent += perf_counter() - began
                solved_q += [solved.q] * counts
                for index, motion in enumerate(group.motions):
                    frames += len(solved[index])
                    outputs.write(motion.path, robot, solved[index], poses[index])
                for index, begin, end, reason in solved.failures:
                    failed += end - begin + 1
                    name = group.motions[index].path.name
                    failures.append(f'{name}: frames {begin} to {end}: {reason}')
    _report(failures)
    what = f'{total} motions' if total > 1 else str(args.motion[0])
    if len(paths) < total:
        what += f', {total - len(paths)} of them done before'
    text = shared.bodies_text(robot, solver.options, np.vstack([robot.q, *solved_q])[1:], 'frames')
    say(f'{what}: {frames - failed} of {frames} frames solved in {spent:.2f} s{text}')
    return 1 if failed else 0


class _Group(NamedTuple):
    """Motions that are solved in one call: all evenly spaced with the same step, or only one."""

    motions: list[MotionFile]
    dt: float
    times: Any = None


def _groups(motions: Sequence[MotionFile], dt: float | None) -> list[_Group]:
    """Return the motions grouped by their time steps."""
    even: dict[float, _Group] = {}
    groups: list[_Group] = []
    for motion in motions:
        step = USUAL_DT if dt is None else dt
        if dt is None and motion.times is not None and len(motion.times) > 1:
            steps = np.diff(motion.times)
            step = float(np.mean(steps))
            if np.ptp(steps) > EVEN * step:
                groups.append(_Group([motion], step, motion.times))
                continue
        # Steps of rounded times differ in the last digits.
        group = even.setdefault(float(f'{step:.6g}'), _Group([], step))
        group.motions.append(motion)
    return [*even.values(), *groups]


class _Outputs:
    """The output files of all motions, which are checked before anything is solved."""

    def __init__(self, args: argparse.Namespace, paths: Sequence[Path]) -> None:
        self._overwrite, self._resume = args.overwrite, args.resume
        if args.resume and (args.overwrite or not args.out):
            raise OptionError('--resume', True, 'with -o, and without --overwrite')
        self._tables: dict[Path, Path] = {}
        self._bags: dict[Path, Path] = {}
        self._preview = Path(args.preview) if args.preview else None
        self._first = paths[0]
        many = len(paths) > 1 or len(args.motion) > 1 or Path(args.motion[0]).is_dir()
        stems = [path.stem for path in paths]
        twice = next((stem for stem in stems if stems.count(stem) > 1), None)
        if many and twice is not None and (args.out or args.bag):
            raise OptionError('--motion', twice, 'files with different names')
        if args.out:
            out = Path(args.out)
            if not many and out.suffix.lower() not in ('.npz', '.csv'):
                raise OptionError('-o', args.out, 'a file that ends in .npz or .csv')
            if many and out.suffix.lower() in ('.npz', '.csv'):
                raise OptionError('-o', args.out, f'a folder for {len(paths)} motions')
            for path in paths:
                self._tables[path] = out / f'{path.stem}.{args.format}' if many else out
        if args.bag:
            for path in paths:
                self._bags[path] = Path(args.bag) / path.stem if many else Path(args.bag)
        outputs = [('-o', table) for table in self._tables.values()]
        outputs += [('--bag', bag) for bag in self._bags.values()]
        inputs = [*paths, *([args.map] if args.map else [])]
        shared.check_outputs(args, [*outputs, ('--preview', self._preview)], inputs)
        if self._preview is not None:
            check_preview(self._preview)
            free_output('--preview', self._preview, overwrite=self._overwrite)
        for option, each in (('-o', self._tables), ('--bag', self._bags)):
            for path, output in each.items():
                if self.has(path):
                    continue
                # A bag without its table is that of a motion that was not finished.
                free_output(option, output, overwrite=self._overwrite or self._resume)

    def has(self, path: Path) -> bool:
        """Return True if the outputs of a motion exist and are to be kept."""
        return self._resume and self._tables[path].is_file()

    def write(self, path: Path, robot: Robot, solved: PathSolution, poses: Any) -> None:
        """Write all outputs of a motion; a table that exists is complete, and the last of them."""
        if path in self._bags:
            write_bag(self._bags[path], robot, solved)
        table = self._tables.get(path)
        if table is not None:
            with whole_file(table) as part:
                self._write_table(part, robot, solved)
        if self._preview is not None and path == self._first:
            places = {name: positions for name, (positions, _) in poses.items()}
            with (
                tqdm(desc='preview', unit=' pictures', disable=None, leave=False) as bar,
                whole_file(self._preview) as part,
            ):
                write_preview(
                    part, robot, solved, places, lambda done, _: bar.update(done - bar.n)
                )

    @staticmethod
    def _write_table(table: Path, robot: Robot, solved: PathSolution) -> None:
        if table.suffix.lower() == '.csv':
            goals = list(solved.goal_errors)
            header = answer_header(robot, goals, timed=True)
            answers = AnswerTable(table, header, resume=False, overwrite=True)
            answers.add(*answer_rows(solved, goals))
            answers.finish()
        else:
            write_npz(table, robot, solved)


def _motion_paths(given: Sequence[str]) -> list[Path]:
    """Return the motion files; a folder counts as the motions in it."""
    paths: list[Path] = []
    for name in given:
        path = Path(name)
        inside = [path]
        if path.is_dir():
            inside = sorted(each for each in path.iterdir() if each.suffix.lower() in SUFFIXES)
            if not inside:
                raise DescriptionError(f'no file ends in {" or ".join(SUFFIXES)}', source=name)
        elif not path.is_file():
            raise DescriptionError('no such file', source=name)
        paths += inside
    return paths


def _given_dt(args: argparse.Namespace) -> float | None:
    """Return the time between frames that the options state [s]; None = that of the files."""
    for option, value in (('--dt', args.dt), ('--fps', args.fps)):
        if value is not None and not 0.0 < value < float('inf'):
            raise OptionError(option, value, 'a number above 0')
    if args.fps is not None:
        return float(1.0 / args.fps)
    return None if args.dt is None else float(args.dt)


def _show(bar: Any, before: int, done: int, _: int) -> None:
    """Show the number of frames that are done."""
    bar.update(before + done - bar.n)


def _report(failures: Sequence[str]) -> None:
    for line in failures[:MOST_FAILURES]:
        say(line, file=sys.stderr)
    more = len(failures) - MOST_FAILURES
    if more > 0:
        print(f'and {more} more stretches of frames', file=sys.stderr)
