"""Compile the kernels into their cache, so that the first solve is fast."""

from __future__ import annotations

import argparse
import time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""
    del parser


def run(args: argparse.Namespace) -> int:
    """Compile kernels that are not cached, solve once and return the exit code."""
    del args
    begin = time.perf_counter()
    from ik_node.gallery import gallery_item
    from ik_node.gallery.description_path import description_path
    from ik_node.robot import load_robot
    from ik_node.solver import Solver

    robot = load_robot(description_path(gallery_item('hexapod').description))
    solver = Solver(robot)
    solver.warm()
    solution = solver.solve_pose({})
    print(f'kernels ready after {time.perf_counter() - begin:.1f} s')
    return 0 if solution.status.name == 'CONVERGED' else 1
