"""Packed arrays of a chain are consistent and contain only what it needs."""

from ik_node.kernels.layout import begin_of, BLOCK, FIELDS, SIZES
from ik_node.model.chains import find_chains, support_of
from ik_node.model.flatten import flatten
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
import numpy as np
from support.mechanisms import MECHANISMS

SOME = ('ball', 'coupled', 'two_arms', 'hexapod_single', 'universal_and_distance', 'walker')


class Unpacked:
    """The sizes and integer fields of a packed chain by name."""

    def __init__(self, flat):
        self.size = dict(zip(SIZES, flat.ints[: len(SIZES)].tolist(), strict=True))
        names = [name for name, (array, _, _) in FIELDS.items() if array == 'i']
        begins = [begin_of(flat.ints, name) for name in names] + [flat.ints.size]
        for at, name in enumerate(names):
            setattr(self, name, flat.ints[begins[at] : begins[at + 1]])
        self.offset = flat.floats[begin_of(flat.ints, 'offset') :][: 12 * self.size['n']]


def flat_chains(mechanism):
    """Flatten every chain."""
    tree = build_tree(find_roots(mechanism.roots))
    requests = [request_of(joint) for joint in tree.closers]
    supports = [support_of(tree, request) for request in requests]
    chains = find_chains(tree, requests, supports)
    return tree, [flatten(tree, requests, supports, chain) for chain in chains]


def test_packed_tables_are_consistent():
    """Starts add up, and indices are in range."""
    for name in SOME:
        _, flats = flat_chains(MECHANISMS[name]())
        for flat in flats:
            u = Unpacked(flat)
            n, nv, nc = (u.size[k] for k in ('n', 'nv', 'nc'))
            assert u.size['nr'] == BLOCK * nc
            assert flat.rows.size == sum(flat.row_counts)
            assert (u.row_end - BLOCK * np.arange(nc)).tolist() == list(flat.row_counts)
            assert (u.parent < np.arange(n)).all()
            assert ((u.var >= -1) & (u.var < nv)).all()
            assert set(range(nv)) <= set(u.var.tolist())
            for starts, total in (('entry0', u.size['ne']), ('slot0', u.size['ns'])):
                field = getattr(u, starts)
                assert field[0] == 0
                assert field[-1] == total
                assert (np.diff(field) >= 0).all()


def test_every_unknown_is_eliminated_once():
    """Each constraint is one block; a variable is in a block or eliminated before."""
    for name in SOME:
        _, flats = flat_chains(MECHANISMS[name]())
        for flat in flats:
            u = Unpacked(flat)
            nb, nc, nv = (u.size[k] for k in ('nb', 'nc', 'nv'))
            assert sorted(u.block_constraint[u.block_constraint >= 0].tolist()) == list(range(nc))
            placed = {int(v): at for at, v in enumerate(u.block_var) if v >= 0}
            assert [placed.get(v, -1) for v in range(nv)] == u.var_place.tolist()
            direct = set(u.part_var.tolist())
            assert direct | set(placed) == set(range(nv))
            assert not direct & set(placed)
            assert (u.slot_var[u.part_a] == u.part_var).all()
            assert (u.slot_var[u.part_b] == u.part_var).all()
            for b in range(nb):
                later = u.edge_to[u.edge0[b] : u.edge0[b + 1]]
                assert (np.diff(later) > 0).all()
                assert (later > b).all()
            assert u.size['nm'] == nb + u.size['edges']
            assert ((u.update_at >= 0) & (u.update_at < u.size['nm'])).all()


def test_fixed_ancestors_are_columns_without_variable():
    """The loop of the walker contains the fixed columns of the floating base."""
    tree, flats = flat_chains(MECHANISMS['walker']())
    loop = Unpacked(flats[0])
    assert loop.size['n'] == 19
    assert (loop.var == -1).sum() == 7
    assert not any(tree.names[q].startswith(('float', 'waist')) for q in flats[0].var_q)


def test_coupled_columns_share_a_variable():
    """Four coupled columns and one free yaw are two variables."""
    _, (flat,) = flat_chains(MECHANISMS['coupled']())
    u = Unpacked(flat)
    assert (u.size['n'], u.size['nv'], u.size['width']) == (5, 2, 3)
    assert sorted(np.bincount(u.var).tolist()) == [1, 4]
    assert sorted(u.entry_slot.tolist()) == [0, 1, 1, 1, 1]
