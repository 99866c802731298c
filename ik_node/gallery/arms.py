"""Arms: serial chains, some of them solved by a method of their own."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import cycle, GalleryItem, moving, Vector
import numpy as np
from numpy.typing import NDArray

# The tip of this arm moves on a vertical circle, out and in. Its orientation is free.
PARTIAL_GOAL_ARM = GalleryItem(
    name='partial_goal_arm',
    motion=moving(tip=cycle(5.0, lambda p: (-0.9 * sin(p) ** 2, 0.6 * sin(p), 0.6 * cos(p)))),
    dof={'tip': 'X Y Z'},
    about='six hinges and a goal of three axes: the tip follows, and its orientation is free',
)

# An industrial arm draws a circle on a table with a leaning tool.
ARM6 = GalleryItem(
    name='arm6',
    motion=moving(
        tool=cycle(
            4.0,
            lambda p: (0.17 * cos(p), 0.17 * sin(p), 0.06 * sin(2.0 * p)),
            lambda p: (0.4 * sin(p), 0.4 * cos(p), 0.5 * sin(p)),
        )
    ),
    about='an industrial arm of six hinges: its tool draws a circle and leans',
)

# An arm works in two compartments of a shelf; without its obstacles it would run into the board.
ARM_AT_SHELF = GalleryItem(
    name='arm_at_shelf',
    motion=moving(
        tool=cycle(
            8.0,
            lambda p: (0.34 * sin(p) ** 2, 0.2 * sin(2.0 * p), 0.1 * sin(p)),
            lambda p: (0.0, 0.0, 0.4 * sin(p)),
        )
    ),
    dof={'tool': 'X Y Z EX'},
    about='an arm reaches into a shelf, above and below a board, and touches nothing',
    obstacles='arm_at_shelf.obstacles.yaml',
)

# The arm of a rover can lean forwards and backwards only, so that it reaches few of these poses.
ROVER_ARM = GalleryItem(
    name='rover_arm',
    motion=moving(
        tool=cycle(
            6.0,
            lambda p: (0.25 * cos(p), 0.25 * sin(p), 0.0),
            lambda p: (0.3 * sin(p), 0.3 * cos(p), 0.5 * sin(p)),
        )
    ),
    about='five hinges and a goal of six axes: the arm stays as near to its goal as possible',
    # Restarts do not give better results.
    options={'restarts': 0},
    reachable=False,
)


def share(phase: float) -> float:
    """Return the share of a motion, which is largest in the first half of a cycle."""
    return 0.5 + 0.5 * sin(phase)


def chased_place(p: float) -> Vector:
    """Return the position of the target of `dh_arm` [m], which moves in the first half."""
    part = share(p)
    return part * 0.08 * sin(4.0 * p), part * 0.16 * sin(2.0 * p), part * 0.1 * sin(3.0 * p)


def chased_angles(p: float) -> Vector:
    """Return the angles of the target of `dh_arm` [rad], which turns in the second half."""
    part = share(p + pi)
    return part * 0.4 * sin(3.0 * p), part * 0.4 * sin(2.0 * p), part * 0.6 * sin(p)


# An arm from a Denavit-Hartenberg table follows a target.
DH_ARM = GalleryItem(
    name='dh_arm',
    motion=moving(tool=cycle(5.0, chased_place, chased_angles)),
    about='the Jacobian transpose: an arm from a Denavit-Hartenberg table follows a target',
    # The method converges slowly, so the thresholds are 0.1 mm and 1 mrad.
    options={
        'method': 'jacobian_transpose',
        'translation_converge_threshold': 1e-4,
        'rotation_converge_threshold': 1e-3,
    },
)

# A planar arm follows a pointer on a figure of eight.
CCD_ARM = GalleryItem(
    name='ccd_arm',
    motion=moving(tip=cycle(8.0, lambda p: (0.22 * sin(p), 0.18 * sin(2.0 * p), 0.0))),
    # z is always met in the plane. With it, the best rotation of each joint has a closed form.
    dof={'tip': 'X Y Z'},
    about='cyclic coordinate descent: a planar arm follows a pointer, joint after joint',
    # Short rotations keep the outer joints from folding. The threshold is 0.1 mm, because the
    # method converges slowly.
    options={'method': 'ccd', 'ccd_step_limit': 0.001, 'translation_converge_threshold': 1e-4},
)


def comfort(q: NDArray[np.float64]) -> float:
    """Return the cost of a posture, which is least if elbow and wrist bend equally."""
    _, _, elbow, wrist = q
    return 0.1 * float(elbow - wrist) ** 2


GRADIENT_ARM = GalleryItem(
    name='gradient_arm',
    motion=moving(
        tip=cycle(5.0, lambda p: (-0.12 * sin(0.5 * p) ** 2, 0.18 * sin(p), 0.18 * cos(p)))
    ),
    dof={'tip': 'X Y Z'},
    about='gradient descent: an arm follows a point, with a cost for its posture',
    # The threshold is 0.1 mm, because the method converges slowly.
    comfort=comfort,
    options={'method': 'gradient_descent', 'translation_converge_threshold': 1e-4},
)

# The tip of an arm of a hundred hinges moves like the head of a snake.
CHAIN100 = GalleryItem(
    name='chain100',
    motion=moving(
        tip=cycle(
            6.0,
            lambda p: (-(sin(p) ** 2), 2.5 * sin(p), 1.2 * sin(2.0 * p)),
            lambda p: (0.8 * sin(p), 0.6 * sin(2.0 * p), 0.6 * cos(p)),
            slower=2.0,
        )
    ),
    about='a hundred hinges and a goal of six axes: all hinges bend a little',
)
