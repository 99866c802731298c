"""
Write configurations with closed loops, within limits, to a file, for simulators and learning.

The file .npz has the arrays q (N, nq) [rad or m] and names (nq,), the names of the joint values.
The exit code is 1 if loops do not close.
"""

from __future__ import annotations

import argparse
from time import perf_counter

from ik_node.cli.arguments import (
    add_collision_arguments,
    add_options,
    add_robot_arguments,
    check_outputs,
    collision_options,
    robot_of,
)
from ik_node.errors import OptionError
from ik_node.solver.states import SPREADS
from ik_node.whole_file import whole_file
import numpy as np
from tqdm import tqdm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, the number and spread of the configurations, and the file."""
    add_robot_arguments(parser)
    add_collision_arguments(parser)
    add_options(
        parser,
        f"""
        --count N  number of configurations [default: 1000]
        --seed N  seed of the draws [default: 0]
        --spread {'|'.join(SPREADS)}  what is spread: motors, or positions of a link
                [default: {SPREADS[0]}]
        --link LINK  the link whose positions are spread
        --mode MODE  label of the mode that all are in, such as +/+-; default: any mode
        --threads N  number of threads; default: one per core
        -o --out FILE  output file: .npz (required)
        """,
    )


def run(args: argparse.Namespace) -> int:
    """Write the configurations and return the exit code."""
    check_outputs(args, [('-o', args.out)])
    if not args.out.endswith('.npz'):
        raise OptionError('-o', args.out, 'a file .npz')
    avoiding, robot = collision_options(args), robot_of(args)
    began = perf_counter()
    with tqdm(total=args.count, disable=None, leave=False, unit='state') as bar:
        q = robot.sample(
            args.count,
            args.seed,
            args.spread,
            link=args.link,
            mode=args.mode,
            **avoiding,
            threads=args.threads,
            progress=lambda done, _: bar.update(done - bar.n),
        )
    spent = perf_counter() - began
    with whole_file(args.out) as part, part.open('wb') as file:
        np.savez(file, q=q, names=np.array(robot.joint_names))
    print(f'{len(q)} states in {spent:.2f} s, {len(q) / spent:.0f}/s: {args.out}')
    return 0
