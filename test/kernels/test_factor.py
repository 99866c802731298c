"""The block factorisation of a step agrees with dense solves."""

from ik_node.kernels.layout import begin_of, BLOCK, make_workspace, SIZES
from ik_node.model.chains import find_chains, support_of
from ik_node.model.flatten import flatten
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
import numpy as np
from support.kernel_calls import step_system
from support.mechanisms import MECHANISMS

LOOPS = ('coupled', 'relative', 'snake', 'fivebar', 'hexapod_single', 'two_arm_box', 'walker')


def packed_chains(mechanism):
    """Flatten every chain of a mechanism."""
    tree = build_tree(find_roots(mechanism.roots))
    requests = [request_of(joint) for joint in tree.closers]
    supports = [support_of(tree, request) for request in requests]
    chains = find_chains(tree, requests, supports)
    return [flatten(tree, requests, supports, chain) for chain in chains]


class StepSystem:
    """The matrix [D J^T; J -M] of a chain with random entries, in dense and sparse form."""

    def __init__(self, flat, rng, redundant=False):
        self.flat = flat
        self.k, self.w = make_workspace(flat.ints)
        self.nv, self.nr = len(flat.var_q), sum(flat.row_counts)
        at, slots = begin_of(flat.ints, 'jac'), int(flat.ints[SIZES.index('ns')])
        numbers = rng.normal(size=(slots, BLOCK))
        slot0 = begin_of(flat.ints, 'slot0')
        for c, rows in enumerate(flat.row_counts):
            own = numbers[int(flat.ints[slot0 + c]) : int(flat.ints[slot0 + c + 1])]
            own[:, rows:] = 0.0
            if redundant and rows > 1:
                own[:, rows - 1] = own[:, 0]
        self.w[at : at + numbers.size] = numbers.ravel()
        self.jac = flat.dense(numbers)
        self.damping = 10.0 ** rng.uniform(-3, 1, self.nv)
        self.softness = 10.0 ** rng.uniform(-3, 1, self.nr)
        self.load = rng.normal(size=self.nr)
        self.fixed = rng.random(self.nv) < 0.2
        begin = begin_of(flat.ints, 'damping')
        self.w[begin : begin + self.nv] = self.damping
        for name in ('softness', 'load'):
            self.w[begin_of(flat.ints, name) + flat.rows] = getattr(self, name)
        begin = begin_of(flat.ints, 'fixed')
        self.k[begin : begin + self.nv] = 3 * self.fixed

    def solved(self):
        """Return the step and the multipliers of the rows from the kernel."""
        step_system(self.flat.ints, self.flat.floats, self.k, self.w)
        full, load = begin_of(self.flat.ints, 'full'), begin_of(self.flat.ints, 'load')
        return self.w[full : full + self.nv].copy(), self.w[load + self.flat.rows]

    def dense(self):
        """Return the same from a dense solve of the whole system."""
        free = ~self.fixed
        jac = self.jac[:, free]
        system = np.block([[np.diag(self.damping[free]), jac.T], [jac, -np.diag(self.softness)]])
        right = np.concatenate((np.zeros(free.sum()), -self.load))
        answer = np.linalg.solve(system, right)
        change = np.zeros(self.nv)
        change[free] = answer[: free.sum()]
        return change, answer[free.sum() :]


def test_sparse_step_equals_dense_step():
    """With fixed variables and with redundant rows."""
    for name in LOOPS:
        for redundant in [False, True]:
            rng = np.random.default_rng(len(name))
            for flat in packed_chains(MECHANISMS[name]()):
                system = StepSystem(flat, rng, redundant)
                for found, wanted in zip(system.solved(), system.dense(), strict=True):
                    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)
