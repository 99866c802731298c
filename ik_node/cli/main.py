# PYTHON_ARGCOMPLETE_OK
"""Entry point of the command line, which imports only the module of the command."""

from __future__ import annotations

from collections.abc import Sequence
from errno import ENOSPC
import importlib
from importlib.util import find_spec
from io import TextIOWrapper
import os
import sys
from typing import Any, TYPE_CHECKING

from ik_node import __version__
from ik_node.errors import IkError
from ik_node.ros.signals import exit_on_early_signals

if TYPE_CHECKING:
    import argparse

# Summary of each command. The module of a command has the command's name.
COMMANDS: dict[str, str] = {
    'node': 'run the ROS 2 node; takes --ros-args like any node',
    'demo': 'run a robot of the gallery with moving goals on the ROS 2 node',
    'models': 'list the robots that load by name',
    'check': 'read a robot and describe it: links, joints, loops, mobility',
    'collisions': 'find pairs of links that need no check for collisions, as an SRDF',
    'convert': 'convert a robot description of any format to a URDF with its loops',
    'solve': 'solve once for the poses of some links',
    'batch': 'solve for many poses in a file',
    'motion': 'follow the motion of key points, such as motion capture, to a file or a bag',
    'states': 'write configurations with closed loops to a file, for simulators and learning',
    'reach': 'compute a slice of the workspace of a link',
    'compare': 'solve a problem with every method, as a table and a plot',
    'transmission': 'show how motors move joints through loops: ratios, limits, singularities',
    'view': 'show a robot in the browser: drag its goals, or watch a running node',
    'export': 'export a robot with its goals to a file for C and C++ programs',
    'warm': 'build the library of compiled kernels',
    'bench': 'run the benchmarks (needs a checkout)',
}
# Modules that every command needs, and the packages that contain them.
REQUIRED = {'numpy': 'numpy', 'scipy': 'scipy', 'yaml': 'pyyaml', 'tqdm': 'tqdm'}
# The file that `ros2 run ik_node ik_node` and launch files start, below the prefix of a workspace.
STARTED_BY_ROS = ['lib', 'ik_node', 'ik_node']


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Without a command, arguments for ROS start the node, also after the file of a robot. So does
    the executable of the ROS package without any arguments; elsewhere, no arguments print the
    help.

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
    _prepare_streams()
    if '_ARGCOMPLETE' in os.environ:
        return _complete()
    started = os.path.abspath(sys.argv[0]).split(os.sep)[-3:] if argv is None else []
    ros_args = words[:1] == ['--ros-args'] or ('--ros-args' in words and os.path.exists(words[0]))
    if ros_args or (not words and started == STARTED_BY_ROS):
        words.insert(0, 'node')
    if words and words[0] in COMMANDS:
        return _run(words[0], words[1:])
    parser, _ = _parsers()
    if words and os.path.isfile(words[0]):
        named = f'{words[0]} is a file, and the first word is a command'
        parser.error(f'{named}: ik_node check {words[0]}, or view, or node')
    if words:
        parser.parse_args(words)
    parser.print_help()
    return 0


def _run(name: str, words: list[str]) -> int:
    try:
        # A signal during these imports ends the process without a traceback.
        with exit_on_early_signals(0 if name == 'node' else None):
            parser = _parsers()[1][name]
            command = _fill(parser, name)
        # rclpy parses the arguments after --ros-args.
        cut = words.index('--ros-args') if '--ros-args' in words else len(words)
        args = parser.parse_args(words[:cut])
        args.ros_args = words[cut:]
        if args.ros_args and name not in ('node', 'view'):
            parser.error(f'{name} takes no --ros-args')
        code: int = command.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has ended, like `head`.
        _discard_output()
        return 128 + 13
    except IkError as error:
        print(f'ik_node {name}: {" ".join(str(error).split())}', file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno == ENOSPC and not error.filename:
            _discard_output()
        where = f'{error.filename}: ' if error.filename else ''
        print(f'ik_node {name}: {where}{error.strerror or error}', file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f'ik_node {name}: {_what_to_install(error)}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _prepare_streams() -> None:
    """Open the null device for closed streams (`>&-`); print ? for what stdout cannot encode."""
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), 'w'))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors='replace')


def _discard_output() -> None:
    """Write the rest of standard output nowhere; else Python reports an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _what_to_install(error: ModuleNotFoundError) -> str:
    """Return which packages this Python lacks; raise the error again if they are our own."""
    module = (error.name or '').partition('.')[0]
    if module in ('', 'ik_node'):
        raise error
    missing = [package for name, package in REQUIRED.items() if find_spec(name) is None]
    packages = ' '.join(missing or [module])
    return (
        f'{sys.executable} has no {packages}: `{sys.executable} -m pip install {packages}`, or in '
        'a checkout `make setup` and .venv/bin/ik_node instead of this Python'
    )


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the whole line, and those of the commands without their arguments."""
    import argparse  # `_run` handles signals by now

    width = max(len(name) for name in COMMANDS)
    table = '\n'.join(f'  {name:<{width}}  {about}' for name, about in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog='ik_node',
        description='Inverse kinematics for robots with closed loops.',
        epilog=f'commands:\n{table}\n\nSee `<command> --help` for the options of a command.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action='version', version=f'ik_node {__version__}')
    commands = parser.add_subparsers(metavar='command', required=True)
    raw = argparse.RawDescriptionHelpFormatter
    return parser, {
        name: commands.add_parser(name, prog=f'ik_node {name}', formatter_class=raw)
        for name in COMMANDS
    }


def _fill(parser: argparse.ArgumentParser, name: str) -> Any:
    """Import a command and add its arguments to its parser."""
    command: Any = importlib.import_module(f'ik_node.cli.{name}')
    parser.description = command.__doc__
    command.add_arguments(parser)
    return command


def _complete() -> int:
    """Answer a shell that completes the command line, if argcomplete is installed."""
    if find_spec('argcomplete') is None:
        return 1
    import argcomplete

    parser, parsers = _parsers()
    for name in parsers.keys() & os.environ.get('COMP_LINE', '').split():
        _fill(parsers[name], name)
    argcomplete.autocomplete(parser)
    return 0
