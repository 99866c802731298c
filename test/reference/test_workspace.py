"""Workspaces have the required size, belong to one chain, and are reused."""

import gc
import tracemalloc

from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

OPTIONS = SolverOptions(restarts=2)


class Work:
    """A problem of a mechanism with access to its workspaces."""

    def __init__(self, name):
        self.mechanism = MECHANISMS[name]()
        tree = build_tree(find_roots(self.mechanism.roots))
        self.problem = Problem(tree, [request_of(joint) for joint in tree.closers])
        self.problem.refresh(OPTIONS)
        self.joints = JointTable(tree).rows
        self.names = tree.names

    @property
    def arrays(self):
        """Return the integer and float workspaces of every chain."""
        chains = self.problem.chains
        return [array for c in chains for array in (c.work_ints, c.work_floats)]

    def run(self, q):
        """Solve from q."""
        return self.problem.run(q.copy(), self.joints, OPTIONS.packed(), 0.0)


@pytest.mark.parametrize('name', ['hexapod'])
def test_workspace_is_reused_without_allocation(name):
    """A hundred solves use the same memory and less than a kilobyte more."""
    work, rng = Work(name), np.random.default_rng(3)
    starts = [work.mechanism.random_q(work.names, rng, 0.2) for _ in range(100)]
    before = [array.ctypes.data for array in work.arrays]
    work.run(starts[0])
    gc.collect()
    tracemalloc.start()
    try:
        work.run(starts[0])
        first = tracemalloc.get_traced_memory()[0]
        for start in starts:
            work.run(start)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - first
    finally:
        tracemalloc.stop()
    assert grown < 1024
    assert [array.ctypes.data for array in work.arrays] == before


def test_old_workspace_content_does_not_change_answer():
    """A workspace full of NaN gives the same bits as a new one."""
    fresh, used = Work('hexapod'), Work('hexapod')
    q = fresh.mechanism.random_q(fresh.names, np.random.default_rng(4), 0.05)
    for array in used.arrays:
        array[...] = -7 if array.dtype == np.int64 else np.nan
    used.problem.refresh(OPTIONS)  # what is asked stands there, too
    first, second = fresh.run(q), used.run(q)
    assert [a.status for a in first] == [a.status for a in second]
    np.testing.assert_array_equal(first[0].errors, second[0].errors)
