"""Chains contain coupled requests in every order, and the joints that move them."""

from itertools import permutations

from ik_node.model.chains import find_chains, support_of
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
import pytest
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
