"""
Convert a robot description of any supported format to a URDF with its loops.

The URDF contains loops as <loop_joint>, which other tools ignore; with --closures-out they are
written to a separate file. Shapes, inertia and materials of a URDF are carried over. The output is
read back and compared with the input: links, joints, limits, couplings, motors, masses, loops, and
the pose of every link at several configurations. If it differs, no file is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

from ik_node.analysis.differences import differences
from ik_node.cli.arguments import add_options, add_robot_arguments, check_outputs, robot_of
from ik_node.display import say
from ik_node.errors import counted, IkError, OptionError
from ik_node.robot import load_robot, Robot
from ik_node.whole_file import whole_file

# Endings of files beside an output that may declare its loops.
SIDECARS = ('.yaml', '.yml')

STDOUT = '-'
EPILOG = """examples:
  ik_node convert gripper.sdf -o gripper.urdf
  ik_node convert robot.urdf --closures legs.yaml -o robot_with_loops.urdf
  ik_node convert hand.xml -o hand.urdf --closures-out hand.closures.yaml
  ik_node convert hand.xml -o - | less

exit code: 0 written and equal, 1 not written because the copy would differ, 2 the input cannot be
used or an output file exists
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot and the output files."""
    table = """
    -o --output OUT.urdf  output file; - = standard output (required)
    --closures-out F.yaml  write the loops to this file and not to the URDF; a file
        OUT.closures.yaml beside OUT.urdf is found automatically
    --force  overwrite existing files
    """
    add_robot_arguments(parser)
    add_options(parser, table)
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Convert, compare, report on stderr and return the exit code."""
    paths = _checked_paths(args)
    robot = robot_of(args, assemble=False)
    say(_summary(args.robot, robot), file=sys.stderr)
    for note in robot.notes:
        say(f'note: {note}', file=sys.stderr)
    apart = args.closures_out is not None
    urdf = robot.to_urdf(loops=not apart)
    annotations = robot.to_closures() if apart else None
    reason = _differences(robot, urdf, annotations)
    if not reason:
        reason = _write(args, paths, robot, urdf, annotations)
    if reason:
        say(f'not written: the robot that is read back differs: {reason}', file=sys.stderr)
        return 1
    written = ' and '.join(str(path) for path in paths) or 'stdout'
    say(f'{written}: written, read back and compared: the same robot', file=sys.stderr)
    return 0


def _checked_paths(args: argparse.Namespace) -> list[Path]:
    """Return the output files; raise OptionError if one exists, or is an input or the other."""
    if args.closures_out == STDOUT:
        raise OptionError('--closures-out', STDOUT, 'a file; only the URDF can be printed')
    names = {'-o': args.output, '--closures-out': args.closures_out}
    paths = {o: Path(name) for o, name in names.items() if name not in (None, STDOUT)}
    check_outputs(args, paths.items())
    for option, path in paths.items():
        if path.exists() and not (path.is_file() and args.force):
            raise OptionError(option, str(path), 'a file that does not exist, or --force')
    return [*paths.values()]


def _write(
    args: argparse.Namespace, paths: list[Path], robot: Robot, urdf: str, annotations: str | None
) -> str:
    """Write the files if they read back right; return the reason if not, else ''."""
    texts = [annotations] if args.output == STDOUT else [urdf, annotations]
    if args.output != STDOUT:
        with TemporaryDirectory(dir=paths[0].parent, prefix='.ik_node_') as folder:
            # Read it as users will, with the sidecar files beside it, before it has its name.
            trial = Path(folder) / paths[0].name
            trial.write_text(urdf, encoding='utf-8')
            for beside in paths[0].parent.iterdir():
                if beside.suffix in SIDECARS and beside.name not in {path.name for path in paths}:
                    (trial.parent / beside.name).symlink_to(beside.resolve())
            apart = None
            if annotations is not None:
                apart = Path(folder) / paths[1].name
                apart.write_text(annotations, encoding='utf-8')
            reason = _differences(robot, trial, None if apart is None else str(apart))
        if reason:
            return f'read with the files beside it: {reason}'
    for path, text in zip(paths, texts, strict=False):
        with whole_file(path) as part:
            part.write_text(text or '', encoding='utf-8')
    if args.output == STDOUT:
        sys.stdout.write(urdf)
    return ''


def _differences(robot: Robot, source: str | Path, closures: str | None) -> str:
    """Return the differences of the written robot, '' if there are none."""
    try:
        back = load_robot(source, closures=closures, assemble=False)
    except IkError as error:
        return f'it cannot be read: {error}'
    return '; '.join(differences(robot, back)[:5])


def _summary(source: str, robot: Robot) -> str:
    coupled = sum(len(joint.couplings) for joint in robot.joints.values())
    return (
        f'{source}: {robot.dialect}, robot {robot.name}: {counted(len(robot.links), "link")}, '
        f'{counted(len(robot.joint_names), "joint value")}, '
        f'{counted(len(robot.closures), "loop")}, {counted(coupled, "coupling")}, '
        f'{counted(len(robot.actuated), "motor")}'
    )
