"""The status of a solve."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """
    The status with which a solve ended; larger is worse.

    CONVERGED: every closure and goal is within its tolerance. STALLED: no step reduces the cost
    any further, and the best configuration found is returned. DIVERGED: with adaptive damping off,
    the cost grew beyond the divergence threshold. TIMEOUT: the iterations or the time budget are
    spent.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> solution = ik.Solver(robot).solve_pose({'tool_link': ((9, 0, 0), (0, 0, 0, 1))})
    >>> solution.status is ik.Status.STALLED
    True

    """

    CONVERGED = 0
    STALLED = 1
    DIVERGED = 2
    TIMEOUT = 3

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


STATUS_NAMES: tuple[str, ...] = tuple(status.name for status in Status)
