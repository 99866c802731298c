"""The command line's entry; loads nothing but the command that is run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
import importlib
import os
import sys

from ik_node.errors import IkError
from ik_node.ros.process.early_signals import exit_on_early_signals

# Command -> what it does. The module of a command has its name.
COMMANDS: dict[str, str] = {
    'node': 'the ROS 2 node: --ros-args ... as for any node',
    'demo': 'one of our robots with its goals moving, on the real node',
    'check': 'read a robot and describe it: links, joints, loops, mobility',
    'convert': 'any description of a robot to URDF that carries its loops',
    'solve': 'solve once for the poses of some links',
    'batch': 'solve for many poses, from a file into a file',
    'reach': 'where a link can be brought to: a slice of the workspace',
    'compare': 'the same problem with every method, as a table and a picture',
    'view': 'a robot in the browser: drag its goals, or watch a running node',
    'warm': 'fill the cache of compiled kernels',
    'bench': 'measure (needs a checkout)',
}


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after the program's name; default those of the process.

    Returns
    -------
    int
        0 done, 1 ran and the answer is no, 2 unusable input; 130 and 141 after Ctrl-C and where
        nobody reads the output any more, as shells have it.

    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        return _run(words[0], words[1:])
    _top_parser().parse_args(words)
    return 2


def _run(name: str, words: list[str]) -> int:
    # Until the node has begun, a signal finds nothing to end; other commands are broken off.
    with exit_on_early_signals() if name == 'node' else nullcontext():
        command = importlib.import_module(f'ik_node.cli.{name}')
    parser = argparse.ArgumentParser(
        prog=f'ik_node {name}',
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    # What comes after --ros-args is rclpy's to read.
    cut = words.index('--ros-args') if '--ros-args' in words else len(words)
    args = parser.parse_args(words[:cut])
    args.ros_args = words[cut:]
    if args.ros_args and name not in ('node', 'view'):
        parser.error(f'{name} takes no --ros-args')
    try:
        code: int = command.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output has seen enough, as `head` has; Python would complain at its end.
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
        epilog=f'commands:\n{table}\n\n`<command> --help` says more.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action=_Version, nargs=0, help='print the version')
    parser.add_argument('command', choices=list(COMMANDS), metavar='command')
    return parser


class _Version(argparse.Action):
    """Print the version; it is looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ik_node import __version__

        print(f'ik_node {__version__}')
        parser.exit()
