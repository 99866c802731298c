"""
A proof that limits of joints keep a goal out of reach; docs/theory.md, section 8.

Where a point of a link can be, for ranges of joint values, is within a ball; ranges are halved
until no ball holds the goal's point.
"""

from __future__ import annotations

from ik_node.kernels.kinds import KIND_FRAME
from ik_node.kernels.layout import (
    AXES_A,
    AXES_WORLD,
    CON_POSE,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_MISFIT,
    CON_TRANSLATION_TOLERANCE,
    JOINT_LOWER,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.kernels.out_of_reach import ORIENTATION, POSITION, ROUNDING
from ik_node.model.rotation import quat_to_matrix
from ik_node.solver.problem.workspace import Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Boxes of joint values that are looked at together, and how often each is halved at most.
MOST_BOXES, HALVINGS = 2048, 60
# Shares of the points of a link in the choice of the joint whose range is halved: the point that
# the fewest joints move comes first.
SHARES = np.array([4.0, 1.0, 1.0])


def is_beyond_limits(s: Workspace, goal: int, q: Array, joints: Array, table: Array) -> bool:
    """
    Return True if no joint values within limits bring a link to its goal.

    Loops are left out, so that a proof does not depend on them. `goal`: its index among the
    constraints. `q` (nq,): values of the joints that do not move [rad or m]. `joints`, `table`:
    limits and locks, and the poses of the goals.
    """
    link, mask, row = int(s.a_column[goal]), int(s.mask[goal]), table[goal]
    known = mask & POSITION == POSITION or s.axes[goal] != AXES_A
    if s.kind[goal] != KIND_FRAME or s.b_column[goal] >= 0 or link < 0 or not known:
        return False
    path: list[int] = []
    while link >= 0:
        path.insert(0, link)
        link = int(s.parent[link])
    ranges = np.array([_range_of(s, j, q, joints) for j in path]).T
    if not np.isfinite(ranges).all():
        return False
    a, b = (each[12 * goal :][:12] for each in (s.a_offset, s.b_offset))
    turn = b[:9].reshape(3, 3) @ quat_to_matrix(row[CON_POSE + 3 : CON_POSE + 7])
    aim = b[9:] + b[:9].reshape(3, 3) @ row[CON_POSE : CON_POSE + 3] / s.length[0]
    axes = np.eye(3) if s.axes[goal] == AXES_WORLD else turn
    axes = axes[:, [k for k in range(3) if mask & (1 << k)]]
    frames = s.offset.reshape(-1, 12)[path]
    points = a[9:].reshape(1, 3)
    aims = aim.reshape(1, 3)
    if mask & ORIENTATION == ORIENTATION:
        # The pose of the link is known: that of two points of its axis, and of one beside it.
        turn = turn @ a[:9].reshape(3, 3).T
        along = 0.0 if s.prismatic[path[-1]] else -float(frames[-1, 9:] @ frames[-1, 2:9:3])
        points = np.array([(0, 0, along), (0, 0, along + 1.0), (1.0, 0, along)])
        aims = aim + (points - a[9:]) @ turn.T
        axes = np.eye(3) if mask & POSITION == POSITION else axes
    levers = np.linalg.norm(points - a[9:], axis=1)
    slack = row[CON_TRANSLATION_TOLERANCE] + row[CON_TRANSLATION_MISFIT]
    slack = slack / s.length[0] + row[CON_ROTATION_TOLERANCE] * levers + ROUNDING
    return _never_meet(frames, s.prismatic[path] == 1, ranges, points, aims, slack, axes)


def _range_of(s: Workspace, j: int, q: Array, joints: Array) -> tuple[float, float]:
    """Return the range of the value of column j [rad or L]; a whole turn is -pi to pi."""
    slides, v = s.prismatic[j] == 1, int(s.var[j])
    if v < 0:
        value = float(q[s.column_q[j]]) / (s.length[0] if slides else 1.0)
        return value, value
    g, factors = s.var_q[v], s.coefficients[s.width * j :][: s.width]
    ends = joints[[JOINT_LOWER, JOINT_UPPER], g] if joints[JOINT_WINDOW, g] > 0.0 else q[[g, g]]
    low, high = (
        np.polynomial.polynomial.polyval(end / s.unit[v], factors) for end in sorted(ends)
    )
    if factors[2:].any() or not np.isfinite(ends).all():
        low, high = (-np.inf, np.inf) if slides else (-np.pi, np.pi)
    if not slides and abs(high - low) >= 2.0 * np.pi:
        low, high = -np.pi, np.pi
    return min(low, high), max(low, high)


def _never_meet(
    frames: Array,
    slides: NDArray[np.bool_],
    ranges: Array,
    points: Array,
    aims: Array,
    slack: Array,
    axes: Array,
) -> bool:
    """
    Return True if no values within ranges bring all points of a link to their aims.

    If a ball holds all places of a point, those that a range of angles turns it to are within a
    ball, too: the arc of its centre, of radius rho and half angle h, lies within rho sin h of the
    point at rho cos h.

    `frames` (n, 12): the joints in the ones before; `slides` (n,): True for those that slide;
    `ranges` (2, n): of their values [rad or L]. `points`, `aims` (k, 3): in the last frame, and in
    the root frame [L]; `slack` (k,): largest distances that count as met [L]. `axes` (3, m):
    components that count.
    """
    boxes = np.array(ranges)[:, None]
    for _ in range(HALVINGS):
        middle, half = 0.5 * (boxes[0] + boxes[1]), 0.5 * (boxes[1] - boxes[0])
        near, size = half < 0.5 * np.pi, (len(half), len(points))
        nearer, spread = np.where(near, np.cos(half), 0.0), np.where(near, np.sin(half), 1.0)
        growth = np.zeros((len(slides), *size))
        x, y, z = (np.broadcast_to(p, size) for p in points.T)
        for j in range(len(slides) - 1, -1, -1):
            angle, short = middle[:, j, None], nearer[:, j, None]
            if slides[j]:
                growth[j], z = half[:, j, None], z + angle
            else:
                growth[j] = np.hypot(x, y) * spread[:, j, None]
                cosine, sine = short * np.cos(angle), short * np.sin(angle)
                x, y = cosine * x - sine * y, sine * x + cosine * y
            m = frames[j]
            x, y, z = (
                m[3 * k] * x + m[3 * k + 1] * y + m[3 * k + 2] * z + m[9 + k] for k in range(3)
            )
        away = aims - np.stack((x, y, z), axis=2)
        gaps = np.linalg.norm(away @ axes, axis=2) - growth.sum(axis=0) - slack
        left = (gaps <= 0.0).all(axis=1)
        if not left.any():
            return True
        if 2 * left.sum() > MOST_BOXES:
            break
        boxes, score = boxes[:, left], (growth[:, left] @ SHARES[: len(points)]).T
        cut = score.argmax(axis=1)
        each, upper = np.arange(len(cut)), boxes.copy()
        upper[0, each, cut] = boxes[1, each, cut] = middle[left][each, cut]
        boxes = np.concatenate((boxes, upper), axis=1)
    return False
