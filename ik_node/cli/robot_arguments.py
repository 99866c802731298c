"""Command line arguments for the robot, which several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import os
from pathlib import Path

from ik_node.description.files import found_by_name, similar_file
from ik_node.description.xacro_source import XACRO_SECONDS
from ik_node.errors import DescriptionError, OptionError
from ik_node.robot import load_robot, Robot
from ik_node.whole_file import check_writable as can_be_written

ROBOT_HELP = 'file with the robot description, or a robot of ik_node by name, such as hexapod'


def robot_file(text: str) -> str:
    """Return the path of an installed robot for its name, or the text unchanged."""
    return str(found_by_name(text))


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ROBOT and the options for reading it."""
    parser.add_argument('robot', metavar='ROBOT', type=robot_file, help=ROBOT_HELP)
    add_reading_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add --closures and --xacro-seconds."""
    parser.add_argument(
        '--closures',
        metavar='FILE',
        help='closure annotations, which replace the loops in the description',
    )
    parser.add_argument(
        '--xacro-seconds',
        metavar='S',
        type=float,
        default=XACRO_SECONDS,
        help='time limit for the expansion of a xacro file [s] (default: %(default)s)',
    )


def check_files(*paths: str | None) -> None:
    """
    Check that files on the command line exist; None = not given.

    Raise DescriptionError for the first one that does not exist.
    """
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
    Check that no output is an input or another output, also by a link or another path.

    `args`: arguments of the command; the robot and its closures are inputs. `outputs`: the output
    files, and their options for the message; None = not given. `inputs`: further inputs; None =
    not given. Raise OptionError for the first output that is another file of the command.
    """
    read = (args.robot, args.closures, *inputs)
    taken = {_identity(path): 'the input' for path in read if path is not None}
    for option, path in outputs:
        if path is not None:
            other = taken.setdefault(_identity(path), option)
            if other != option:
                raise OptionError(option, str(path), f'another file than {other}')


def _identity(path: str | Path) -> object:
    """Return a value that is equal for all paths of one file, which need not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def check_writable(option: str, name: str) -> None:
    """
    Check that a file can be written, before results for it are computed.

    Raise OptionError if not; the message names the option.
    """
    try:
        can_be_written(name)
    except OSError as error:
        raise OptionError(option, name, f'a file that can be written: {error.strerror}') from None


def robot_of(args: argparse.Namespace, *, assemble: bool = True) -> Robot:
    """
    Load the robot that the arguments name, and close its loops unless `assemble` is False.

    Raise IkError if a file is missing or cannot be used.
    """
    check_files(args.robot, args.closures)
    return load_robot(
        Path(args.robot),
        closures=args.closures,
        assemble=assemble,
        xacro_seconds=args.xacro_seconds,
    )
