"""
Convert a robot description of any supported format to a URDF with its loops.

The URDF contains loops as <loop_joint>, which other tools ignore; with --closures-out they are
written to a separate file. Shapes, inertia and materials of a URDF are carried over. The output is
read back and compared with the input: links, joints, limits, couplings, motors, masses, loops, and
the pose of every link at several configurations. If it differs, no file is written.
"""

from __future__ import annotations

import argparse
from itertools import zip_longest
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

from ik_node.cli.arguments import add_options, add_robot_arguments, check_outputs, robot_of
from ik_node.display import say
from ik_node.errors import counted, IkError, OptionError
from ik_node.model.rotation import Array, pose_matrix
from ik_node.robot import load_robot, Robot
from ik_node.whole_file import whole_file
import numpy as np

# Largest difference of poses, per metre of the robot's size.
TOLERANCE = 1e-11
POSES = 5
# Endings of files beside an output that may declare its loops.
SIDECARS = ('.yaml', '.yml')


def differences(robot: Robot, other: Robot) -> list[str]:
    """
    Return the differences between a robot and its copy that was written and read back.

    The comparison covers links, joint values, limits, couplings, motors, masses, closures, their
    frames, and the pose of every link at several configurations. The copy may have more links
    and more fixed joints.
    """
    result = _of_names(robot, other)
    if result:
        return result
    facts, others = _facts(robot), _facts(other)
    result = [what for what, fact in facts.items() if fact != others[what]]
    if not np.allclose(robot.start, other.start, rtol=TOLERANCE, atol=TOLERANCE):
        result.append('initial joint values')
    random = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    before = robot.q, other.q
    for index in range(POSES):
        q = random.uniform(lower, upper) if index else np.zeros(len(lower))
        poses, other_poses = _at(robot, q), _at(other, q)
        size = max(1.0, *(np.max(np.abs(pose), initial=0.0) for pose in poses.values()))
        result += [
            what
            for what, pose in poses.items()
            if what not in result
            and not np.allclose(pose, other_poses[what], rtol=TOLERANCE, atol=TOLERANCE * size)
        ]
    robot.q, other.q = before
    return result


def _of_names(robot: Robot, other: Robot) -> list[str]:
    """Return the first names that differ, of the robot, links, joint values and so on."""
    kept = [name for name in other.links if name in robot.links]
    lists = {
        'name': ([robot.name], [other.name]),
        'links': (list(robot.links), kept),
        'joint values': (robot.joint_names, other.joint_names),
        'closures': (list(robot.closures), list(other.closures)),
        'motors': (_values_of(robot), _values_of(other)),
    }
    result = []
    for what, names in lists.items():
        pair = next((pair for pair in zip_longest(*names) if pair[0] != pair[1]), None)
        if pair is not None:
            result.append(f'{what}: {pair[0]!r}, {pair[1]!r}')
    return result


def _values_of(robot: Robot) -> list[str]:
    """Return the actuated joint values, without those that follow another one alone."""
    result: list[str] = []
    for name in robot.actuated:
        joint = robot.joints.get(name)
        if joint is None:
            result.append(name)
            continue
        for value, dof in zip(joint.value_names, joint.dof, strict=True):
            if dof not in joint.couplings or joint.couplings[dof].others:
                result.append(value)
    return result


def _facts(robot: Robot) -> dict[str, Any]:
    """Return what a copy has exactly: limits, masses and closures."""
    limits = ('lower', 'upper', 'max_velocity', 'max_effort')
    facts: dict[str, Any] = {f'{what} of the joints': [*getattr(robot, what)] for what in limits}
    facts['couplings'] = sorted(_following(robot))
    for name, link in robot.links.items():
        facts[f'mass of link {name!r}'] = (link.mass, *link.centre_of_mass)
    for name, closure in robot.closures.items():
        for what in ('kind', 'dof', 'distance', 'tolerance', 'weight', 'enabled'):
            facts[f'{what} of closure {name!r}'] = getattr(closure, what)
        ends = [getattr(end, 'name', None) for end in (closure.child, closure.parent)]
        facts[f'links of closure {name!r}'] = ends
    return facts


def _at(robot: Robot, q: Array) -> dict[str, Any]:
    """Return the poses of links and of frames of closures, and the values of coupled joints."""
    robot.q = q
    poses: dict[str, Any] = {f'pose of link {n!r}': robot.forward(q, n) for n in robot.links}
    # Residuals of equal frames can differ: the rotation vector of half a turn has two signs.
    for name, closure in robot.closures.items():
        offset = pose_matrix(closure.offset_position, closure.offset_quaternion)
        carrier = np.eye(4) if closure.child is None else closure.child.matrix_world
        frames = np.stack((carrier @ offset, closure.matrix_world))
        poses[f'frames of closure {name!r}'] = frames
    poses['couplings'] = [value for _, value in sorted(_following(robot).items())]
    return poses


def _following(robot: Robot) -> dict[str, float]:
    """Return the value of every coupled joint that follows from its masters."""
    values = dict(zip(robot.joint_names, robot.q.tolist(), strict=True))
    return {
        joint.value_name(dof): coupling.value(
            *(values[each.master.value_name(each.master_dof)] for each in coupling.terms)
        )
        for joint in robot.joint_order
        for dof, coupling in joint.couplings.items()
    }


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
