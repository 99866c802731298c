"""Worker of ikpy: `inverse_kinematics_frame` with all of the orientation."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
import tempfile
from typing import Any
import warnings

from ikpy.chain import Chain
import numpy as np
from peers.reading import arm_cases, serial_arm
from peers.worker import Answer, serve, Unfit

warnings.simplefilter('ignore')


class ScipyChain:
    """An arm by its URDF; fixed joints are inactive."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        arm = serial_arm(task)
        if len(arm.movable) > 10:
            raise Unfit('made for arms')
        self.mask = np.array([False, *(joint.kind != 'fixed' for joint in arm.joints)])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'arm.urdf'
            path.write_text(task['mechanism']['urdf'])
            self.chain = Chain.from_urdf_file(
                str(path), base_elements=['base'], active_links_mask=self.mask, symbolic=False
            )
        self.cases = []
        for goal, start in arm_cases(task):
            padded = np.zeros(len(self.mask))
            padded[self.mask] = start
            self.cases.append((goal, padded))

    def solve(self, case: Any) -> Any:
        """Solve once."""
        goal, start = case
        return self.chain.inverse_kinematics_frame(goal, start, orientation_mode='all')

    def read(self, raw: Any) -> Answer:
        """Return the values of the active links."""
        return Answer(np.asarray(raw)[self.mask])


if __name__ == '__main__':
    serve(ScipyChain, version('ikpy'))
