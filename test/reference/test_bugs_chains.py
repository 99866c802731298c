"""Faults of the reference library's chains, Jacobian and errors that ik_node does not have."""

from itertools import permutations

from ik_node.model.dof import DOF
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.closed_mechanisms import string_of_bodies
from support.kernel_calls import Rows
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
ONE_START = SolverOptions(restarts=0)


def arm(*dofs, limits=None):
    """Return a mechanism of joints in series, 1 m apart along x."""
    m = Mechanism('arm')
    m.root('base')
    parent = 'base'
    for k, dof in enumerate(dofs):
        m.joint(f'j{k}', parent, dof, (1.0 if k else 0.0, 0, 0), limits=limits)
        parent = f'j{k}_link'
    m.tip('end', parent, (1, 0, 0))
    return m


def test_chains_are_merged_in_every_order_of_roots():
    """The reference library makes two chains with shared joints in 2 of 6 orders."""
    counts = {len(string_of_bodies(order).solver().solve()) for order in permutations(range(4))}
    assert counts == {1}


def test_joint_outside_chains_keeps_limits_and_axes():
    """The reference library writes six target values, ignoring limits and axes."""
    m = arm('EZ')
    free = m.joint('free', 'base', 'Z', limits=(-0.5, 0.5))
    free.dof_target[:] = (1.0, 1.0, 2.0, 1.0, 1.0, 1.0)
    free.target_set = True
    m.goal('goal', 'end', 'X Y').set_position(0, 1, 0)
    m.solver().solve()
    assert free.dof_values.tolist() == [0, 0, 0.5, 0, 0, 0]


@pytest.mark.parametrize('axes', ['world', 'goal', 'link'])
def test_partial_goal_uses_its_own_axes(axes):
    """In the reference library it always uses the axes of the world."""
    m = arm('EZ', 'EZ', 'EZ')
    m.joints['j1'].set_dof_values(1.0)
    goal = m.goal('goal', 'end', 'X', axes)
    goal.set_position(0.5, 0.7, 0)
    goal.set_euler(0, 0, 0.6)
    (result,) = m.solver().solve()
    assert result.status is Status.CONVERGED
    a, b = (end[:3, :] for end in m.naive().ends(goal))
    counting = {'world': np.eye(3), 'goal': b[:, :3], 'link': a[:, :3]}
    gaps = {name: abs((turn.T @ (a[:, 3] - b[:, 3]))[0]) for name, turn in counting.items()}
    assert gaps[axes] <= 1e-6
    assert all(gap > 1e-3 for name, gap in gaps.items() if name != axes)


@pytest.mark.parametrize('dof', ['EX', 'EY', 'EZ', 'EX EZ'])
def test_goal_accepts_one_or_two_rotation_axes(dof):
    """The reference library throws unless there are three or none."""
    m = arm('EX EY EZ', 'EX EY EZ')
    goal = m.goal('goal', 'end', dof)
    goal.set_euler(0.3, 0.4, 0.5)
    (result,) = m.solver().solve()
    assert result.status is Status.CONVERGED
    assert m.naive().error(goal)[1] <= 1e-6


@pytest.mark.parametrize('angle', [1e-9, 0.2, 2.0, np.pi])
def test_orientation_error_is_angle_in_radians(angle):
    """In version A half a turn counts as 1.41, and small angles count half."""
    m = arm('EZ')
    m.joints['j0'].lock()
    m.goal('goal', 'end', 'EX EY EZ').set_euler(0, 0, angle)
    (result,) = m.solver().solve()
    assert result.goal_errors['goal'].orientation == pytest.approx(angle, rel=1e-12)


def test_jacobian_of_six_axis_joint_equals_differences():
    """In the reference library EX and EY are wrong by up to 0.5."""
    m = arm('X Y Z EX EY EZ', limits=(-3, 3))
    m.goal('goal', 'end')
    rows = Rows(m)
    q = np.array((0.5, -0.3, 0.2, 0.4, 0.5, 0.6))
    _, jacobian = rows.at(q)
    there = m.naive(rows.names, q).world(m.links['end'])
    for at in range(6):
        ends = [q.copy(), q.copy()]
        ends[0][at] += 1e-6
        ends[1][at] -= 1e-6
        plus, minus = (m.naive(rows.names, end).world(m.links['end']) for end in ends)
        slope = (plus - minus) / 2e-6
        turning = slope[:3, :3] @ there[:3, :3].T
        wanted = (*slope[:3, 3], turning[2, 1], turning[0, 2], turning[1, 0])
        np.testing.assert_allclose(jacobian['goal'][:, at], wanted, atol=1e-8)


def test_joint_above_fork_does_not_move_loop():
    """In the reference library it moves one side only, wrong by up to 1.0."""
    m = MECHANISMS['walker']()
    rows = Rows(m)
    _, jacobian = rows.at(m.random_q(rows.names, np.random.default_rng(2)))
    above = [at for at, name in enumerate(rows.names) if name.startswith(('float', 'waist'))]
    assert not jacobian['hold'][:, above].any()


@pytest.mark.parametrize('wanted', [1.2, -1.2])
def test_target_inside_chain_is_solved(wanted):
    """In the reference library the first solve throws a TypeError."""
    m = arm('EZ', 'EZ', 'EZ')
    m.joints['j2'].set_target_values(wanted)
    m.goal('goal', 'end', 'X Y').set_position(1.5, 1.0, 0)
    solver = m.solver(ONE_START)
    for _ in range(5):
        (result,) = solver.solve()
        assert result.status is Status.CONVERGED
    assert m.joints['j2'].get_dof_value('EZ') == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize('signs', [(1, 1), (1, -1), (-1, -1)])
def test_errors_of_targets_do_not_cancel(signs):
    """The reference library adds signed angles: +1 and -1 give no error."""
    m = Mechanism('one')
    m.root('base')
    joint = m.joint('wrist', 'base', 'EX EZ')
    m.goal('held', 'wrist_link', 'X Y Z')  # which no turn of the wrist moves, but might
    wanted = [0.8 * sign for sign in signs]
    joint.set_target_values(*wanted)
    solver = m.solver()
    for _ in range(5):
        assert solver.solve()[0].status is Status.CONVERGED
    assert [joint.get_dof_value(dof) for dof in joint.dof] == pytest.approx(wanted, abs=1e-3)


def test_closure_joint_with_axis_acts_as_pin():
    """Its value is solved for, as in the reference library."""
    m = arm('EZ', 'EZ')
    pin = m.joint('pin', 'base', 'EZ', (0.8, 0.9, 0))
    pin.remove_child(pin.child)
    pin.make_closure(m.links['end'])
    m.joints['j1'].set_dof_values(0.4)
    solver = m.solver()
    assert solver.joint_names == ['j0', 'j1', 'pin']
    (result,) = solver.solve()
    assert result.status is Status.CONVERGED
    assert max(m.naive().error(pin)) <= 1e-6
    turned = m.joints['j0'].get_dof_value('EZ') + m.joints['j1'].get_dof_value('EZ')
    assert pin.get_dof_value('EZ') == pytest.approx(turned, abs=1e-6)


def test_free_closure_joint_constrains_nothing():
    """A closure joint with six free axes closes at any pose within its limits."""
    m = arm('EZ')
    pin = m.joint('pin', 'base', 'X Y Z EX EY EZ', (0.2, 0.1, 0.3), limits=(-2, 2))
    pin.remove_child(pin.child)
    pin.make_closure(m.links['end'])
    m.joints['j0'].lock()
    (result,) = m.solver().solve()
    assert result.status is Status.CONVERGED
    assert pin.dof == list(DOF)
    np.testing.assert_allclose(pin.get_dof_position(), (0.8, -0.1, -0.3), atol=1e-6)
