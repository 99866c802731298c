"""
Worker of mink for motions: QP steps from frame to frame; loops are tasks of weight 100.

`python -m mink_motion IN.npz OUT.npz`. In each frame the targets are set, and steps are
taken until they lower the norm of all errors by less than `gain`, at most `steps` of them.
"""

from __future__ import annotations

from importlib.metadata import version
import logging
import sys
from time import process_time
from typing import Any

import mink
import mujoco
import numpy as np

logging.disable(logging.WARNING)

LOOPS = 100.0  # weight of the loops
DT = 1.0 / 60.0


class Follower:
    """The robot and its tasks; `given` is the content of IN.npz."""

    def __init__(self, given: Any) -> None:
        self.model = mujoco.MjModel.from_xml_string(str(given['mjcf']))
        self.places = np.array([self.model.joint(str(n)).qposadr[0] for n in given['joints']])
        self.configuration = mink.Configuration(self.model)
        self.goals = [
            mink.FrameTask(str(body), 'body', float(near), float(turned))
            for body, near, turned in zip(
                given['bodies'], given['position_cost'], given['orientation_cost'], strict=True
            )
        ]
        self.loops = mink.EqualityConstraintTask(self.model, cost=LOOPS)
        self.tasks = [*self.goals, self.loops]
        self.limits = [mink.ConfigurationLimit(self.model)]
        self.damping, self.gain = float(given['damping']), float(given['gain'])
        self.steps = int(given['steps'])

    def start(self, q: Any) -> None:
        """Go to a configuration."""
        whole = np.zeros(self.model.nq)
        whole[self.places] = q
        self.configuration.update(whole)

    def follow(self, targets: Any) -> int:
        """Step towards the targets of a frame; return the number of steps."""
        for task, target in zip(self.goals, targets, strict=True):
            task.set_target(target)
        before = np.inf
        for count in range(1, self.steps + 1):
            velocity = mink.solve_ik(
                self.configuration,
                self.tasks,
                DT,
                'daqp',
                damping=self.damping,
                limits=self.limits,
            )
            self.configuration.integrate_inplace(velocity, DT)
            if count == self.steps:
                break
            error = self.error()
            if before - error < self.gain:
                break
            before = error
        return count

    def error(self) -> float:
        """Return the norm of all weighted errors of the goals."""
        errors = [task.cost * task.compute_error(self.configuration) for task in self.goals]
        return float(np.linalg.norm(np.concatenate(errors)))


def main() -> None:
    """Follow every clip and write joint values, processor times and steps."""
    with np.load(sys.argv[1]) as given:
        follower = Follower(given)
        clips, first = given['targets'], given['first']
    q = np.zeros((*clips.shape[:2], len(follower.places)))
    seconds, steps, gap = np.zeros(len(clips)), 0, 0.0
    for number, clip in enumerate(clips):
        targets = [[mink.SE3(np.array([*p[6:], *p[3:6], *p[:3]])) for p in row] for row in clip]
        follower.start(first[number])
        found = []
        begin = process_time()
        for row in targets:
            steps += follower.follow(row)
            found.append(follower.configuration.q.copy())
        seconds[number] = process_time() - begin
        q[number] = np.array(found)[:, follower.places]
        for row in found:
            follower.configuration.update(row)
            gaps = follower.loops.compute_error(follower.configuration).reshape(-1, 3)
            gap = max(gap, float(np.linalg.norm(gaps, axis=1).max()))
    np.savez(sys.argv[2], q=q, seconds=seconds, steps=steps, gap=gap, version=version('mink'))


if __name__ == '__main__':
    main()
