"""Redundant rows of closures, and values that closures couple."""

from ik_node.robot import load_robot
import pytest
from support.bar_loops import mobility
from support.building import Mechanism
from support.closed_mechanisms import CLOSED, fivebar


def three_closures():
    """Build a bar with two equal closures, and a second bar with one."""
    m = Mechanism('held')
    m.root('ground')
    m.joint('a', 'ground', 'X Y EZ')
    m.joint('b', 'ground', 'X')
    m.closure('twist', 'ground', 'b_link', dof='EX')
    m.closure('first', 'ground', 'a_link', dof='X Y')
    m.closure('second', 'ground', 'a_link', dof='X')
    m.closure('third', 'ground', 'a_link', dof='Y Z EZ')
    return m


def test_rows_implied_by_earlier_closures_are_redundant():
    """The order can be chosen."""
    m = three_closures()
    found = mobility(m)
    assert (found, found.rank, found.closure_rows, found.gruebler) == (1, 3, 7, -3)
    assert found.redundant_closures == {'twist': 1, 'second': 1, 'third': 2}
    turned = mobility(m, ['third', 'second', 'first'])
    assert turned == 1
    assert turned.redundant_closures == {'third': 1, 'first': 2, 'twist': 1}
    assert sum(turned.redundant_closures.values()) == turned.redundant_rows


@pytest.mark.parametrize('turn', [1e-9, 1.9e-6, 2.1e-6])
def test_redundant_rows_add_up_to_total_near_singularity(turn):
    """The sum over closures equals the total, near a change of rank as well."""
    m = Mechanism('nearly')
    m.root('ground')
    m.joint('a', 'ground', 'X Y')
    for at, angle in enumerate((0.0, turn)):
        m.closure(f'c{at}', 'ground', 'a_link', dof='X', rpy=(0, 0, angle))
    found = mobility(m)
    # The rows are (1, 0) and (1, turn): of norm sqrt(2) together, and turn / sqrt(2).
    assert found.rank == (2 if turn > 2e-6 else 1)
    assert found.redundant_closures == ({} if turn > 2e-6 else {'c1': 1})


def test_closures_are_in_order_of_description():
    """Not in the order in which the graph is walked."""
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="jb" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="jc" type="continuous"><parent link="b"/><child link="c"/></joint>{}</robot>'
    )
    ties = [
        '<loop_joint name="low" dof="EX"><link1 link="a"/><link2 link="c"/></loop_joint>',
        '<loop_joint name="high" dof="EX"><link1 link="c"/><link2 link="a"/></loop_joint>',
    ]
    for order in (ties, ties[::-1]):
        robot = load_robot(text.format(''.join(order)))
        last = list(robot.closures)[1]
        assert robot.mobility.redundant_closures == {last: 1}


def test_values_coupled_by_closures_form_one_chain():
    """Values without effect belong to no chain."""
    m = CLOSED['string_of_bodies']()
    assert mobility(m).chains == [
        tuple(f'{body}_{way}' for body in 'AMBC' for way in ('slide', 'turn'))
    ]
    m.closures['MB'].enabled = False
    apart = mobility(m)
    assert apart.chains == [
        ('A_slide', 'A_turn', 'M_slide', 'M_turn'),
        ('B_slide', 'B_turn', 'C_slide', 'C_turn'),
    ]
    assert (apart, apart.closure_rows) == (6, 2)
    m.closures['AM'].weight = 0.0
    assert (mobility(m), mobility(m).closure_rows) == (7, 1)


def test_locked_and_coupled_values_are_not_free():
    """They stay in their chain."""
    m = fivebar()
    m.joints['l1'].lock()
    assert (mobility(m), mobility(m).free) == (1, 3)
    assert mobility(m).chains == [('l1', 'l2', 'r1', 'r2')]
    m.joints['l1'].unlock()
    m.joints['r1'].couple('EZ', m.joints['l1'], 'EZ', (m.home['r1'] - m.home['l1'], 1.0))
    coupled = mobility(m)
    assert (coupled, coupled.free, coupled.gruebler) == (1, 3, 1)
    assert coupled.chains == [('l1', 'l2', 'r1', 'r2')]
