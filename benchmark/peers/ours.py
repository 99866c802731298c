"""Worker of our solver: the only file that uses its interface."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import ik_node as ik
from ik_node.solver.problem.joint_table import JointTable
import numpy as np
from peers.worker import Answer, serve


class Ours:
    """
    A task for `Solver`; `options['call']` selects the call.

    prepared  goals through what `prepare` returns
    pose      goals through `solve_pose`
    drive     given joints through `drive`: the loops stay in their branch
    held      given joints set at the start and held there while `prepare` closes the loops
    """

    def __init__(self, task: dict[str, Any], tolerance: float, options: dict[str, Any]) -> None:
        plain = task['mechanism']
        robot = ik.load_robot(plain['urdf'], closures=plain['closures'], assemble=False)
        for link, asked in task['goals']:
            robot.add_goal(link, dof='X Y Z' if asked == 'position' else 'X Y Z EX EY EZ')
        self.solver = ik.Solver(
            robot,
            ik.SolverOptions(
                translation_converge_threshold=tolerance, rotation_converge_threshold=tolerance
            ),
        )
        self.order = [self.solver.joint_names.index(name) for name in plain['names']]
        self.call = options.get('call', 'prepared')
        passive = None
        if self.call == 'held':
            passive = [name for name in plain['names'] if name not in task['driven']]
        self.prepared = self.solver.prepare([link for link, _ in task['goals']], passive)
        self.cases = [self._case(task, at) for at in range(len(task['starts']))]
        self.solver.warm()

    def _case(self, task: dict[str, Any], at: int) -> tuple[Any, ...]:
        q0 = np.zeros(len(self.order))
        q0[self.order] = task['starts'][at]
        if self.call == 'drive':
            return dict(zip(task['driven'], task['driven_values'][at], strict=True)), q0
        if self.call == 'held':
            columns = [self.order[column] for column in task['driven_columns']]
            q0[columns] = task['driven_values'][at]
            return np.zeros((0, 3)), np.zeros((0, 4)), q0
        if self.call == 'prepared':
            poses = np.array(task['targets'][at])
            return poses[:, :3].copy(), poses[:, 3:].copy(), q0
        goals = zip(task['goals'], task['targets'][at], strict=True)
        return {goal[0]: (pose[:3], pose[3:]) for goal, pose in goals}, q0

    def solve(self, case: tuple[Any, ...]) -> ik.Solution:
        """Solve once."""
        if self.call in ('prepared', 'held'):
            return self.prepared(*case)
        if self.call == 'drive':
            return self.solver.drive(*case)
        return self.solver.solve_pose(*case)

    def read(self, raw: ik.Solution) -> Answer:
        """Return the values in the mechanism's order."""
        converged = raw.status is ik.Status.CONVERGED
        return Answer(raw.q[self.order].tolist(), raw.iterations, converged)


def calls_at_goal(task: dict[str, Any]) -> dict[str, Callable[[int], None]]:
    """Return, for every call, a function that repeats it at its goal."""
    player = Ours(task, 1e-6, {'call': 'pose'})
    goals, q0 = player.cases[0]
    solver = player.solver
    q = solver.solve_pose(goals, q0).q
    prepared = solver.prepare(list(goals))
    at = np.array([pose[0] for pose in goals.values()])
    turned = np.array([pose[1] for pose in goals.values()])

    wide = np.zeros((len(goals), 14))
    wide[:, :6:2], wide[:, 6::2] = at, turned

    def pose(count: int) -> None:
        for _ in repeat(None, count):
            solver.solve_pose(goals, q)

    def call_of(positions: Any, quats: Any) -> Callable[[int], None]:
        def call(count: int) -> None:
            for _ in repeat(None, count):
                prepared(positions, quats, q)

        return call

    return {
        'solve_pose': pose,
        'prepared call, arrays': call_of(at, turned),
        'prepared call, tuples': call_of(*(tuple(map(tuple, a.tolist())) for a in (at, turned))),
        'prepared call, lists': call_of(at.tolist(), turned.tolist()),
        'prepared call, views with strides': call_of(wide[:, :6:2], wide[:, 6::2]),
    }


def pose_and_jacobian_loop(player: Ours) -> Callable[[int], Any]:
    """
    Return a function that repeats our kernels for pose, residual and Jacobian.

    Each is a call of `external_step` from Python, which also applies a step.
    """
    solver = player.solver
    problem = solver.problem_for(tuple(player.cases[0][0]))
    problem.refresh(solver.options)
    kernels = problem.chains[0].kernels
    fixed = (solver.q, JointTable(solver.tree).rows, solver.options.packed())
    kernels.linearise(*fixed)

    def many(count: int) -> None:
        for _ in repeat(None, count):
            kernels.external_step(*fixed)

    return many


if __name__ == '__main__':
    serve(Ours, ik.__version__)
