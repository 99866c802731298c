"""The characteristic length of a chain, which makes metres and radians comparable."""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, hypot, inf

from ik_node.model.chains import ancestors, beyond_fork, Chain, Support
from ik_node.model.goal import Goal
from ik_node.model.request import Request
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Lengths below this are rounding errors of zero [m].
_SMALLEST = 1e-12


def characteristic_length(
    tree: Tree, requests: Sequence[Request], supports: Sequence[Support], chain: Chain
) -> float:
    """
    Return the characteristic length of a chain [m].

    It is proportional to the size of the mechanism and does not depend on the joint values, the
    names, the order of joints and constraints, or the position of the mechanism: half of the
    longest path of its closures and goals. If that is zero: half of the longest path to any frame
    of the tree; else the longest finite travel of a prismatic joint; else 1.

    Notes
    -----
    The path of a goal leads from the first joint that moves its link to the link, through the
    origins of all joints in between, with all joint values at zero. The path of a closure leads
    around its loop. Half of the path is the average lever arm of the joints: the distance that
    one radian of a joint moves the end by. See docs/decisions/0015.

    """
    longest = max(
        (_path(tree, requests[index], supports[index]) for index in chain.requests), default=0.0
    )
    if longest < _SMALLEST:
        longest = _longest_path(tree)
    if longest < _SMALLEST:
        travels = (_travel(tree, column) for column in range(len(tree.columns)))
        longest = 2.0 * max(travels, default=0.0)
    return 0.5 * longest if longest >= _SMALLEST else 1.0


def goes_by_travels(tree: Tree) -> bool:
    """Return True if the tree has no lengths, so that limits of prismatic joints set the scale."""
    return _longest_path(tree) < _SMALLEST


def _path(tree: Tree, request: Request, support: Support) -> float:
    """Return the length of the path of a goal, or of the loop of a closure [m]."""
    if request.kind == 'coupling':
        return 0.0
    if support.mass is not None:
        moments = support.mass.by_column.items()
        return max(
            (
                _length(tree, ancestors(tree, index), moment / m)
                for index, (m, moment) in moments
                if m > 0
            ),
            default=0.0,
        )
    if request.seen:
        carriers = [tree.carrier[link] for link in request.seen]
        return max(_length(tree, ancestors(tree, index), _place(pose)) for index, pose in carriers)
    column, carrier = tree.carrier[request.link]
    place_a = _place(carrier @ request.offset)
    path_a = ancestors(tree, column)
    path_b: list[int] = []
    place_b: Array | None = None
    if request.base is not None:
        column, carrier = tree.carrier[request.base]
        path_b = ancestors(tree, column)
        # The target pose in the base is left out, because it may change from solve to solve.
        place_b = _place(carrier)
    path_a, path_b = beyond_fork(path_a, path_b)
    reach = _length(tree, path_a, place_a)
    if place_b is None or (request.is_goal and not path_b):
        return reach
    ends = [
        _place(tree.columns[path[0]].offset) if path else place
        for path, place in ((path_a, place_a), (path_b, place_b))
    ]
    return reach + _length(tree, path_b, place_b) + dist(*ends)


def _length(tree: Tree, path: Sequence[int], last: Array) -> float:
    """Return the length of a path from its first column to a point in its last column [m]."""
    if not path:
        return 0.0
    return sum(hypot(*_place(tree.columns[index].offset)) for index in path[1:]) + hypot(*last)


def _longest_path(tree: Tree) -> float:
    """Return the longest path from a frame to the first column that carries it [m]."""
    reach = list[float]()
    for column in tree.columns:
        # The offset of the first column is the position of the robot, which does not count.
        own = 0.0 if column.parent < 0 else reach[column.parent] + hypot(*_place(column.offset))
        reach.append(own)
    return max(
        (
            reach[column] + hypot(*_place(carrier))
            for frame, (column, carrier) in tree.carrier.items()
            if column >= 0 and not isinstance(frame, Goal)
        ),
        default=0.0,
    )


def _place(pose: Array) -> Array:
    return pose[:3, 3]


def _travel(tree: Tree, column: int) -> float:
    joint, dof = tree.columns[column].joint, tree.columns[column].dof
    travel = float(joint._max_dof_limit[dof] - joint._min_dof_limit[dof])
    return travel if not dof.is_rotation and travel < inf else 0.0
