"""
Worker of pinocchio: a Levenberg-Marquardt loop in NumPy, as users write it.

Rows of goals and loops are stacked. The damping decreases with the error, values are cut at
limits, and after too many steps a new start is drawn. pinocchio does not contain these parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from peers.reading import matrices
from peers.worker import Answer, serve, Unfit
import pinocchio as pin
from tasks.judge import Array
from tasks.mechanism import ALL, from_plain

LOCAL, ALIGNED = pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class NumpyLoop:
    """A task for the loop; options: `steps` of a start, `starts`, `damping` per squared error."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        m = from_plain(task['mechanism'])
        self.tolerance, self.damping = tolerance, options.get('damping', 1e-2)
        self.steps, self.starts = options.get('steps', 40), options.get('starts', 25)
        self.rng = np.random.default_rng(0)
        self.model = pin.buildModelFromXML(task['mechanism']['urdf_with_ends'])
        self.data = self.model.createData()
        order = [self.model.joints[self.model.getJointId(name)].idx_q for name in m.names]
        self.places = np.array(order)
        self.lower, self.upper = np.full(self.model.nq, -np.inf), np.full(self.model.nq, np.inf)
        self.lower[self.places] = [joint.lower for joint in m.movable]
        self.upper[self.places] = [joint.upper for joint in m.movable]
        if any(loop.dof == ALL for loop in m.loops):
            raise Unfit('loops by points')
        frame = self.model.getFrameId
        self.ties = [(frame(f'{loop.name}_a'), frame(f'{loop.name}_b')) for loop in m.loops]
        self.goals = [(frame(link), asked) for link, asked in task['goals']]
        driven = self.places[task['driven_columns']]
        self.free = np.setdiff1d(np.arange(self.model.nv), driven)
        starts = np.zeros((len(task['starts']), self.model.nq))
        starts[:, self.places] = task['starts']
        if len(driven):
            starts[:, driven] = task['driven_values']
        targets = np.array(task['targets'])
        self.cases = []
        for start, poses in zip(starts, targets, strict=True):
            goals = [
                pose[:3] if asked == 'position' else pin.SE3(matrices(pose[None])[0])
                for (_, asked), pose in zip(self.goals, poses, strict=True)
            ]
            self.cases.append((start, goals))
        self.drawn = np.where(np.isfinite(self.lower), self.lower, -np.pi)
        self.span = np.where(np.isfinite(self.upper), self.upper, np.pi) - self.drawn

    def rows(self, q: Array, goals: list[Any]) -> tuple[list[Array], list[Array]]:
        """Return errors and Jacobians of all goals and loops."""
        model, data = self.model, self.data
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        short, rows = [], []
        for (frame, asked), goal in zip(self.goals, goals, strict=True):
            if asked == 'position':
                short.append(goal - data.oMf[frame].translation)
                rows.append(pin.getFrameJacobian(model, data, frame, ALIGNED)[:3])
            else:
                short.append(pin.log6(data.oMf[frame].actInv(goal)).vector)
                rows.append(pin.getFrameJacobian(model, data, frame, LOCAL))
        for a, b in self.ties:
            short.append(data.oMf[b].translation - data.oMf[a].translation)
            rows.append(
                pin.getFrameJacobian(model, data, a, ALIGNED)[:3]
                - pin.getFrameJacobian(model, data, b, ALIGNED)[:3]
            )
        return short, rows

    def solve(self, case: Any) -> Any:
        """Step until all tasks are met."""
        start, goals = case
        q, count = start.copy(), 0
        for attempt in range(self.starts):
            if attempt:
                q[self.free] = self.drawn[self.free]
                q[self.free] += self.span[self.free] * self.rng.random(len(self.free))
            for _ in range(self.steps):
                short, rows = self.rows(q, goals)
                error = np.concatenate(short)
                if all(self.met(each) for each in short):
                    return q, count, True
                jacobian = np.concatenate(rows)[:, self.free]
                damping = self.damping * (error @ error) + 1e-9
                if len(error) <= len(self.free):
                    square = jacobian @ jacobian.T
                    square.flat[:: len(square) + 1] += damping
                    step = jacobian.T @ np.linalg.solve(square, error)
                else:
                    square = jacobian.T @ jacobian
                    square.flat[:: len(square) + 1] += damping
                    step = np.linalg.solve(square, jacobian.T @ error)
                q[self.free] += step
                np.clip(q, self.lower, self.upper, out=q)
                count += 1
        return q, count, False

    def met(self, short: Array) -> bool:
        """Return True if the errors of goals and loops are within the tolerance."""
        if len(short) == 3:
            return bool(short @ short <= self.tolerance**2)
        return bool(
            short[:3] @ short[:3] <= self.tolerance**2
            and short[3:] @ short[3:] <= self.tolerance**2
        )

    def read(self, raw: Any) -> Answer:
        """Return the joints' values."""
        q, count, met = raw
        return Answer(q[self.places], count, met)


if __name__ == '__main__':
    serve(NumpyLoop, pin.__version__)
