"""Worker of mink: QP steps by DAQP until all tasks are met; loops have weight 100."""

from __future__ import annotations

from importlib.metadata import version
import logging
import sys
from typing import Any

import mink
import mujoco
import numpy as np
from peers.worker import Answer, serve
from tasks.judge import Array, quaternions, rpy_matrix
from tasks.mechanism import from_plain, HINGE, Loop, Mechanism, POINT

logging.disable(logging.WARNING)


def mjcf(m: Mechanism) -> str:
    """Return the mechanism as MJCF; equality constraints between sites close its loops."""
    below: dict[str, list[Any]] = {}
    for joint in m.joints:
        below.setdefault(joint.parent, []).append(joint)
    sites: dict[str, str] = {}
    for loop in m.loops:
        for link, name, xyz, rpy in (
            (loop.link_a, f'{loop.name}_a', loop.xyz_a, loop.rpy_a),
            (loop.link_b, f'{loop.name}_b', loop.xyz_b, loop.rpy_b),
        ):
            sites[link] = sites.get(link, '') + f'<site name="{name}" {place(xyz, rpy)}/>'

    def body(link: str, joint: Any) -> str:
        moves = ''
        if joint.kind != 'fixed':
            kind = {'revolute': 'hinge', 'prismatic': 'slide'}[joint.kind]
            bounded = np.isfinite(joint.lower) and np.isfinite(joint.upper)
            ends = f' limited="true" range="{joint.lower!r} {joint.upper!r}"' if bounded else ''
            axis = ' '.join(map(str, joint.axis))
            moves = f'<joint name="{joint.name}" type="{kind}" axis="{axis}"{ends}/>'
        inside = ''.join(body(each.child, each) for each in below.get(link, []))
        return (
            f'<body name="{link}" {place(joint.xyz, joint.rpy)}>{moves}'
            '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>'
            f'{sites.get(link, "")}{inside}</body>'
        )

    world = ''.join(body(each.child, each) for each in below.get('base', []))
    ties = ''.join(tie(loop) for loop in m.loops)
    return (
        '<mujoco><compiler angle="radian" autolimits="false"/>'
        f'<worldbody>{sites.get("base", "")}{world}</worldbody>'
        f'<equality>{ties}</equality></mujoco>'
    )


def tie(loop: Loop) -> str:
    """Return the constraint of a loop; a hinge in a plane needs its point only."""
    kind = 'connect' if loop.dof in (POINT, HINGE) else 'weld'
    return f'<{kind} name="{loop.name}" site1="{loop.name}_a" site2="{loop.name}_b"/>'


def place(xyz: Any, rpy: Any) -> str:
    """Return attributes of position and orientation."""
    x, y, z, w = quaternions(rpy_matrix(rpy)[None])[0]
    return f'pos="{" ".join(map(repr, map(float, xyz)))}" quat="{w} {x} {y} {z}"'


class QpLoop:
    """A task for `solve_ik`; options: `steps`, `damping` of the goals' Levenberg-Marquardt."""

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        m = from_plain(task['mechanism'])
        self.tolerance, self.steps = tolerance, options.get('steps', 100)
        self.model = mujoco.MjModel.from_xml_string(mjcf(m))
        self.configuration = mink.Configuration(self.model)
        self.places = np.array([self.model.joint(name).qposadr[0] for name in m.names])
        self.tasks: list[Any] = []
        self.goals = []
        for link, asked in task['goals']:
            turned = 0.0 if asked == 'position' else 1.0
            goal = mink.FrameTask(link, 'body', 1.0, turned, lm_damping=options['damping'])
            self.goals.append(goal)
        self.tasks += self.goals
        self.loops = None
        if m.loops:
            self.loops = mink.EqualityConstraintTask(self.model, cost=100.0)
            self.tasks.append(self.loops)
        self.frozen = None
        starts = np.zeros((len(task['starts']), self.model.nq))
        starts[:, self.places] = task['starts']
        if task['driven']:
            columns = self.places[task['driven_columns']]
            starts[:, columns] = task['driven_values']
            self.frozen = [mink.DofFreezingTask(self.model, columns.tolist())]
        limited = any(np.isfinite(joint.lower) for joint in m.movable)
        self.limits = [mink.ConfigurationLimit(self.model)] if limited else []
        self.cases = []
        for start, poses in zip(starts, task['targets'], strict=True):
            goals = [mink.SE3(np.array([p[6], *p[3:6], *p[:3]])) for p in poses]
            self.cases.append((start, goals))

    def solve(self, case: Any) -> Any:
        """Step until all tasks are met."""
        start, goals = case
        configuration = self.configuration
        configuration.update(start)
        for task, goal in zip(self.goals, goals, strict=True):
            task.set_target(goal)
        for count in range(self.steps):
            if self.met():
                return configuration.q.copy(), count, True
            try:
                speed = mink.solve_ik(
                    configuration,
                    self.tasks,
                    1.0,
                    'daqp',
                    limits=self.limits,
                    constraints=self.frozen,
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(speed, 1.0)
        return configuration.q.copy(), self.steps, self.met()

    def met(self) -> bool:
        """Return True if all errors are within the tolerance."""
        for task in self.goals:
            error: Array = task.compute_error(self.configuration)
            if np.linalg.norm(error[:3]) > self.tolerance:
                return False
            if task.cost[3] and np.linalg.norm(error[3:]) > self.tolerance:
                return False
        if self.loops is None:
            return True
        gaps = self.loops.compute_error(self.configuration).reshape(-1, 3)
        return bool((np.linalg.norm(gaps, axis=1) <= self.tolerance).all())

    def read(self, raw: Any) -> Answer:
        """Return the joints' values."""
        q, count, met = raw
        return Answer(q[self.places], count, met)


if __name__ == '__main__':
    # Bodies are written inside one another.
    sys.setrecursionlimit(5000)
    serve(QpLoop, version('mink'))
