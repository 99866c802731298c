"""Chains contain coupled requests in every order, and the joints that move them."""

from itertools import permutations

from ik_node.errors import TopologyError
from ik_node.model.chains import ancestors, find_chains, support_of
from ik_node.model.frame import find_roots
from ik_node.model.goal import Goal
from ik_node.model.request import pose_request, request_of
from ik_node.model.tree import build_tree
import pytest
from support.building import Mechanism
from support.closed_mechanisms import string_of_bodies
from support.mechanisms import MECHANISMS


def chains_of(mechanism, roots=None):
    """Return (names of requests, names of free values) of every chain."""
    tree = build_tree(find_roots(mechanism.roots) if roots is None else roots)
    requests = [request_of(joint) for joint in tree.closers]
    supports = [support_of(tree, request) for request in requests]
    return [
        (
            [requests[at].name for at in chain.requests],
            {tree.names[tree.q_of_column[at]] for at in chain.masters},
        )
        for chain in find_chains(tree, requests, supports)
    ]


@pytest.mark.parametrize('order', list(permutations(range(4)))[::7], ids=str)
def test_connected_bodies_are_one_chain_in_every_order(order):
    """A-M, M-B and B-C are coupled for any order of the four roots."""
    m = string_of_bodies(order)
    assert m.roots[0].name == 'AMBC'[order[0]] + '_root'
    ((asked, free),) = chains_of(m, m.roots)
    assert sorted(asked) == ['AM', 'BC', 'MB']
    assert len(free) == 8


def test_arms_without_shared_joints_are_separate_chains():
    """Chains without shared joints are solved separately."""
    chains = chains_of(MECHANISMS['two_arms']())
    assert [asked for asked, _ in chains] == [['left_goal'], ['right_goal']]
    assert not chains[0][1] & chains[1][1]


def test_coupling_joins_two_chains():
    """A joint of one arm follows a joint of the other."""
    m = MECHANISMS['two_arms']()
    m.joints['right_j3'].couple('EZ', m.joints['left_j3'], 'EZ', (0, -1))
    ((asked, free),) = chains_of(m)
    assert asked == ['left_goal', 'right_goal']
    assert len(free) == 13
    assert 'right_j3' not in free


def test_closures_precede_goals_in_chain():
    """In any order of discovery."""
    chains = chains_of(MECHANISMS['two_arm_box']())
    assert [asked for asked, _ in chains] == [['grasp', 'box_goal']]


def test_joints_above_fork_do_not_belong_to_loop():
    """They move both ends of the loop and form a separate chain."""
    chains = {tuple(asked): free for asked, free in chains_of(MECHANISMS['walker']())}
    assert not any(name.startswith(('float', 'waist')) for name in chains['hold',])
    assert len(chains['hold',]) == 12
    assert chains['body_goal',] == {f'float.{d}' for d in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')}


def test_rows_in_world_axes_depend_on_joints_above_fork():
    """Rows counted in the world's axes depend on the joints above the fork as well."""
    m = MECHANISMS['relative']()
    assert 'torso' not in chains_of(m)[0][1]
    m.goals['hold'].axes = 'world'
    assert 'torso' in chains_of(m)[0][1]


def test_goal_on_root_link_is_chain_without_values():
    """A goal on the root link has a chain without values."""
    m = MECHANISMS['planar']()
    m.goal('root_goal', 'base')
    assert (['root_goal'], set()) in chains_of(m)


def test_support_lists_columns_in_order_from_root():
    """A goal in the root frame has no columns on its own side."""
    m = MECHANISMS['arm6']()
    tree = build_tree(find_roots(m.roots))
    assert ancestors(tree, 5) == [0, 1, 2, 3, 4, 5]
    assert ancestors(tree, -1) == []
    support = support_of(tree, pose_request('hand', m.links['hand']))
    assert support.a_columns == (0, 1, 2, 3, 4, 5)
    assert support.b_columns == ()


def test_goal_without_link_is_refused():
    """The message states the remedy."""
    m = Mechanism('m')
    m.root('base')
    with pytest.raises(TopologyError, match=r"'lost' closes on no link: make_closure\(link\)"):
        request_of(Goal('lost'))


def test_requests_have_right_number_of_rows():
    """Total and translation rows of frames, universals, distances and plain joints."""
    m = MECHANISMS['universal_and_distance']()
    counts = {n: request_of(j) for n, j in {**m.closures, **m.goals}.items()}
    assert (counts['rod0'].row_count, counts['rod0'].translation_row_count) == (1, 1)
    assert (counts['cross'].row_count, counts['cross'].translation_row_count) == (4, 3)
    assert (counts['plate_goal'].row_count, counts['plate_goal'].translation_row_count) == (2, 2)
    pin = request_of(MECHANISMS['fourbar_pinned']().closures['pin'])
    assert (pin.row_count, pin.is_goal, pin.axes) == (6, False, 'goal')
