"""Entry point of the command line, which imports only the module of the command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
import importlib
import os
import sys

from ik_node.errors import IkError
from ik_node.ros.process.early_signals import exit_on_early_signals

# Summary of each command. The module of a command has the command's name.
COMMANDS: dict[str, str] = {
    'node': 'run the ROS 2 node; takes --ros-args like any node',
    'demo': 'run a robot of the gallery with moving goals on the ROS 2 node',
    'check': 'read a robot and describe it: links, joints, loops, mobility',
    'convert': 'convert a robot description of any format to a URDF with its loops',
    'solve': 'solve once for the poses of some links',
    'batch': 'solve for many poses in a file',
    'reach': 'compute a slice of the workspace of a link',
    'compare': 'solve a problem with every method, as a table and a plot',
    'view': 'show a robot in the browser: drag its goals, or watch a running node',
    'export': 'export a robot with its goals to a file for C and C++ programs',
    'warm': 'build the library of compiled kernels',
    'bench': 'run the benchmarks (needs a checkout)',
}


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; None = those of the process.

    Returns
    -------
    int
        Exit code: 0 = success, 1 = the command ran but did not succeed, 2 = unusable input. As in
        shells, 130 = Ctrl-C and 141 = the output pipe is closed.

    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        return _run(words[0], words[1:])
    _top_parser().parse_args(words)
    return 2


def _run(name: str, words: list[str]) -> int:
    # A signal before the node has started ends the process quietly; other commands are
    # interrupted.
    with exit_on_early_signals() if name == 'node' else nullcontext():
        command = importlib.import_module(f'ik_node.cli.{name}')
    parser = argparse.ArgumentParser(
        prog=f'ik_node {name}',
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    # rclpy parses the arguments after --ros-args.
    cut = words.index('--ros-args') if '--ros-args' in words else len(words)
    args = parser.parse_args(words[:cut])
    args.ros_args = words[cut:]
    if args.ros_args and name not in ('node', 'view'):
        parser.error(f'{name} takes no --ros-args')
    try:
        code: int = command.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has ended, like `head`. Without this, Python reports an error at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except IkError as error:
        print(f'ik_node {name}: {" ".join(str(error).split())}', file=sys.stderr)
        return 2
    except OSError as error:
        where = error.filename or ''
        print(f'ik_node {name}: {where}: {error.strerror or error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _top_parser() -> argparse.ArgumentParser:
    width = max(len(name) for name in COMMANDS)
    table = '\n'.join(f'  {name:<{width}}  {about}' for name, about in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog='ik_node',
        description='Inverse kinematics for robots with closed loops.',
        epilog=f'commands:\n{table}\n\nSee `<command> --help` for the options of a command.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action=_Version, nargs=0, help='print the version')
    parser.add_argument('command', choices=list(COMMANDS), metavar='command')
    return parser


class _Version(argparse.Action):
    """An action that prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ik_node import __version__

        print(f'ik_node {__version__}')
        parser.exit()
