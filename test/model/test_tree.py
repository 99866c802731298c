"""The graph as columns: order, names, seats, couplings, balls."""

from ik_node.errors import TopologyError
from ik_node.model import tree as tree_module
from ik_node.model.dof import DOF
from ik_node.model.frame import find_roots
from ik_node.model.joint import Coupling
from ik_node.model.tree import build_tree
import numpy as np
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS


def tree_of(mechanism, order=None):
    """Build the tree of a mechanism."""
    return build_tree(find_roots(mechanism.roots), order)


def test_motions_act_in_the_order_of_d():
    """D = T(x, y, z) Rz Ry Rx: translations first, then the turns from z to x."""
    tree = tree_of(MECHANISMS['free_body']())
    assert [c.dof.name for c in tree.columns[:6]] == ['X', 'Y', 'Z', 'EZ', 'EY', 'EX']
    assert [c.parent for c in tree.columns] == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert tree.names[:6] == [f'float.{dof}' for dof in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')]
    assert tree.q_of_column == [0, 1, 2, 5, 4, 3, 6, 7]


@pytest.mark.parametrize('name', MECHANISMS)
def test_parents_come_before_children(name):
    """Columns are ascending along every branch, and every frame has a seat."""
    mechanism = MECHANISMS[name]()
    tree = tree_of(mechanism)
    assert all(column.parent < at for at, column in enumerate(tree.columns))
    assert set(tree.seat) == set(mechanism.naive().frames)
    assert sorted(tree.q_of_column) == list(range(len(tree.names)))
    assert len(set(tree.names)) == len(tree.names)


@pytest.mark.parametrize('dof', list(DOF))
def test_every_motion_is_along_or_about_its_own_z(dof):
    """The column's z axis lies on the axis of motion, right-handed."""
    m = Mechanism('one')
    m.root('base')
    m.joint('only', 'base', dof.name)
    (column,) = tree_of(m).columns
    wanted = np.eye(3)[dof % 3]
    np.testing.assert_array_equal(column.offset[:3, 2], wanted)
    assert np.linalg.det(column.offset[:3, :3]) == pytest.approx(1.0)


def test_given_order_of_joints_is_the_order_of_q():
    """Joints of the list first, in its order, then the rest as they are found."""
    m = MECHANISMS['mixed']()
    tree = tree_of(m, [m.joints['turn'], m.joints['screw']])
    assert tree.names == ['turn', 'screw.X', 'screw.EZ', 'slide', 'lift.Y', 'lift.Z', 'lift.EX']
    assert [joint.name for joint, _ in tree.owner[:3]] == ['turn', 'screw', 'screw']


def test_goals_and_closures_have_no_motions():
    """Their DoF are directions asked for; a plain closure joint's DoF are freedoms."""
    tree = tree_of(MECHANISMS['fourbar']())
    assert [joint.name for joint in tree.closers] == ['weld', 'pen_goal']
    assert tree.names == ['crank', 'coupler', 'rocker', 'pin']
    pinned = tree_of(MECHANISMS['fourbar_pinned']())
    assert pinned.names == ['crank', 'coupler', 'rocker', 'pin']


def test_only_whole_free_turns_are_balls():
    """EZ, EY, EX of a joint with all three are 1, 2, 3; of a universal or coupled one 0."""
    assert [c.ball for c in tree_of(MECHANISMS['ball']()).columns] == [1, 2, 3, 0, 1, 2, 3]
    assert not any(c.ball for c in tree_of(MECHANISMS['universals']()).columns)
    m = MECHANISMS['ball']()
    m.joints['wrist'].couple('EX', m.joints['elbow'], 'EY', (0, 1))
    assert [c.ball for c in tree_of(m).columns] == [1, 2, 3, 0, 0, 0, 0]


def test_couplings_are_composed():
    """A follower of a follower goes by the free master: 0.7 (0.8 q + 0.1) - 0.05."""
    tree = tree_of(MECHANISMS['coupled']())
    by_name = {column.joint.name: column for column in tree.columns}
    place = {column.joint.name: at for at, column in enumerate(tree.columns)}
    assert by_name['k1'].coefficients == (0.0, 1.0)
    assert by_name['k1'].master == place['k1']
    assert by_name['k2'].coefficients == pytest.approx((0.1, 0.8))
    assert by_name['k3'].coefficients == pytest.approx((0.02, 0.56))
    assert by_name['cam'].coefficients == pytest.approx((0.02, 0.1, 0.3))
    assert {by_name[n].master for n in ('k2', 'k3', 'cam')} == {place['k1']}


def test_polynomials_of_polynomials():
    """A square of a square is a fourth power."""
    m = Mechanism('squares')
    m.root('base')
    joints = [m.joint(f's{k}', 'base', 'X') for k in range(3)]
    joints[1].couple('X', joints[0], 'X', (1, 0, 2))
    joints[2].couple('X', joints[1], 'X', (0, 0, 1))
    tree = tree_of(m)
    assert tree.columns[2].coefficients == pytest.approx((1, 0, 4, 0, 4))


def test_a_constant_coupling_has_a_slope():
    """A coupling with one coefficient is a constant."""
    m = Mechanism('constant')
    m.root('base')
    first, second = m.joint('a', 'base', 'X'), m.joint('b', 'base', 'X')
    second.couple('X', first, 'X', (0.25,))
    assert tree_of(m).columns[1].coefficients == (0.25, 0.0)


def test_a_master_outside_the_graph_is_refused():
    """The message names the master and says what it lacks."""
    m, other = MECHANISMS['planar'](), MECHANISMS['arm6']()
    m.joints['p3'].couple('EZ', other.joints['j1'], 'EZ', (0, 1))
    with pytest.raises(TopologyError, match=r"'j1' drives .* not in the same graph .* no EZ"):
        tree_of(m)


def test_couplings_in_a_circle_are_refused():
    """A circle made behind `couple`'s back is found."""
    m = MECHANISMS['planar']()
    first, second = m.joints['p1'], m.joints['p2']
    first.couplings[DOF.EZ] = Coupling(second, DOF.EZ, (0, 1))
    second.couplings[DOF.EZ] = Coupling(first, DOF.EZ, (0, 1))
    with pytest.raises(TopologyError, match=r"couplings of joint 'p\d' go round in a circle"):
        tree_of(m)


def test_chain_of_couplings_is_composed_once_a_joint(monkeypatch):
    """A long chain takes one composition a joint, in whatever order it was declared."""
    count, compose = [], tree_module._compose
    monkeypatch.setattr(
        tree_module, '_compose', lambda *both: count.append(both) or compose(*both)
    )
    m = Mechanism('chain')
    m.root('base')
    joints = [m.joint(f'j{at}', 'base', 'X') for at in range(300)]
    for at in (*range(1, 150), *range(299, 149, -1)):
        joints[at].couple('X', joints[at - 1], 'X', (0.5, 1.0))
    columns = tree_of(m).columns
    assert len(count) == 299
    for at, column in enumerate(columns):
        assert column.master == 0
        assert column.coefficients == (0.5 * at, 1.0)


def test_composition_of_a_high_degree_is_refused():
    """Squares of squares would soon fill any memory, and large factors any number."""
    m = Mechanism('powers')
    m.root('base')
    joints = [m.joint(f'j{at}', 'base', 'X') for at in range(60)]
    for at in range(1, 60):
        joints[at].couple('X', joints[at - 1], 'X', (0.0, 0.0, 1.0))
    with pytest.raises(TopologyError, match="joint 'j7' follows amount to a polynomial of degree"):
        tree_of(m)
    for at in range(1, 60):
        joints[at].couple('X', joints[at - 1], 'X', (0.0, 1e12))
    with pytest.raises(TopologyError, match='with infinite coefficients'):
        tree_of(m)
