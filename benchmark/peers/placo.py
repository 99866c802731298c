"""
Worker of placo: QP steps until goals and loops are met, as users write it.

Loops are relative tasks between the two cut ends, hard or soft with ten times the goals' weight.
Errors are tested on tasks that have been updated after the step.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
import tempfile
from typing import Any

import numpy as np
from peers.reading import matrices
from peers.worker import Answer, serve
import placo
from tasks.mechanism import from_plain, HINGE, POINT


class QpLoop:
    """
    A task for `KinematicsSolver`.

    Options: `loops` 'hard' or 'soft'; `regularization`; `steps` of one start; `starts`.
    """

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        self.mechanism = m = from_plain(task['mechanism'])
        self.tolerance, self.steps = tolerance, options.get('steps', 100)
        self.starts = options.get('starts', 1)
        self.rng = np.random.default_rng(0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.urdf'
            path.write_text(task['mechanism']['urdf_with_ends'])
            self.robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(True)
        self.lower = np.array([joint.lower for joint in m.movable])
        self.upper = np.array([joint.upper for joint in m.movable])
        limited = bool(np.isfinite(self.lower).any())
        self.solver.enable_joint_limits(limited and options.get('limits', True))
        self.solver.enable_velocity_limits(False)
        self.solver.add_regularization_task(options.get('regularization', 1e-4))
        self.tests: list[Any] = []
        kind = options.get('loops', 'soft')
        for loop in m.loops:
            self._close(loop, kind, 10.0 if kind == 'soft' else 1.0)
        self.frames = []
        for link, asked in task['goals']:
            if asked == 'position':
                goal = self.solver.add_position_task(link, np.zeros(3))
                goal.configure(link, 'soft', 1.0)
                self.tests.append(goal)
            else:
                goal = self.solver.add_frame_task(link, np.eye(4))
                goal.configure(link, 'soft', 1.0, 1.0)
                self.tests += [goal.position(), goal.orientation()]
            self.frames.append((goal, asked))
        for name in task['driven']:
            self.solver.mask_dof(name)
        self.places = np.array([self.robot.get_joint_offset(name) for name in m.names])
        self.cases = self._cases(task)

    def _close(self, loop: Any, kind: str, weight: float) -> None:
        a, b = f'{loop.name}_a', f'{loop.name}_b'
        if loop.dof in (POINT, HINGE):
            tied = self.solver.add_relative_position_task(b, a, np.zeros(3))
            if loop.dof == HINGE:
                # The hinges of all mechanisms here lie in a plane: two rows say it all.
                tied.mask.set_axises('xy', 'local')
            tied.configure(loop.name, kind, weight)
            self.tests.append(tied)
            return
        tied = self.solver.add_relative_frame_task(b, a, np.eye(4))
        tied.configure(loop.name, kind, weight, weight)
        self.tests += [tied.position(), tied.orientation()]

    def _cases(self, task: dict[str, Any]) -> list[Any]:
        starts, targets = np.array(task['starts']), np.array(task['targets'])
        full = np.tile(self.robot.state.q, (len(starts), 1))
        full[:, self.places] = starts
        driven = self.places[task['driven_columns']]
        if len(driven):
            full[:, driven] = task['driven_values']
        goals: list[Any] = [[] for _ in starts]
        for at, (_, asked) in enumerate(self.frames):
            wanted = targets[:, at, :3] if asked == 'position' else matrices(targets[:, at])
            for listed, each in zip(goals, wanted, strict=True):
                listed.append(each)
        return list(zip(full, goals, strict=True))

    def solve(self, case: Any) -> Any:
        """Step until all tasks are met."""
        start, goals = case
        for (task, asked), goal in zip(self.frames, goals, strict=True):
            if asked == 'position':
                task.target_world = goal
            else:
                task.T_world_frame = goal
        robot, solver, count = self.robot, self.solver, 0
        robot.state.q = start
        robot.update_kinematics()
        for attempt in range(self.starts):
            if attempt:
                drawn = start.copy()
                drawn[self.places] = self.rng.uniform(self.lower, self.upper)
                robot.state.q = drawn
                robot.update_kinematics()
            for _ in range(self.steps):
                if self._met():
                    return robot.state.q.copy(), count, True
                try:
                    solver.solve(True)
                except RuntimeError:
                    break
                robot.update_kinematics()
                count += 1
        return robot.state.q.copy(), count, self._met()

    def _met(self) -> bool:
        tolerance = self.tolerance
        for test in self.tests:
            test.update()
            if test.error_norm() > tolerance:
                return False
        return True

    def read(self, raw: Any) -> Answer:
        """Return the joints' values."""
        q, count, met = raw
        return Answer(q[self.places], count, met)


if __name__ == '__main__':
    serve(QpLoop, version('placo'))
