# flake8: noqa: E203
"""The sparse factorisation against dense solves, for random structures."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.kernels.factor import minimum_degree
from ik_node.kernels.layout import begin_of, make_workspace
from ik_node.model.chains import find_chains, support_of
from ik_node.model.flatten import flatten
from ik_node.model.request import request_of
from ik_node.model.topology import find_roots
from ik_node.model.tree import build_tree
from kernel_calls import step_system
from mechanisms import MECHANISMS
import numpy as np
import pytest

LOOPS = [n for n in MECHANISMS if n not in ('universals', 'ball_limited', 'planar')]


def fill_of(adjacent, order):
    """Eliminate a dense graph in the given order; return which pairs got a number."""
    adjacent = adjacent.astype(bool)
    pattern = np.zeros_like(adjacent)
    left = np.ones(len(order), dtype=bool)
    for unknown in order:
        left[unknown] = False
        reached = adjacent[unknown] & left
        pattern[unknown] = reached
        adjacent |= np.outer(reached, reached)
        np.fill_diagonal(adjacent, False)
    return pattern


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.floats(0.0, 0.5), st.integers(0, 10**6))
def test_minimum_degree(size, density, seed):
    """The order is a permutation, and the pattern is the true fill of that order."""
    rng = np.random.default_rng(seed)
    adjacent = np.triu(rng.random((size, size)) < density, 1)
    adjacent = (adjacent | adjacent.T).astype(np.uint8)
    order, pattern = np.zeros(size, np.int64), np.zeros((size, size), np.uint8)
    minimum_degree(adjacent.copy(), order, pattern)
    assert sorted(order.tolist()) == list(range(size))
    np.testing.assert_array_equal(pattern.astype(bool), fill_of(adjacent, order))


def test_a_star_is_eliminated_without_fill():
    """The hub of a star goes after its rays: one number a ray."""
    adjacent = np.zeros((9, 9), np.uint8)
    adjacent[0, 1:] = adjacent[1:, 0] = 1
    order, pattern = np.zeros(9, np.int64), np.zeros((9, 9), np.uint8)
    minimum_degree(adjacent, order, pattern)
    assert pattern.sum() == 8
    assert order.tolist().index(0) >= 7


def packed_chains(mechanism):
    """Flatten every chain of a mechanism."""
    tree = build_tree(find_roots(mechanism.roots))
    requests = [request_of(joint) for joint in tree.closers]
    supports = [support_of(tree, request) for request in requests]
    chains = find_chains(tree, requests, supports)
    return [flatten(tree, requests, supports, chain) for chain in chains]


class StepSystem:
    """One chain's [D J^T; J -M] with random numbers in its pattern, dense beside sparse."""

    def __init__(self, flat, rng, redundant=False):
        self.flat = flat
        self.k, self.w = make_workspace(flat.ints)
        self.nv, self.nr = len(flat.var_q), sum(flat.row_counts)
        self.jac = np.zeros((self.nr, self.nv))
        slot0, slot_var = begin_of(flat.ints, 'slot0'), begin_of(flat.ints, 'slot_var')
        row, at = 0, begin_of(flat.ints, 'jac')
        for c, rows in enumerate(flat.row_counts):
            slots = flat.ints[
                slot_var + flat.ints[slot0 + c] : slot_var + flat.ints[slot0 + c + 1]
            ]
            block = rng.normal(size=(rows, len(slots)))
            if redundant and rows > 1:
                block[-1] = block[0]
            self.jac[row : row + rows, slots] = block
            self.w[at : at + block.size] = block.ravel()
            row, at = row + rows, at + block.size
        self.damping = 10.0 ** rng.uniform(-3, 1, self.nv)
        self.softness = 10.0 ** rng.uniform(-3, 1, self.nr)
        self.load = rng.normal(size=self.nr)
        self.fixed = rng.random(self.nv) < 0.2
        for name in ('damping', 'softness', 'load'):
            begin, values = begin_of(flat.ints, name), getattr(self, name)
            self.w[begin : begin + values.size] = values
        begin = begin_of(flat.ints, 'fixed')
        self.k[begin : begin + self.nv] = 3 * self.fixed

    def solved(self):
        """Return the change of the variables and the rows' multipliers that the kernel finds."""
        step_system(self.flat.ints, self.flat.floats, self.k, self.w)
        full, load = begin_of(self.flat.ints, 'full'), begin_of(self.flat.ints, 'load')
        return self.w[full : full + self.nv].copy(), self.w[load : load + self.nr].copy()

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


@pytest.mark.parametrize('name', LOOPS)
@pytest.mark.parametrize('redundant', [False, True])
def test_the_step_is_that_of_a_dense_solve(name, redundant):
    """Sparse and dense agree, with held variables and with rows that say the same thing twice."""
    rng = np.random.default_rng(len(name))
    for flat in packed_chains(MECHANISMS[name]()):
        system = StepSystem(flat, rng, redundant)
        for found, wanted in zip(system.solved(), system.dense(), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def test_the_step_minimises_the_damped_sum_of_squares():
    """|c|^2_D + |J c + load|^2_(1/M) is stationary in every free variable."""
    (flat,) = packed_chains(MECHANISMS['hexapod']())
    system = StepSystem(flat, np.random.default_rng(0))
    change, multipliers = system.solved()
    short = (system.jac @ change + system.load) / system.softness
    gradient = system.damping * change + system.jac.T @ short
    assert np.abs(gradient[~system.fixed]).max() < 1e-8
    np.testing.assert_allclose(multipliers, short, atol=1e-8)
    assert system.fixed.any()
    assert not change[system.fixed].any()


def test_everything_held():
    """With all variables held nothing changes, and rows pull with all they are short of."""
    (flat,) = packed_chains(MECHANISMS['fourbar']())
    system = StepSystem(flat, np.random.default_rng(0))
    begin = begin_of(flat.ints, 'fixed')
    system.k[begin : begin + system.nv] = 1
    change, multipliers = system.solved()
    assert not change.any()
    np.testing.assert_allclose(multipliers, system.load / system.softness)


def test_the_factor_of_legs_stays_sparse():
    """Six legs on a platform: far fewer numbers in the factor than in a full one."""
    (flat,) = packed_chains(MECHANISMS['hexapod_single']())
    size = len(flat.var_q) + sum(flat.row_counts)
    numbers = begin_of(flat.ints, 'scratch') - begin_of(flat.ints, 'lower_factor')
    assert numbers < 0.35 * size * (size - 1) / 2
