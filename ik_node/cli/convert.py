"""
Convert a robot description of any supported format to a URDF with its loops.

The URDF contains loops as <loop_joint>, which other tools ignore; with --closures-out they are
written to a separate file. Shapes, inertia and materials of a URDF are carried over. The output is
read back and compared with the input: links, joints, limits, couplings, motors, masses, loops, and
the pose of every link at several configurations. If it differs, no file is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

from ik_node.cli.arguments import add_options, add_robot_arguments, check_outputs, robot_of
from ik_node.display import say
from ik_node.errors import counted, IkError, OptionError
from ik_node.model.closure import Closure
from ik_node.model.rotation import Array, pose_matrix
from ik_node.robot import load_robot, Robot
from ik_node.whole_file import whole_file
import numpy as np

# Largest difference of poses, per metre of the robot's size.
TOLERANCE = 1e-12
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
    for what in ('lower', 'upper', 'max_velocity', 'max_effort'):
        if not np.array_equal(getattr(robot, what), getattr(other, what)):
            result.append(f'{what} of the joints')
    if not np.allclose(robot.start, other.start, rtol=TOLERANCE, atol=TOLERANCE):
        result.append('initial joint values')
    for name, link in robot.links.items():
        other_link = other.links[name]
        if link.mass != other_link.mass or not np.array_equal(
            link.centre_of_mass, other_link.centre_of_mass
        ):
            result.append(f'mass of link {name!r}')
    result += _of_closures(robot, other)
    random = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    before = robot.q, other.q
    for index in range(POSES):
        q = random.uniform(lower, upper) if index else np.zeros(len(lower))
        result += [each for each in _at(robot, other, q) if each not in result]
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


def _of_closures(robot: Robot, other: Robot) -> list[str]:
    result = []
    for name, closure in robot.closures.items():
        other_closure = other.closures[name]
        for what in ('kind', 'dof', 'distance', 'tolerance', 'weight', 'enabled'):
            if getattr(closure, what) != getattr(other_closure, what):
                result.append(f'{what} of closure {name!r}')
        for end in ('child', 'parent'):
            ends = [getattr(getattr(each, end), 'name', None) for each in (closure, other_closure)]
            if ends[0] != ends[1]:
                result.append(f'links of closure {name!r}')
    return result


def _at(robot: Robot, other: Robot, q: Array) -> list[str]:
    """Compare link poses, coupled joint values and loop residuals at a configuration."""
    result = []
    robot.q, other.q = q, q
    size = 1.0
    for name in robot.links:
        pose, other_pose = robot.forward(q, name), other.forward(q, name)
        size = max(size, float(np.max(np.abs(pose))))
        if not np.allclose(pose, other_pose, rtol=0.0, atol=TOLERANCE * size):
            result.append(f'pose of link {name!r}')
    for name, closure in robot.closures.items():
        # Residuals of equal frames can differ: the rotation vector of half a turn has two signs.
        frames, other_frames = _frames(closure), _frames(other.closures[name])
        if not np.allclose(frames, other_frames, rtol=0.0, atol=10.0 * TOLERANCE * size):
            result.append(f'frames of closure {name!r}')
    following, others = _following(robot), _following(other)
    if following.keys() != others.keys() or not np.allclose(
        [*following.values()], [others[n] for n in following], rtol=TOLERANCE, atol=TOLERANCE
    ):
        result.append('couplings')
    return result


def _frames(closure: Closure) -> Array:
    """Return the poses of a closure's frames A and B in the root frame, shape (2, 4, 4)."""
    offset = pose_matrix(closure.offset_position, closure.offset_quaternion)
    carrier = np.eye(4) if closure.child is None else closure.child.matrix_world
    return np.stack((carrier @ offset, closure.matrix_world))


def _following(robot: Robot) -> Mapping[str, float]:
    """Return the value of every coupled joint that follows from its master."""
    values = dict(zip(robot.joint_names, robot.q.tolist(), strict=True))
    result = {}
    for joint in robot.joint_order:
        names = dict(zip(joint.dof, joint.value_names, strict=True))
        for dof, coupling in joint.couplings.items():
            result[names[dof]] = coupling.value(
                *(values[term.master.value_name(term.master_dof)] for term in coupling.terms)
            )
    return result


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
    """
    Return the output files.

    Raise OptionError if a file exists already, or is an input or the other output.
    """
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
