"""
Convert a robot description of any dialect to URDF that carries its loops.

The URDF says loops as <loop_joint>, which other tools ignore, or leaves them to a file of their
own (--closures-out). Shapes, inertia and materials of a URDF are carried over. What was written is
read again and compared with what was read: links, joints, limits, couplings, motors, masses,
loops, and the pose of every link at some configurations. A file that differs is not left behind.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import sys

from ik_node.cli.robot_arguments import add_robot_arguments, robot_of
from ik_node.cli.round_trip import differences
from ik_node.errors import IkError, MOST_TEXT, OptionError, plain
from ik_node.robot import load_robot, Robot

STDOUT = '-'
EPILOG = """examples:
  ik_node convert gripper.sdf -o gripper.urdf
  ik_node convert robot.urdf --closures legs.yaml -o robot_with_loops.urdf
  ik_node convert hand.xml -o hand.urdf --closures-out hand.closures.yaml
  ik_node convert hand.xml -o - | less

exit code: 0 written and the same robot, 1 it could not be written as the same robot, 2 the input
cannot be used or a file is in the way
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot and where to write."""
    add_robot_arguments(parser)
    parser.add_argument(
        '-o', '--output', metavar='OUT.urdf', required=True, help='where to write; - = print it'
    )
    parser.add_argument(
        '--closures-out',
        metavar='F.yaml',
        help='write the loops there and leave them out of the URDF; OUT.closures.yaml beside '
        'OUT.urdf is found by its name',
    )
    parser.add_argument('--force', action='store_true', help='write over files that are there')
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Convert, compare, and say on stderr what was done."""
    paths = _checked_paths(args)
    robot = robot_of(args, assemble=False)
    _say(_summary(args.robot, robot))
    for note in robot.notes:
        _say(f'note: {note}')
    apart = args.closures_out is not None
    urdf = robot.to_urdf(loops=not apart)
    annotations = robot.to_closures() if apart else None
    reason = _why_not(robot, urdf, annotations)
    if not reason:
        reason = _write(args, paths, robot, urdf, annotations)
    if reason:
        _say(f'not written: what is read back is another robot: {reason}')
        return 1
    written = ' and '.join(str(path) for path in paths) or 'stdout'
    _say(f'{written}: written, read back and compared: the same robot')
    return 0


def _checked_paths(args: argparse.Namespace) -> list[Path]:
    """
    Return the files to be written.

    Raises
    ------
    OptionError
        If one is there already, or is the input.

    """
    names = {'-o': args.output, '--closures-out': args.closures_out}
    if args.closures_out == STDOUT:
        raise OptionError('--closures-out', STDOUT, 'a file; the URDF alone can be printed')
    paths: list[Path] = []
    for option, name in names.items():
        if name is None or name == STDOUT:
            continue
        path = Path(name)
        inputs = [Path(given) for given in (args.robot, args.closures) if given is not None]
        if path.exists():
            if any(path.samefile(given) for given in inputs if given.exists()) or path in paths:
                raise OptionError(option, name, 'another file than the input')
            if not path.is_file() or not args.force:
                raise OptionError(option, name, 'a file that is not there yet, or --force')
        if path.resolve() in [other.resolve() for other in paths]:
            raise OptionError(option, name, 'another file than -o')
        paths.append(path)
    return paths


def _write(
    args: argparse.Namespace, paths: list[Path], robot: Robot, urdf: str, annotations: str | None
) -> str:
    """Write the files and read them again; return why they are taken back, '' if they are not."""
    texts = [annotations] if args.output == STDOUT else [urdf, annotations]
    with _kept_only_if_right(paths) as keep:
        for path, text in zip(paths, texts, strict=False):
            path.write_text(text or '', encoding='utf-8')
        reason = ''
        if args.output != STDOUT:
            # As others will read it, with what lies beside it.
            reason = _why_not(robot, Path(args.output), args.closures_out)
            reason = f'read with what lies beside it: {reason}' if reason else ''
        if not reason:
            keep.append(True)
    if not reason and args.output == STDOUT:
        sys.stdout.write(urdf)
    return reason


def _why_not(robot: Robot, source: str | Path, closures: str | None) -> str:
    """Return what is different in what was written, '' if nothing is."""
    try:
        back = load_robot(source, closures=closures, assemble=False)
    except IkError as error:
        return f'it cannot be read: {error}'
    return '; '.join(differences(robot, back)[:5])


@contextmanager
def _kept_only_if_right(paths: list[Path]) -> Iterator[list[bool]]:
    """Put files back as they were, or away, unless something is put in the list."""
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    keep: list[bool] = []
    try:
        yield keep
    finally:
        if not keep:
            for path, content in before.items():
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(content)


def _summary(source: str, robot: Robot) -> str:
    coupled = sum(len(joint.couplings) for joint in robot.joints.values())
    return (
        f'{source}: {robot.dialect}, robot {robot.name}: {len(robot.links)} links, '
        f'{len(robot.joint_names)} joint values, {len(robot.closures)} loops, '
        f'{coupled} couplings, {len(robot.actuated)} motors'
    )


def _say(line: str) -> None:
    print(plain(line, MOST_TEXT), file=sys.stderr)
