"""Problems for the tests of the background solver, and a gate that holds its worker."""

import threading

from ik_node.solver.background import SolveJob
from ik_node.solver.options import SolverOptions
import numpy as np
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE

ENDLESS = SolverOptions(
    restarts=10**6, agreeing_starts=10**6, max_iterations=10**6, stall_threshold=0.0
)
FAR = (3.0, 2.0, 9.0)
FAR_OF = {'planar': 'end_goal', 'hexapod': 'pose', 'arm7': 'hand_goal', 'fivebar': 'tool'}


class Gate:
    """A gate that holds every run of the worker until it is released, and records the runs."""

    def __init__(self, monkeypatch):
        self.begun, self.allowed = threading.Semaphore(0), threading.Semaphore(0)
        self.runs = []  # of (start, solution)
        run = SolveJob.run

        def held(job):
            self.begun.release()
            assert self.allowed.acquire(timeout=PATIENCE)
            task, starts = job.task, []

            def seen(stop, start):
                starts.append(job.read if start is None else start)
                return task(stop, start)

            job.task = seen
            solution = run(job)
            job.task = task
            self.runs.append((starts[0], solution))
            return solution

        monkeypatch.setattr(SolveJob, 'run', held)

    def wait(self):
        assert self.begun.acquire(timeout=PATIENCE)

    def let(self, runs=1):
        for _ in range(runs):
            self.allowed.release()


def workers():
    return {thread for thread in threading.enumerate() if thread.name == 'ik_node solver'}


def out_of_reach(name):
    m = MECHANISMS[name]()
    m.goals[FAR_OF[name]].set_position(*FAR)
    return m


def reachable(m, seed):
    """Set poses of random joint values as goals of a mechanism without loops."""
    names = m.solver().joint_names
    q = m.random_q(names, np.random.default_rng(seed), spread=0.5)
    for goal in m.goals.values():
        position, quat = m.pose_of(goal.child.name, names, q)
        goal.set_position(*position)
        goal.set_quaternion(*quat)


def values(m):
    return m.solver().q
