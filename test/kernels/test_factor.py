"""The block factorisation of a step agrees with dense solves."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.kernels.layout import begin_of, BLOCK, FIELDS, make_workspace, pack_model, SIZES
from ik_node.model.chains import find_chains, support_of
from ik_node.model.elimination import plan_elimination
from ik_node.model.flatten import FlatChain, flatten
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
import numpy as np
import pytest
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


def test_fixed_variables_stay_and_multipliers_equal_residuals():
    """With all variables fixed, nothing changes."""
    (flat,) = packed_chains(MECHANISMS['fourbar']())
    system = StepSystem(flat, np.random.default_rng(0))
    begin = begin_of(flat.ints, 'fixed')
    system.k[begin : begin + system.nv] = 1
    change, multipliers = system.solved()
    assert not change.any()
    np.testing.assert_allclose(multipliers, system.load / system.softness)


def made_up(slots, row_counts, variable_count):
    """Return a chain that consists of given rows and variables only."""
    fields, sizes = plan_elimination(slots, row_counts, variable_count)
    count = len(slots)
    sizes |= {
        'n': 0,
        'nv': variable_count,
        'nc': count,
        'nr': BLOCK * count,
        'ne': 0,
        'nq': variable_count,
        'width': 2,
        'groups': 0,
        'nd': 0,
        'nt': 0,
        'seen': 0,
        **dict.fromkeys(('bodies', 'hull_points', 'checks', 'solid'), 0),
    }
    sizes['ns'] = sum(len(own) for own in slots)
    fields['slot0'] = np.cumsum([0, *(len(own) for own in slots)])
    fields['slot_var'] = np.array([v for own in slots for v in own], dtype=np.int64)
    for name, (array, length, _) in FIELDS.items():
        if array in 'if' and name not in fields:
            fields[name] = np.zeros(eval(length, {}, sizes))  # a sum or product of sizes
    rows = [np.arange(BLOCK * c, BLOCK * c + rows) for c, rows in enumerate(row_counts)]
    ints, floats = pack_model(sizes, fields)
    places = np.arange(variable_count)
    return FlatChain(ints, floats, (), places, tuple(row_counts), np.concatenate(rows))


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 7), st.integers(1, 20), st.floats(0.05, 1.0), st.integers(0, 10**6))
def test_random_structures_are_solved_like_dense_systems(constraints, variables, density, seed):
    """Dense structures and nested loops are included."""
    rng = np.random.default_rng(seed)
    touches = rng.random((constraints, variables)) < density
    touches[rng.integers(constraints, size=variables), np.arange(variables)] = True
    slots = [np.flatnonzero(row).tolist() for row in touches]
    flat = made_up(slots, rng.integers(1, 7, constraints).tolist(), variables)
    system = StepSystem(flat, rng)
    for found, wanted in zip(system.solved(), system.dense(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


def work_of(flat):
    """Return the number of row operations of a factorisation's outer products."""
    sizes = dict(zip(SIZES, flat.ints[: len(SIZES)].tolist(), strict=True))
    return BLOCK * (sizes['parts'] + BLOCK * sizes['updates'])


def legs_on_a_platform(count):
    """Return a chain of legs with three variables each and a platform with six."""
    platform = list(range(6))
    slots = [[*platform, *range(6 + 3 * k, 9 + 3 * k)] for k in range(count)]
    return made_up([*slots, platform], [3] * count + [6], 6 + 3 * count)


def test_work_grows_linearly_with_legs_of_platform():
    """There is one block per leg, and the platform comes last."""
    work = [work_of(legs_on_a_platform(count)) for count in (6, 12, 24)]
    assert work[1] < 2.1 * work[0]
    assert work[2] < 2.1 * work[1]


@pytest.mark.parametrize('count', [7, 200])
def test_arm_of_any_length_has_one_block(count):
    """One block of six rows and one outer product per joint."""
    flat = made_up([list(range(count))], [6], count)
    sizes = dict(zip(SIZES, flat.ints[: len(SIZES)].tolist(), strict=True))
    assert (sizes['nb'], sizes['edges'], sizes['parts']) == (1, 0, count)
