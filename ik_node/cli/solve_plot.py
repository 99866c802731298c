"""A picture of an answer: the robot there, its goals, and as a grey shadow where it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ik_node.errors import OptionError
from ik_node.robot import Robot
from ik_node.scene import IKRootsHelper, plot_shapes, Shape
from ik_node.solver import Solution
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# What is seen of where it began.
GHOST = (0.55, 0.58, 0.62, 0.25)
_SIDES = 12


def plot_solution(
    path: str, robot: Robot, start: Array, poses: Mapping[str, Any], solution: Solution
) -> None:
    """
    Draw an answer into a file.

    Parameters
    ----------
    path : str
        Where to; the ending says what kind of picture.
    robot : Robot
        With the goals.
    start : ndarray, shape (nq,)
        Where it began [rad or m].
    poses : mapping of str to (position, quat_xyzw)
        What was asked for, as for `Solver.solve_pose`.
    solution : Solution
        What came of it.

    Raises
    ------
    OptionError
        If pictures cannot be drawn, or not there, or not of that kind.

    """
    try:
        plot_shapes(shapes_of(robot, start, poses, solution), path, title=title_of(solution))
    except OptionError as error:
        raise OptionError('--plot', path, error.allowed) from None


def shapes_of(
    robot: Robot, start: Array, poses: Mapping[str, Any], solution: Solution
) -> list[Shape]:
    """Return what is drawn: the answer with its goals, and the links where they began."""
    helper = IKRootsHelper(robot, layers='links axes limits closures goals', resolution=_SIDES)
    shapes = list(helper.shapes(solution.q, poses))
    if not np.allclose(start, solution.q):
        helper.set_layers('links')
        shapes += [
            replace(shape, name=f'start {shape.name}', rgba=GHOST)
            for shape in helper.shapes(start)
        ]
    return shapes


def title_of(solution: Solution) -> str:
    """Return the status, and how far off the farthest goal and the farthest open loop are."""
    parts = [f'{solution.status.name} after {solution.iterations} iterations']
    for kind, errors in (('goals', solution.goal_errors), ('loops', solution.closure_errors)):
        if errors:
            position, orientation = np.array([tuple(e) for e in errors.values()]).max(axis=0)
            parts.append(f'{kind}: {position:.1e} m, {orientation:.1e} rad off at most')
    return '\n'.join(parts)
