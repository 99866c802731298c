"""Data of a task for workers: the chain of an arm, goals as 4x4 matrices, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from peers.worker import Unfit
from tasks.judge import Array, quaternion_matrices
from tasks.mechanism import from_plain, Mechanism


def serial_arm(task: dict[str, Any]) -> Mechanism:
    """Return the mechanism of a task, if it is one chain with one pose to reach."""
    arm = from_plain(task['mechanism'])
    ends = [joint.child for joint in arm.joints]
    chained = all(
        joint.parent == above
        for joint, above in zip(arm.joints, ['base', *ends[:-1]], strict=True)
    )
    if arm.loops or task['driven'] or not chained or task['goals'] != [[ends[-1], 'pose']]:
        raise Unfit('for one arm with one pose')
    return arm


def matrices(poses: Array) -> Array:
    """Return poses of seven numbers, (n, 7), as (n, 4, 4)."""
    found = np.tile(np.eye(4), (len(poses), 1, 1))
    found[:, :3, :3], found[:, :3, 3] = quaternion_matrices(poses[:, 3:]), poses[:, :3]
    return found


def arm_cases(task: dict[str, Any]) -> list[tuple[Array, Array]]:
    """Return goal (4, 4) and start of every problem."""
    goals = matrices(np.array(task['targets'])[:, 0])
    return list(zip(goals, np.array(task['starts']), strict=True))


def inside(arm: Mechanism, q: Array) -> Array:
    """Return the values shifted by full turns into the limits if possible."""
    wrapped = q.copy()
    for at, joint in enumerate(arm.movable):
        for turn in (2 * np.pi, -2 * np.pi):
            out = (wrapped[..., at] < joint.lower) | (wrapped[..., at] > joint.upper)
            moved = wrapped[..., at] + turn
            fits = out & (moved >= joint.lower) & (moved <= joint.upper)
            wrapped[..., at] = np.where(fits, moved, wrapped[..., at])
    return wrapped
