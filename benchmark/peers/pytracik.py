"""Worker of pytracik (TRAC-IK), whose two threads share one core."""

from __future__ import annotations

from importlib.metadata import version
import os
from typing import Any

import numpy as np
from peers.reading import serial_arm
from peers.worker import Answer, serve, Unfit
import pytracik


class TracIk:
    """An arm by its URDF."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        arm = serial_arm(task)
        if len(arm.movable) > 10:
            raise Unfit('made for arms')
        tip = arm.joints[-1].child
        timeout, speed = options.get('timeout', 0.005), pytracik.SolveType.Speed
        urdf = task['mechanism']['urdf']
        # Its epsilon bounds every component of the error.
        self.chain = pytracik.TRAC_IK('base', tip, urdf, timeout, tolerance / 10, speed)
        targets = np.array(task['targets'])[:, 0]
        self.cases = list(zip(np.array(task['starts']), targets, strict=True))

    def solve(self, case: Any) -> Any:
        """Solve once."""
        start, pose = case
        return pytracik.ik(self.chain, start, *pose), start

    def read(self, raw: Any) -> Answer:
        """Return the values, or the start if no solution was found."""
        found, start = raw
        good = found[0] >= 0
        return Answer(found[1:] if good else start, None, bool(good))


if __name__ == '__main__':
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    serve(TracIk, version('pytracik'))
