"""Who is coupled with whom, whatever the order; and which joints move what."""

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
    """Return (names asked, names of free values) of every chain."""
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


@pytest.mark.parametrize('order', list(permutations(range(4))), ids=str)
def test_a_string_of_bodies_is_one_chain_in_every_order(order):
    """A-M, M-B, B-C hang together however the four roots are given."""
    m = string_of_bodies(order)
    assert m.roots[0].name == 'AMBC'[order[0]] + '_root'
    ((asked, free),) = chains_of(m, m.roots)
    assert sorted(asked) == ['AM', 'BC', 'MB']
    assert len(free) == 8


def test_two_arms_are_two_chains():
    """What shares no joint is solved apart."""
    chains = chains_of(MECHANISMS['two_arms']())
    assert [asked for asked, _ in chains] == [['left_goal'], ['right_goal']]
    assert not chains[0][1] & chains[1][1]


def test_a_coupling_ties_two_chains_together():
    """A joint of one arm that follows one of the other makes them one chain."""
    m = MECHANISMS['two_arms']()
    m.joints['right_j3'].couple('EZ', m.joints['left_j3'], 'EZ', (0, -1))
    ((asked, free),) = chains_of(m)
    assert asked == ['left_goal', 'right_goal']
    assert len(free) == 13
    assert 'right_j3' not in free


def test_closures_come_before_goals():
    """Whatever the order of discovery."""
    chains = chains_of(MECHANISMS['two_arm_box']())
    assert [asked for asked, _ in chains] == [['grasp', 'box_goal']]


def test_what_carries_both_ends_has_no_part():
    """The joints above the fork do not move the loop, and make a chain of their own."""
    chains = {tuple(asked): free for asked, free in chains_of(MECHANISMS['walker']())}
    assert not any(name.startswith(('float', 'waist')) for name in chains['hold',])
    assert len(chains['hold',]) == 12
    assert chains['body_goal',] == {f'float.{d}' for d in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')}


def test_world_axes_are_turned_by_what_carries_both():
    """Rows counted in the world's axes depend on the joints above the fork as well."""
    m = MECHANISMS['relative']()
    assert 'torso' not in chains_of(m)[0][1]
    m.goals['hold'].axes = 'world'
    assert 'torso' in chains_of(m)[0][1]


def test_what_nothing_moves_is_a_chain_of_its_own():
    """A goal on the root link has a chain without values."""
    m = MECHANISMS['planar']()
    m.goal('root_goal', 'base')
    assert (['root_goal'], set()) in chains_of(m)


def test_support_lists_columns_from_the_root_on():
    """Ancestors are ascending; a goal in the root frame has no columns on its own side."""
    m = MECHANISMS['arm6']()
    tree = build_tree(find_roots(m.roots))
    assert ancestors(tree, 5) == [0, 1, 2, 3, 4, 5]
    assert ancestors(tree, -1) == []
    support = support_of(tree, pose_request('hand', m.links['hand']))
    assert support.a_columns == (0, 1, 2, 3, 4, 5)
    assert support.b_columns == ()


def test_a_goal_that_closes_on_no_link_is_refused():
    """The message says what to do."""
    m = Mechanism('m')
    m.root('base')
    with pytest.raises(TopologyError, match=r"'lost' closes on no link: make_closure\(link\)"):
        request_of(Goal('lost'))


def test_rows_of_a_request_are_counted():
    """Row and translation counts of frames, universals, distances and plain joints."""
    m = MECHANISMS['universal_and_distance']()
    counts = {n: request_of(j) for n, j in {**m.closures, **m.goals}.items()}
    assert (counts['rod0'].row_count, counts['rod0'].translation_row_count) == (1, 1)
    assert (counts['cross'].row_count, counts['cross'].translation_row_count) == (4, 3)
    assert (counts['plate_goal'].row_count, counts['plate_goal'].translation_row_count) == (2, 2)
    pin = request_of(MECHANISMS['fourbar_pinned']().closures['pin'])
    assert (pin.row_count, pin.is_goal, pin.axes) == (6, False, 'goal')
