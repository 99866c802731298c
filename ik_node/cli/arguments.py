"""Command line arguments that several commands share, and their checks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import re
import sys
from typing import Any, NamedTuple

from ik_node.description.files import found_by_name, similar_file
from ik_node.description.xacro_source import XACRO_SECONDS
from ik_node.display import say
from ik_node.errors import DescriptionError, IkError, OptionError, UnknownFrameError
from ik_node.model.bodies import LARGEST
from ik_node.model.collisions import CONTACT
from ik_node.robot import load_robot, Robot
from ik_node.solver import SolverOptions
from ik_node.solver.batch.engines import ENGINES, open_engine, thread_count
from ik_node.whole_file import check_writable as can_be_written
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Types of the values of options by the names of the values; others are text.
TYPES: dict[str, Callable[[str], Any]] = dict.fromkeys(['M', 'S', 'HZ', 'W', 'X', 'MIN'], float)
TYPES['N'] = int
DEFAULT = r'\[default: (.*?)\]'
START = """
    --start JOINT=VALUE...  initial joint values [rad or m]; may be repeated
    """
ROBOT_HELP = 'file with the robot description, or a robot of ik_node by name, such as hexapod'


def robot_file(text: str) -> str:
    """Return the path of an installed robot for its name, or the text unchanged."""
    return str(found_by_name(text))


def add_options(parser: argparse._ActionsContainer, table: str) -> None:
    """
    Add the options of a table, whose rows have the form that docopt reads.

    A row is an option with the name of its value, two spaces, and the help, which may go on in
    rows without a dash. `...` after the value stands for several words, `[...]` for any number of
    them, and words joined by | are all that is allowed. The help says `(required)`, `may be
    repeated` and `[default: VALUE]`.
    """
    for row in re.split(r'\n\s*(?=-)', f'\n{table}')[1:]:
        option, _, text = row.partition('  ')
        about, words = ' '.join(text.split()).removesuffix(' (required)'), option.split()
        names = [word for word in words if word.startswith('-')]
        value = ' '.join(words[len(names) :])
        if not value:
            parser.add_argument(*names, action='store_true', help=about)
            continue
        name = re.sub(r'\[(\w+)\.\.\.\]$|\.\.\.$', r'\1', value)
        kind = TYPES.get(name.split()[0], str)
        nargs: Any = '*' if value.endswith('...]') else '+' if value.endswith('...') else None
        if nargs is None and ' ' in name:
            nargs = len(name.split())
        repeated = 'may be repeated' in about
        default = re.search(DEFAULT, about)
        parser.add_argument(
            *names,
            action=('extend' if nargs else 'append') if repeated else 'store',
            nargs=nargs,
            metavar=tuple(name.split()) if isinstance(nargs, int) else name,
            type=kind,
            choices=name.split('|') if '|' in name and name.islower() else None,
            default=kind(default[1]) if default else [] if repeated else None,
            required='(required)' in text,
            help=re.sub(DEFAULT, r'default \1', about),
        )


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ROBOT and the options for reading it."""
    parser.add_argument('robot', metavar='ROBOT', type=robot_file, help=ROBOT_HELP)
    add_reading_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add --closures and --xacro-seconds."""
    table = f"""
    --closures FILE  closure annotations, which replace the loops in the description
    --xacro-seconds S  time limit for the expansion of a xacro file [s]; [default: {XACRO_SECONDS}]
    """
    add_options(parser, table)


# A pair that is nearer than this beyond the margin is at the margin [m].
AT_MARGIN = 1e-4
SRDF = """
    --srdf FILE  SRDF with pairs of links that may touch; the others are kept apart
    """


def add_collision_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --srdf, --obstacles, --avoid-collisions and --margin."""
    table = f"""{SRDF}
    --obstacles FILE  YAML file of obstacles to keep away from, see docs/collisions.md
    --avoid-collisions  keep bodies apart also without --srdf and --obstacles
    --margin M  least distance of bodies that are kept apart [m]; default: 0
    """
    add_options(parser, table)


def collision_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the solver options that the arguments about collisions state."""
    options: dict[str, Any] = {}
    if args.avoid_collisions or args.margin is not None:
        options['avoid_collisions'] = True
    if args.margin is not None:
        if not 0.0 <= args.margin <= LARGEST:
            raise OptionError('--margin', args.margin, f'a number from 0 to {LARGEST:g} [m]')
        options['collision_margin'] = args.margin
    return options


def bodies_text(robot: Robot, options: SolverOptions, configurations: Array, what: str) -> str:
    """
    Return how many configurations (n, nq) [rad or m] are in contact or at the margin, as text.

    `what` names them. The text is empty if collisions are not avoided.
    """
    collisions, margin = robot.collisions, options.collision_margin
    if not collisions.avoided(options.avoid_collisions):
        return ''
    found = (collisions.nearest(q, margin + options.influence_distance) for q in configurations)
    near = [each for each in found if each is not None]
    touching = sum(each.d < margin - CONTACT for each in near)
    held = sum(each.d < margin + AT_MARGIN for each in near) - touching
    least = f', {min(near, key=lambda each: each.d)}' if near else ''
    return f'; bodies: {touching} {what} in contact, {held} at the margin{least}'


def check_files(*paths: str | None) -> None:
    """Raise DescriptionError for the first file that does not exist; None = not given."""
    for path in paths:
        if path is not None and not Path(path).exists():
            near = similar_file(Path(path))
            mean = f'; did you mean {near}?' if near else ''
            raise DescriptionError(f'no such file{mean}', source=path)


def check_outputs(
    args: argparse.Namespace,
    outputs: Iterable[tuple[str, str | Path | None]],
    inputs: Iterable[str | Path | None] = (),
) -> None:
    """
    Raise OptionError if an output is an input or another output, also by a link or another path.

    The robot and the files beside it in `args` are inputs; `outputs` are pairs of an option and
    its file; None = not given.
    """
    beside = (getattr(args, 'srdf', None), getattr(args, 'obstacles', None))
    read = (args.robot, args.closures, *beside, *inputs)
    taken = {_identity(path): 'the input' for path in read if path is not None}
    for option, path in outputs:
        if path is not None:
            other = taken.setdefault(_identity(path), option)
            if other != option:
                raise OptionError(option, str(path), f'another file than {other}')


def _identity(path: str | Path) -> object:
    """Return a value that is equal for all paths of one file, which need not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


def check_writable(option: str, name: str) -> None:
    """Raise OptionError if a file cannot be written, before results for it are computed."""
    try:
        can_be_written(name)
    except OSError as error:
        raise OptionError(option, name, f'a file that can be written: {error.strerror}') from None


def robot_of(args: argparse.Namespace, *, assemble: bool = True) -> Robot:
    """Load the robot and the obstacles of the arguments; close its loops, with `assemble`."""
    srdf, obstacles = getattr(args, 'srdf', None), getattr(args, 'obstacles', None)
    check_files(args.robot, args.closures, srdf, obstacles)
    robot = load_robot(
        Path(args.robot),
        closures=args.closures,
        assemble=assemble,
        xacro_seconds=args.xacro_seconds,
        srdf=srdf,
        obstacles=obstacles,
    )
    if robot.collisions.obstacles and not robot.collisions.pairs:
        say(f'note: {args.robot} has no bodies that could touch obstacles', file=sys.stderr)
    return robot


_NO_TURN = (0.0, 0.0, 0.0, 1.0)


class GoalArguments(NamedTuple):
    """The goals and start values on the command line."""

    # Link name, and position [m] with or without quaternion xyzw.
    goals: list[tuple[str, tuple[float, ...]]]
    starts: list[tuple[str, float]]  # Name and value [rad or m] of a joint.

    def of(self, robot: Robot) -> tuple[dict[str, Any], NDArray[np.float64]]:
        """
        Add the goals to a robot.

        Return their poses by name, which is that of the link, and the start configuration (nq,)
        [rad or m].
        """
        q, names = robot.q, list(robot.joint_names)
        for name, value in self.starts:
            if name not in names:
                raise UnknownFrameError(name, names, kind='joint')
            q[names.index(name)] = value
        poses: dict[str, Any] = {}
        for link, numbers in self.goals:
            if link in poses:
                raise OptionError('--goal', link, 'one goal per link')
            turned = len(numbers) == 7
            robot.add_goal(link, name=link, dof='X Y Z EX EY EZ' if turned else 'X Y Z')
            poses[link] = (numbers[:3], numbers[3:] if turned else _NO_TURN)
        return poses, q


def add_goal_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --goal and --start."""
    table = """
    --goal LINK:x,y,z[,qx,qy,qz,qw]  pose of a link in the root frame [m]; without a quaternion the
        orientation is free; may be repeated; without goals only the loops are closed
    """
    add_options(parser, table + START)


def parse_goal_arguments(args: argparse.Namespace) -> GoalArguments:
    """Parse the goals and start values."""
    return GoalArguments(
        [_goal(text) for text in args.goal], [joint_value(text) for text in args.start]
    )


def _goal(text: str) -> tuple[str, tuple[float, ...]]:
    """Parse LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw."""
    link, colon, numbers = text.rpartition(':')
    try:
        values = tuple(float(number) for number in numbers.split(','))
    except ValueError:
        values = ()
    if not (link and colon) or len(values) not in (3, 7):
        raise OptionError('--goal', text, 'LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw')
    return link, values


def joint_value(text: str, option: str = '--start') -> tuple[str, float]:
    """Parse JOINT=VALUE, which was given for an option."""
    name, _, value = text.rpartition('=')
    try:
        number = float(value)
    except ValueError:
        number = float('nan')
    if not name or number != number:
        raise OptionError(option, text, 'JOINT=VALUE')
    return name, number


def add_engine_arguments(parser: argparse.ArgumentParser, *, chunk: bool = False) -> None:
    """Add --engine, --workers, --address and --threads; with `chunk` also --chunk."""
    table = f"""
    --engine {'|'.join(ENGINES)}  what solves the problems; dask also on other machines;
        [default: threads]
    --workers N  worker processes; default: one per core
    --address HOST:PORT  address of a running Dask cluster
    --threads N  threads; default: one per core. With another engine: threads per worker, default 1
    """
    chunk_row = '--chunk N  most problems that a worker takes at a time' if chunk else ''
    add_options(parser, table + chunk_row)


@contextmanager
def engine_of(args: argparse.Namespace) -> Iterator[tuple[Executor | None, int, int | None]]:
    """
    Open the engine that the arguments name.

    Yields the executor (None = the threads of this process), the number of threads per worker, and
    the largest number of problems per chunk (None = chosen).
    """
    alone = args.engine == 'threads'
    threads = 1 if args.threads is None and not alone else thread_count(args.threads)
    chunk = getattr(args, 'chunk', None)
    limit = None if chunk is None else thread_count(chunk, 'chunk')
    with open_engine(args.engine, args.workers, args.address) as executor:
        yield executor, threads, limit


def need_rclpy() -> None:
    """Raise an IkError that describes the installation if rclpy is not installed."""
    if importlib.util.find_spec('rclpy') is None:
        raise IkError(
            'rclpy is not installed: source a ROS 2 installation, or run `make setup` in a '
            'checkout and use .venv/bin/ik_node'
        )
