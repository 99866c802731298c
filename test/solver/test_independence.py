"""Independent chains in any order, and independent solvers and threads."""

from itertools import permutations

from ik_node.solver.status import Status
import numpy as np
import pytest
from support.closed_mechanisms import string_of_bodies
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


@pytest.mark.parametrize('order', list(permutations(range(4)))[1::7], ids=str)
def test_connected_bodies_close_in_every_order_of_roots(order):
    """A-M, M-B and B-C are one chain."""
    m = string_of_bodies(order)
    solver = m.solver()
    (result,) = solver.solve()
    assert result.status is Status.CONVERGED
    assert set(result.closure_errors) == {'AM', 'MB', 'BC'}
    there = m.naive()
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6


@pytest.mark.parametrize('order', [(0, 1, 2, 3), (2, 0, 3, 1)], ids=str)
def test_single_root_is_enough(order):
    """The others are found through the closures."""
    m = string_of_bodies(order)
    m.roots = m.roots[:1]
    solver = m.solver()
    assert len(solver.joint_names) == 8
    assert len(solver.solve()) == 1


def test_answer_of_arm_does_not_depend_on_other_goals():
    """Two arms are independent chains."""
    m = MECHANISMS['two_arms']()
    solver = m.solver()
    rng = np.random.default_rng(3)
    q = m.random_q(solver.joint_names, rng)
    left = m.pose_of('left_hand', solver.joint_names, q)
    right = m.pose_of('right_hand', solver.joint_names, q)
    alone = solver.solve_pose({'left_goal': left}).q
    both = solver.solve_pose({'left_goal': left, 'right_goal': right}).q
    other = solver.solve_pose({'right_goal': ((5, 0, 0), UNIT), 'left_goal': left}).q
    np.testing.assert_array_equal(alone[:7], both[:7])
    np.testing.assert_array_equal(alone[:7], other[:7])


def problems(mechanism, solver, count):
    """Draw reachable and unreachable goals."""
    rng = np.random.default_rng(17)
    return [
        {
            n: (rng.uniform((-0.8, -0.8, -0.3), (0.8, 0.8, 1.3)), rng.normal(size=4))
            for n in mechanism.goals
        }
        for _ in range(count)
    ]
