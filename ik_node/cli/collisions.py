"""
Find pairs of links that need no check for collisions, and write them as an SRDF.

Random configurations with closed loops show which pairs of links touch always, sometimes or never.
The SRDF has the pairs that are joined by joints or loops, those that the description excludes, and
those that touch always; with --never also those that were never seen to touch. MoveIt reads it,
and so do the commands with --srdf. The exit code is 1 if no configuration has closed loops.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

from ik_node.cli import arguments as shared
from ik_node.description.writers.urdf import srdf_text
from ik_node.display import say
from ik_node.errors import OptionError
from ik_node.model.collisions import JOINED, TOGETHER, TOUCHES
from ik_node.motion.write import free_output
from ik_node.whole_file import whole_file

SAMPLES, MOST_SAMPLES = 2000, 1_000_000
# Reasons as MoveIt writes them.
REASONS = {**dict.fromkeys((*JOINED, TOGETHER), 'Adjacent'), TOUCHES: 'Always'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the output and the samples."""
    table = f"""
    -o --out FILE  output file: .srdf (required)
    --samples N  random configurations; [default: {SAMPLES}]
    --never  write pairs that were never seen to touch as well; rare contacts may be among them
    --overwrite  replace the output file
    """
    shared.add_robot_arguments(parser)
    shared.add_options(parser, shared.SRDF + table)


def run(args: argparse.Namespace) -> int:
    """Sample, write the SRDF and return the exit code."""
    if not 1 <= args.samples <= MOST_SAMPLES:
        raise OptionError('--samples', args.samples, f'a whole number from 1 to {MOST_SAMPLES}')
    path = Path(args.out)
    shared.check_outputs(args, [('-o', path)])
    robot = shared.robot_of(args)
    free_output('-o', path, overwrite=args.overwrite)
    collisions = robot.collisions
    touched, count = collisions.count_contacts(args.samples)
    if count == 0:
        say('ik_node collisions: no random configuration has closed loops', file=sys.stderr)
        return 1
    removed = collisions.removed.items()
    pairs = {pair: REASONS.get(why, why.removeprefix('SRDF: ')) for pair, why in removed}
    pairs |= {pair: 'Always' for pair, times in touched.items() if times == count}
    never = [pair for pair in collisions.pairs if pair not in touched]
    pairs |= dict.fromkeys(never, 'Never') if args.never else {}
    with whole_file(path) as part:
        part.write_text(srdf_text(robot.name, pairs), encoding='utf-8')
    for note in collisions.notes:
        say(f'note: {note}')
    reasons = [*pairs.values()]
    said = ', '.join(f'{reasons.count(why)} {why}' for why in dict.fromkeys(reasons))
    kept = len({*collisions.pairs} - {*pairs})
    say(
        f'{path}: {len(pairs)} pairs left out ({said or "none"}); {kept} pairs are checked, '
        f'{len(never)} pairs never touched in {count} configurations'
    )
    return 0
