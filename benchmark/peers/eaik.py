"""Worker of EAIK: all analytic solutions of a 6R arm; the nearest valid one counts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from eaik.IK_Homogeneous import HomogeneousRobot
import numpy as np
from peers.reading import arm_cases, inside, serial_arm
from peers.worker import Answer, serve, Unfit
from tasks.judge import forward, pose_matrix


class Analytic:
    """A 6R arm defined by its axes at zero."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        arm = serial_arm(task)
        if len(arm.movable) != 6:
            raise Unfit('analytic, for 6R arms')
        poses = forward(arm, np.zeros(6))
        frames = []
        for joint in arm.movable:
            # Its joints all turn about one axis of their frames: turn every frame's z onto ours.
            turned = np.eye(4)
            turned[:3, :3] = {0: ROLL, 1: PITCH, 2: np.eye(3)}[joint.axis.index(1.0)]
            frames.append(poses[joint.parent][0] @ pose_matrix(joint.xyz, joint.rpy) @ turned)
        frames.append(poses[arm.joints[-1].child][0])
        self.robot = HomogeneousRobot(np.array(frames))
        if not self.robot.hasKnownDecomposition():
            raise Unfit('it knows no decomposition of this arm')
        self.arm = arm
        self.lower = np.array([joint.lower for joint in arm.movable])
        self.upper = np.array([joint.upper for joint in arm.movable])
        self.cases = arm_cases(task)

    def solve(self, case: Any) -> Any:
        """Compute all solutions, and the nearest within the limits."""
        goal, start = case
        found = self.robot.IK(goal)
        q = np.array(found.Q)
        exact = ~np.array(found.is_LS, dtype=bool)
        q = q[exact] if exact.any() else q
        if not len(q):
            return start
        out = ((q < self.lower) | (q > self.upper)).any(axis=1)
        if out.any():
            q = inside(self.arm, q)
            out = ((q < self.lower) | (q > self.upper)).any(axis=1)
            q = q[~out] if not out.all() else q
        return q[np.abs(q - start).sum(axis=1).argmin()]

    def read(self, raw: Any) -> Answer:
        """Return the values."""
        return Answer(raw)


# Take z onto x, and onto y.
ROLL = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
PITCH = np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))

if __name__ == '__main__':
    serve(Analytic, version('EAIK'))
