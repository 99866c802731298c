"""
Compute a slice of the workspace of a link, as a picture and a table.

Every point of a grid in a plane is a goal for the position of the link, with closed loops and
within limits. The picture shows the reached points, coloured by conditioning: the ratio of the
smallest to the largest speed of the link for a unit speed of the motors. It is 0 in a singular
pose and 1 if all directions are alike. The table, a CSV file, has a row for every point: x y z
[m], the status, the residuals of the nearest solution in [m] and [rad], the number of starts, and
the conditioning.

Without -o and --plot, both files are written to the current folder and named after the robot and
the link. The exit code is 1 if no point is reached. Ctrl-C writes the results so far.

With --singularities the map also has the curves on which the link loses a direction (type I) or
the motors lose control (type II), within limits: in the picture, as rows TYPE_I and TYPE_II of the
table, and in the file of a volume.

With --volume the map has cells in space, and with --orientations each of them has the share of
the orientations that the link reaches there. -o writes it to a file .npz or .h5. Given such a file
in place of ROBOT, --query looks up a point, and --targets finds the positions of the base from
which the link reaches most of the poses in a CSV file (x y z [m], qx qy qz qw).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
import csv
from pathlib import Path
import re
import sys
from time import perf_counter
from typing import Any

from ik_node.analysis.conditioning import conditioning
from ik_node.analysis.reach.files import check_suffix, is_map
from ik_node.analysis.reach.find import PLANES, ReachFinder
from ik_node.analysis.reach.grid import Slice
from ik_node.analysis.reach.outline import Outline
from ik_node.analysis.reach.search import CELL, ReachSearch
from ik_node.analysis.reach.singularities import SingularTracer
from ik_node.analysis.reach.spread import Show, Spread
from ik_node.analysis.reach.volume import curves_in_layer, ReachVolume, SingularCurve
from ik_node.cli import arguments as shared
from ik_node.cli.reach_plot import reach_plot, volume_plot
from ik_node.description.description import unknown
from ik_node.display import say
from ik_node.errors import DescriptionError, listed, OptionError
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.rotation import Array
from ik_node.motion.read import read_goal_table
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.batch.engines import thread_count
from ik_node.solver.singularities import KINDS
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

# Number of positions of the base that are printed.
SHOWN = 5


def compute_volume(args: argparse.Namespace) -> int:
    """Compute a volume, write the files and return the exit code."""
    arguments, avoiding = shared.parse_goal_arguments(args), shared.collision_options(args)
    orientations = None if args.orientations is None else _orientations(args.orientations)
    extent = None if args.extent is None else _extent(args.extent)
    for option, value in (('--plane', args.plane), ('--at', args.at)):
        if value is not None:
            raise OptionError(option, value, 'it without --volume')
    robot = shared.robot_of(args)
    path = Path(args.out or f'{default_stem(robot, args.link)}.npz')
    check_suffix(path, '-o')
    shared.check_writable('-o', str(path))
    draw = None
    if args.plot is not None:
        draw = volume_plot(args.plot)
        shared.check_writable('--plot', args.plot)
    poses, robot.q = arguments.of(robot)
    began = perf_counter()
    with shared.engine_of(args) as (executor, threads, _):
        search = ReachSearch(
            robot,
            args.link,
            cell=args.cell,
            extent=extent,
            orientations=orientations,
            goals=poses,
            restarts=args.restarts,
            avoiding=avoiding,
            threads=threads,
            executor=executor,
            singularities=args.singularities,
        )
        stopped = _with_bar(search.run)
    result = search.volume()
    if stopped and not result.reached.any():
        raise KeyboardInterrupt
    result.save(path)
    if draw is not None:
        draw(result)
    text = f'{result.describe()}, in {perf_counter() - began:.1f} s'
    options = SolverOptions(**avoiding)
    text += shared.bodies_text(robot, options, result.configurations, 'configurations')
    return report_end(text, (path, args.plot), result.reached.any(), stopped=stopped)


def _with_bar(run: Callable[[Show], None]) -> bool:
    """Run a search with a progress bar, and return True if Ctrl-C has stopped it."""
    try:
        # The bar is shown only if standard error is a terminal, and removed at the end.
        with tqdm(total=None, miniters=1, disable=None, leave=False) as bar:

            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            run(show)
    except KeyboardInterrupt:
        return True
    return False


def default_stem(robot: Robot, link: str) -> str:
    """Return the name of the output files without its ending."""
    return re.sub(r'[^\w.-]+', '_', f'{robot.name}_{link}_reach')


def report_end(
    text: str, paths: Iterable[str | Path | None], reached: object, *, stopped: bool
) -> int:
    """Print the result and the written files, and return the exit code."""
    written = ', '.join(str(path) for path in paths if path is not None)
    if stopped:
        print(f'ik_node reach: stopped; {text} is in {written}', file=sys.stderr)
        return 130
    say(f'{text}; {written}')
    return 0 if reached else 1


def query_volume(args: argparse.Namespace) -> int:
    """Answer a query to a stored map, or describe it, and return the exit code."""
    result = ReachVolume.load(args.robot)
    if args.targets is not None:
        return _place_base(result, args)
    if args.query is None:
        say(f'{result.robot}, {result.link}: {result.describe()}')
        return 0
    share = result.capability(args.query)
    q = result.q_at(args.query)
    if q is None:
        print('not reached')
        return 1
    of = '' if result.quats_xyzw is None else f' in {share:.0%} of the orientations'
    values = zip(result.joint_names, q.tolist(), strict=True)
    say(f'reached{of}; ' + ' '.join(f'{name}={value:.6g}' for name, value in values))
    return 0


def _place_base(result: ReachVolume, args: argparse.Namespace) -> int:
    """Find positions of the base, write all and print the best ones."""
    shared.check_files(args.targets)
    (table,) = read_goal_table(Path(args.targets), ['target']).values()
    if result.quats_xyzw is not None and not table.turned:
        raise DescriptionError('no orientations, which the map needs', source=args.targets)
    box = None
    if args.extent is not None:
        if len(args.extent) != 4:
            raise OptionError('--extent', args.extent, 'MIN MAX MIN MAX of x and y of the base')
        box = np.reshape(args.extent, (2, 2))
    if args.out is not None:
        shared.check_writable('-o', args.out)
    base = result.base_placement((table.positions, table.quats_xyzw), extent=box)
    if args.out is not None:
        every = base.best(base.counts.size)
        with whole_file(args.out) as part, part.open('w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(('x', 'y', 'yaw', 'targets'))
            writer.writerows((x, y, yaw, int(count)) for x, y, yaw, count in every.tolist())
    best = base.best(SHOWN).tolist()
    for x, y, yaw, count in best:
        print(f'{int(count)} of {base.total} targets: x {x:.4g} m, y {y:.4g} m, yaw {yaw:.4g} rad')
    return 0 if best[0][3] else 1


def _extent(given: list[float]) -> Array:
    if len(given) != 6:
        raise OptionError('--extent', given, 'MIN MAX of x, of y and of z for a volume')
    return np.reshape(given, (3, 2))


def _orientations(given: str) -> Any:
    """Return a number of directions, or the quaternions in a file."""
    if re.fullmatch(r'\d+', given):
        return int(given)
    shared.check_files(given)
    try:
        return np.loadtxt(given, delimiter=',', ndmin=2)
    except ValueError as error:
        raise DescriptionError(f'rows qx,qy,qz,qw expected: {error}', source=given) from None


COLUMNS = (*'xyz', 'status', 'position_error', 'orientation_error', 'starts', 'conditioning')


def write_table(
    path: Path,
    result: Spread[Slice],
    measure: NDArray[np.float64],
    axes: str,
    joints: list[str],
    curves: Sequence[SingularCurve] = (),
) -> None:
    """
    Write a row for every point that was tried, and for every point of a singular curve.

    `measure` is the conditioning, NaN for points that are not reached. Columns of axes that are
    not in `axes`, as in 'xyz', stay empty.
    """
    rows = np.flatnonzero(result.status >= 0)
    errors = result.position_error, result.orientation_error, result.starts
    numbers = (result.status, *errors, measure, result.q)
    tried = zip(*(each[rows].tolist() for each in numbers), strict=True)
    lines: list[Sequence[Any]] = [
        (Status(status).name, *rest, value if value == value else '', q)
        for status, *rest, value, q in tried
    ]
    points = [result.grid.points(rows), *[curve.points for curve in curves]]
    for kind, _, q, _ in curves:
        name = KINDS[kind].replace(' ', '_').upper()
        lines += [(name, 0.0, 0.0, 0, 0.0, values) for values in q.tolist()]
    with whole_file(path) as part, part.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow([*COLUMNS, *joints])
        for point, (*line, q) in zip(np.concatenate(points).tolist(), lines, strict=True):
            place = [point['xyz'.index(axis)] if axis in axes else '' for axis in 'xyz']
            writer.writerow([*place, *line, *(q if joints else ())])


GRID, MOST_GRID, RESTARTS = 120, 1000, 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the link, the slice or volume, its queries and the files."""
    table = f"""
    --link L  the link
    --plane PLANE  {', '.join(PLANES)}; default: the plane in which the link moves, or a vertical
        one through its position
    --at M  third coordinate [m]; default: that of the link
    --extent MIN MAX...  extent of the grid along both axes of the plane, or x, y and z of the
        volume [m]; default: all reachable points
    --grid N  points per side; [default: {GRID}]
    --dof AXES  constrained axes of the link, some of X Y Z EX EY EZ; rotations are those at the
        start; without the third axis of the plane, points are projected onto it; [default: X Y Z]
    --restarts N  random restarts; [default: {RESTARTS}]
    -o --out FILE  output file: a table .csv; a volume .npz or .h5
    --joints  add joint values to the table
    --plot F.png  output file of the picture
    --singularities  add the singular curves, type I and type II
    --volume  a map over positions in space
    --cell M  side of a cell [m]; [default: {CELL}]
    --orientations K|FILE  number of evenly spread directions of the link's z axis, or a CSV file
        of orientations qx qy qz qw; default: any orientation
    --goal LINK:x,y,z[,qx,qy,qz,qw]  pose that another link keeps, with --volume; may be repeated
    --query X Y Z  point in a stored map [m]
    --targets FILE  poses to find positions of the base for, .csv or .npy
    """
    shared.add_robot_arguments(parser)
    shared.add_options(parser, table + shared.START)
    shared.add_collision_arguments(parser)
    shared.add_engine_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compute a slice or a volume, or look up a stored one, and return the exit code."""
    outputs = [('-o', args.out), ('--plot', args.plot)]
    shared.check_outputs(args, outputs, [args.targets, args.orientations])
    if is_map(args.robot):
        return query_volume(args)
    if args.query is not None or args.targets is not None:
        option, value = '--query', args.query
        if value is None:
            option, value = '--targets', args.targets
        raise OptionError(option, value, 'with a stored map, .npz or .h5, in place of ROBOT')
    if args.link is None:
        links = listed([*shared.robot_of(args).links])
        raise DescriptionError(f'--link is missing; links: {links}', source=args.robot)
    if args.volume:
        return compute_volume(args)
    engine = None if args.engine == 'threads' else args.engine
    given = {'--orientations': args.orientations, '--goal': args.goal or None, '--engine': engine}
    for option, value in given.items():
        if value is not None:
            raise OptionError(option, value, 'with --volume only')
    return _compute_slice(args)


def _compute_slice(args: argparse.Namespace) -> int:
    """Choose the slice, solve for its points, write the files and return the exit code."""
    arguments, avoiding = shared.parse_goal_arguments(args), shared.collision_options(args)
    options = SolverOptions(restarts=args.restarts, **avoiding)
    dofs, threads = parse_dofs(args.dof, '--dof'), thread_count(args.threads)
    if not 2 <= args.grid <= MOST_GRID:
        raise OptionError('--grid', args.grid, f'a whole number from 2 to {MOST_GRID}')
    robot = shared.robot_of(args)
    if args.link not in robot.links:
        raise DescriptionError(unknown('link', args.link, [*robot.links]), source=args.robot)
    table, picture = _files(args, robot)
    draw = reach_plot(str(picture)) if picture is not None else None
    closed = Solver(robot, SolverOptions(**avoiding)).solve_pose({}, q0=arguments.of(robot)[1])
    if closed.status is not Status.CONVERGED:
        say(f'ik_node reach: the loops are open at the start: {closed.message}', file=sys.stderr)
        return 1
    robot.q = closed.q
    began = perf_counter()
    finder = ReachFinder(robot, args.link, robot.q)
    points = _slice(args, finder, dofs)
    finder.check_moves(args.dof)
    goal = robot.add_goal(args.link, name=f'reach of {args.link}', dof=args.dof)
    solver = Solver(robot, options)
    result = Spread(solver, goal.name, points, goal.quaternion[None], robot.q, threads=threads)
    first = np.array([points.closest(finder.home)])
    stopped = _with_bar(lambda show: result.fill(first, robot.q[None], show))
    if stopped and not (result.status >= 0).any():
        raise KeyboardInterrupt
    outline = Outline(result, refine=not stopped)
    measure = np.full(len(result.q), np.nan)
    measure[result.reached] = conditioning(
        solver, goal.name, result.q[result.reached], dofs, finder.counted(dofs), robot.actuated
    )
    curves: list[SingularCurve] = []
    if args.singularities and not stopped:
        *sides, third = points.axes
        at = None if points.projected else float(points.origin[third])
        box = np.array([(-np.inf, np.inf)] * 3)
        box[sides] = np.reshape(points.extent, (2, 2))
        step = float(np.ptp(box[sides], axis=1).max()) / GRID
        if at is not None:
            box[third] = at - 3.0 * step, at + 3.0 * step
        tracer = SingularTracer(robot, args.link, args.dof, finder.samples, goal.quaternion)
        curves = tracer.trace_layers({points.plane: [at]}, box, step)
        if at is not None:
            curves = curves_in_layer(curves, 'xyz'[third], at)
    if table is not None:
        axes = ''.join(dof.name.lower() for dof in dofs if not dof.is_rotation)
        names = robot.joint_names if args.joints else []
        write_table(table, result, measure, axes, names, curves)
    if draw is not None:
        draw(robot, args.link, result, outline, measure, curves)
    text = _in_words(result, outline, perf_counter() - began)
    text += shared.bodies_text(robot, options, result.q[result.reached], 'points')
    return report_end(text, (table, picture), result.reached.any(), stopped=stopped)


def _files(args: argparse.Namespace, robot: Robot) -> tuple[Path | None, Path | None]:
    """Return the paths of the table and the picture; None for a file that is not requested."""
    out, plot = args.out, args.plot
    if out is None and plot is None:
        stem = default_stem(robot, args.link)
        out, plot = f'{stem}.csv', f'{stem}.png'
    for option, name in (('-o', out), ('--plot', plot)):
        if name is not None:
            shared.check_writable(option, name)
    return None if out is None else Path(out), None if plot is None else Path(plot)


def _slice(args: argparse.Namespace, finder: ReachFinder, dofs: tuple[DOF, ...]) -> Slice:
    """Return the slice that the arguments describe, with defaults for missing ones."""
    plane = finder.plane(args.plane)
    coordinate = finder.at(plane, args.at)
    names = {dof.name.lower() for dof in dofs}
    if not names >= {*plane}:
        needed = ' and '.join(plane.upper())
        raise OptionError('--dof', args.dof, f'axes that include {needed}, the axes of the plane')
    (third,) = set('xyz') - set(plane)
    projected = third not in names
    if args.extent is None:
        extent = finder.extent(plane, None if projected else coordinate)
        return Slice.of(plane, coordinate, extent, args.grid, projected=projected)
    if len(args.extent) != 4:
        raise OptionError('--extent', args.extent, 'MIN MAX MIN MAX for a slice')
    left, right, low, high = args.extent
    if not (np.isfinite(args.extent).all() and left < right and low < high):
        raise OptionError('--extent', args.extent, 'finite MIN below MAX, for both axes [m]')
    return Slice.of(plane, coordinate, (left, right, low, high), args.grid, projected=projected)


def _in_words(result: Spread[Slice], outline: Outline, spent: float) -> str:
    reached, decided = np.count_nonzero(result.reached), np.count_nonzero(result.decided)
    rest = f' (of {len(result.q)} in all)' if decided < len(result.q) else ''
    return (
        f'{reached} of {decided} points reached{rest}, {outline.area:.4g} m^2, '
        f'{result.grid.name}, in {spent:.1f} s'
    )
