"""The tree of columns: order, names, positions of frames, couplings and balls."""

from ik_node.errors import TopologyError
from ik_node.model.frame import find_roots
from ik_node.model.tree import build_tree
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS


def tree_of(mechanism, order=None):
    """Build the tree of a mechanism."""
    return build_tree(find_roots(mechanism.roots), order)


def test_columns_follow_order_of_motion_d():
    """D = T(x, y, z) Rz Ry Rx: translations first, then the turns from z to x."""
    tree = tree_of(MECHANISMS['free_body']())
    assert [c.dof.name for c in tree.columns[:6]] == ['X', 'Y', 'Z', 'EZ', 'EY', 'EX']
    assert [c.parent for c in tree.columns] == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert tree.names[:6] == [f'float.{dof}' for dof in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')]
    assert tree.q_of_column == [0, 1, 2, 5, 4, 3, 6, 7]


def test_parent_columns_precede_children():
    """Every frame has a column or the root as its carrier."""
    for name in ['ball', 'coupled', 'hexapod', 'relative', 'walker']:
        mechanism = MECHANISMS[name]()
        tree = tree_of(mechanism)
        assert all(column.parent < at for at, column in enumerate(tree.columns))
        assert set(tree.carrier) == set(mechanism.naive().frames)
        assert sorted(tree.q_of_column) == list(range(len(tree.names)))
        assert len(set(tree.names)) == len(tree.names)


def test_given_order_of_joints_defines_order_of_q():
    """Other joints follow in the order of discovery."""
    m = MECHANISMS['mixed']()
    tree = tree_of(m, [m.joints['turn'], m.joints['screw']])
    assert tree.names == ['turn', 'screw.X', 'screw.EZ', 'slide', 'lift.Y', 'lift.Z', 'lift.EX']
    assert [joint.name for joint, _ in tree.owner[:3]] == ['turn', 'screw', 'screw']


def test_only_uncoupled_joints_with_three_turns_are_balls():
    """Their EZ, EY, EX are numbered 1, 2, 3; those of other joints 0."""
    assert [c.ball for c in tree_of(MECHANISMS['ball']()).columns] == [1, 2, 3, 0, 1, 2, 3]
    assert not any(c.ball for c in tree_of(MECHANISMS['universals']()).columns)
    m = MECHANISMS['ball']()
    m.joints['wrist'].couple('EX', m.joints['elbow'], 'EY', (0, 1))
    assert [c.ball for c in tree_of(m).columns] == [1, 2, 3, 0, 0, 0, 0]


def test_follower_of_follower_is_composed_to_free_master():
    """0.7 (0.8 q + 0.1) - 0.05."""
    tree = tree_of(MECHANISMS['coupled']())
    by_name = {column.joint.name: column for column in tree.columns}
    place = {column.joint.name: at for at, column in enumerate(tree.columns)}
    assert by_name['k1'].coefficients == (0.0, 1.0)
    assert by_name['k1'].master == place['k1']
    assert by_name['k2'].coefficients == pytest.approx((0.1, 0.8))
    assert by_name['k3'].coefficients == pytest.approx((0.02, 0.56))
    assert by_name['cam'].coefficients == pytest.approx((0.02, 0.1, 0.3))
    assert {by_name[n].master for n in ('k2', 'k3', 'cam')} == {place['k1']}


def test_composition_of_squares_is_fourth_power():
    """A square of a square is a fourth power."""
    m = Mechanism('squares')
    m.root('base')
    joints = [m.joint(f's{k}', 'base', 'X') for k in range(3)]
    joints[1].couple('X', joints[0], 'X', (1, 0, 2))
    joints[2].couple('X', joints[1], 'X', (0, 0, 1))
    tree = tree_of(m)
    assert tree.columns[2].coefficients == pytest.approx((1, 0, 4, 0, 4))


def test_master_outside_graph_is_refused():
    """The message names the master and its missing connection."""
    m, other = MECHANISMS['planar'](), MECHANISMS['arm6']()
    m.joints['p3'].couple('EZ', other.joints['j1'], 'EZ', (0, 1))
    with pytest.raises(TopologyError, match=r"'j1' drives .* not in the same graph .* no EZ"):
        tree_of(m)


def test_composition_of_high_degree_is_refused():
    """Repeated squares would exceed memory, and large factors the number range."""
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
