"""Worker of roboticstoolbox-python: `ETS.ik_LM`, its C++ Levenberg-Marquardt with restarts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from peers.reading import arm_cases, serial_arm
from peers.worker import Answer, serve
from roboticstoolbox import ET, ETS
from tasks.judge import pose_matrix


class LevenbergMarquardt:
    """An arm as elementary transforms; options `k` and `slimit` are passed on."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        arm = serial_arm(task)
        transforms = []
        for joint in arm.joints:
            place = pose_matrix(joint.xyz, joint.rpy)
            if not np.array_equal(place, np.eye(4)):
                transforms.append(ET.SE3(place))
            if joint.kind != 'fixed':
                letter = 'xyz'[joint.axis.index(1.0)]
                make = getattr(ET, ('t' if joint.kind == 'prismatic' else 'R') + letter)
                transforms.append(make(qlim=np.array((joint.lower, joint.upper))))
        self.ets = ETS(transforms)
        self.cases = arm_cases(task)
        # Its residual is half the squared norm of all six errors.
        self.options = {'k': 0.1, 'method': 'chan', 'tol': 0.5 * tolerance**2, **options}

    def solve(self, case: Any) -> Any:
        """Solve once."""
        goal, start = case
        return self.ets.ik_LM(goal, q0=start, **self.options)

    def read(self, raw: Any) -> Answer:
        """Return the values of the solution."""
        return Answer(raw.q, int(raw.iterations), bool(raw.success))


if __name__ == '__main__':
    serve(LevenbergMarquardt, version('roboticstoolbox-python'))
