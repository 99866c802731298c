"""
Where a link can be brought to: a slice of the workspace, as a picture and a table.

Every point of a grid in a plane is a goal for the position of the link, loops closed and limits
kept. The picture shows what is reached, in the colour of the conditioning: the smallest over the
largest speed that the motors give the link, 0 where it cannot be moved in some direction, 1 where
all are alike. The table, a CSV file, has a row for every point: x y z [m], the status, how far off
the nearest answer is, [m] and [rad], starts spent, and the conditioning.

Without -o and --plot both files are written here, by the names of the robot and the link. Exit
code 1 if no point is reached. Ctrl-C writes what is known by then.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
import re
import sys
from time import perf_counter

from ik_node.cli.goal_arguments import parse_goal_arguments
from ik_node.cli.robot_arguments import add_robot_arguments, robot_of
from ik_node.cli.workspace.find import ReachFinder
from ik_node.cli.workspace.map import PLANES, ReachMap, Slice
from ik_node.cli.workspace.outline import Outline
from ik_node.description.unknown_name import unknown
from ik_node.errors import DescriptionError, OptionError
from ik_node.model.dof import DOF, parse_dofs
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.analysis.conditioning import conditioning
from ik_node.solver.batch.batch_run import thread_count
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

COLUMNS = (
    'x',
    'y',
    'z',
    'status',
    'position_error',
    'orientation_error',
    'starts',
    'conditioning',
)


def write_table(
    path: Path, found: ReachMap, measure: NDArray[np.float64], asked: str, joints: list[str]
) -> int:
    """
    Write every point that was tried.

    Parameters
    ----------
    path : Path
        Of the file.
    found : ReachMap
        What it is about.
    measure : ndarray, shape (N,)
        Conditioning; NaN where the link does not come.
    asked : str
        Axes of the position that were asked for, as in 'xyz'; the others stay empty.
    joints : list of str
        Columns for the joint values; none = without them.

    Returns
    -------
    int
        Of rows.

    """
    rows = np.flatnonzero(found.status >= 0)
    columns: list[list[object]] = [
        column.tolist() if axis in asked else [''] * len(rows)
        for axis, column in zip('xyz', found.points.points[rows].T, strict=True)
    ]
    columns.append([Status(status).name for status in found.status[rows].tolist()])
    columns += [
        column[rows].tolist()
        for column in (found.position_error, found.orientation_error, found.starts)
    ]
    columns.append([value if value == value else '' for value in measure[rows].tolist()])
    if joints:
        columns += found.q[rows].T.tolist()
    with path.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow([*COLUMNS, *joints])
        writer.writerows(zip(*columns, strict=True))
    return len(rows)


GRID, MOST_GRID, RESTARTS = 120, 1000, 20
# Configurations at which it is tried whether the link can be moved at will.
_LOOKED_AT, _STUCK = 20, 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the link, the slice and the files."""
    add_robot_arguments(parser)
    parser.add_argument('--link', required=True, metavar='L', help='whose reach it is')
    parser.add_argument(
        '--plane',
        metavar='|'.join(PLANES),
        help='default: the one the link moves in, or the upright one through where it is',
    )
    parser.add_argument(
        '--at', type=float, metavar='M', help='third coordinate [m]; default: that of the link'
    )
    parser.add_argument(
        '--extent',
        type=float,
        nargs=4,
        metavar=('MIN', 'MAX', 'MIN', 'MAX'),
        help='of the grid, along both axes of the plane [m]; default: all that is reached',
    )
    parser.add_argument(
        '--grid', type=int, default=GRID, metavar='N', help=f'points a side; default {GRID}'
    )
    parser.add_argument(
        '--dof',
        default='X Y Z',
        metavar='AXES',
        help='what is asked of the link, some of X Y Z EX EY EZ; turns as at the start; without '
        'the third axis the plane is a screen onto which all is projected; default X Y Z',
    )
    parser.add_argument(
        '--start', nargs='+', default=[], metavar='JOINT=VALUE', help='where to start [rad or m]'
    )
    parser.add_argument(
        '--restarts', type=int, default=RESTARTS, metavar='N', help=f'default {RESTARTS}'
    )
    parser.add_argument('--threads', type=int, metavar='N', help='default: one for every core')
    parser.add_argument('-o', '--out', metavar='FILE', help='the table: .csv')
    parser.add_argument('--joints', action='store_true', help='joint values in the table, too')
    parser.add_argument('--plot', metavar='F.png', help='the picture')
    parser.set_defaults(goal=[])


def run(args: argparse.Namespace) -> int:
    """Find the slice, solve for its points, write the files."""
    asked, options = parse_goal_arguments(args), SolverOptions(restarts=args.restarts)
    dofs, threads = parse_dofs(args.dof, '--dof'), thread_count(args.threads)
    if not 2 <= args.grid <= MOST_GRID:
        raise OptionError('--grid', args.grid, f'a whole number from 2 to {MOST_GRID}')
    robot = robot_of(args)
    if args.link not in robot.links:
        raise DescriptionError(unknown('link', args.link, [*robot.links]), source=args.robot)
    table, picture = _files(args, robot)
    draw = None
    if picture is not None:
        from ik_node.cli.workspace.plot import reach_plot  # matplotlib is slow to import

        draw = reach_plot(str(picture))
    closed = Solver(robot).solve_pose({}, q0=asked.of(robot)[1])
    if closed.status is not Status.CONVERGED:
        print(f'ik_node reach: the loops are open at the start: {closed.message}', file=sys.stderr)
        return 1
    robot.q = closed.q
    began = perf_counter()
    finder = ReachFinder(robot, args.link)
    points = _slice(args, finder, dofs)
    goal = robot.add_goal(args.link, name=f'reach of {args.link}', dof=args.dof)
    solver = Solver(robot, options)
    counted = [dof for dof in dofs if not dof.is_rotation and dof.name.lower() in finder.moves]
    ease = conditioning(solver, goal.name, finder.samples[:_LOOKED_AT], dofs, counted)
    if ease.max() < _STUCK:
        free = f'one that can be moved along {args.dof} at will'
        raise OptionError('--link', args.link, f'{free}; this one keeps to a curve or a surface')
    found = ReachMap(solver, goal.name, goal.quaternion, points, robot.q, threads)
    stopped = False
    try:
        # A bar only where standard error is a terminal, and not after the end.
        with tqdm(total=len(found.q), miniters=1, disable=None, leave=False) as bar:
            found.fill(points.nearest(finder.home), lambda done, _: bar.update(done - bar.n))
    except KeyboardInterrupt:
        stopped = True
    if stopped and not (found.status >= 0).any():
        raise KeyboardInterrupt
    outline = Outline(found, refine=not stopped)
    measure = np.full(len(found.q), np.nan)
    measure[found.reached] = conditioning(
        solver, goal.name, found.q[found.reached], dofs, counted, robot.actuated
    )
    if table is not None:
        axes = ''.join(dof.name.lower() for dof in dofs if not dof.is_rotation)
        names = robot.joint_names if args.joints else []
        write_table(table, found, measure, axes, names)
    if draw is not None:
        draw(robot, args.link, found, outline, measure)
    text = _in_words(found, outline, perf_counter() - began)
    written = ', '.join(str(path) for path in (table, picture) if path is not None)
    if stopped:
        print(f'ik_node reach: stopped; {text} is in {written}', file=sys.stderr)
        return 130
    print(f'{text}; {written}')
    return 0 if found.reached.any() else 1


def _files(args: argparse.Namespace, robot: Robot) -> tuple[Path | None, Path | None]:
    """
    Return the paths of the table and the picture.

    Raises
    ------
    OptionError
        If one cannot be written.

    """
    out, plot = args.out, args.plot
    if out is None and plot is None:
        stem = re.sub(r'[^\w.-]+', '_', f'{robot.name}_{args.link}_reach')
        out, plot = f'{stem}.csv', f'{stem}.png'
    for option, name in (('-o', out), ('--plot', plot)):
        if name is None:
            continue
        path = Path(name)
        there = path.exists()
        try:
            with path.open('ab'):
                pass
        except OSError as error:
            raise OptionError(
                option, name, f'a file that can be written: {error.strerror}'
            ) from None
        if not there:
            path.unlink()
    return None if out is None else Path(out), None if plot is None else Path(plot)


def _slice(args: argparse.Namespace, finder: ReachFinder, dofs: tuple[DOF, ...]) -> Slice:
    """
    Return the slice that is asked for, what is not said chosen.

    Raises
    ------
    OptionError
        If it makes no sense.

    """
    plane = finder.plane(args.plane)
    at = finder.at(plane, args.at)
    names = {dof.name.lower() for dof in dofs}
    if not names >= {*plane}:
        needed = ' and '.join(plane.upper())
        raise OptionError('--dof', args.dof, f'axes with {needed} among them, those of the plane')
    (third,) = set('xyz') - set(plane)
    projected = third not in names
    if args.extent is None:
        extent = finder.extent(plane, None if projected else at)
        return Slice(plane, at, extent, args.grid, projected)
    left, right, low, high = args.extent
    if not (np.isfinite(args.extent).all() and left < right and low < high):
        raise OptionError('--extent', args.extent, 'finite MIN below MAX, for both axes [m]')
    return Slice(plane, at, (left, right, low, high), args.grid, projected)


def _in_words(found: ReachMap, outline: Outline, spent: float) -> str:
    reached, decided = np.count_nonzero(found.reached), np.count_nonzero(found.decided)
    rest = f' (of {len(found.q)} in all)' if decided < len(found.q) else ''
    return (
        f'{reached} of {decided} points reached{rest}, {outline.area:.4g} m^2, '
        f'{found.points.name}, in {spent:.1f} s'
    )
