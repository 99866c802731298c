"""Packed arrays: every field has its own range, and the header stores its offset."""

from ik_node.kernels.layout import FIELDS, lay_out, pack_model, SIZES
import numpy as np
import pytest

SIZE = {
    'nq': 4, 'n': 3, 'nv': 2, 'nc': 2, 'nr': 12, 'ne': 4, 'ns': 3, 'nb': 2, 'nm': 3, 'edges': 1,
    'updates': 1, 'pairs': 1, 'parts': 2, 'links': 2, 'width': 2, 'groups': 1, 'nd': 3, 'nt': 2,
    'seen': 1,
    'bodies': 2, 'hull_points': 4, 'checks': 1, 'solid': 1,
}  # fmt: skip


def test_fields_follow_each_other_without_gap_or_overlap():
    """In each of the four arrays."""
    begins, totals = lay_out(SIZE)
    for array in 'ifkw':
        names = [name for name, (where, _, _) in FIELDS.items() if where == array]
        places = [begins[name] for name in names]
        first = len(SIZES) + len(FIELDS) if array == 'i' else 0
        assert places[0] == first
        assert places == sorted(places)
        assert totals[array] > places[-1]


def lay_out_length(name):
    """Return the length of a field for the sizes in `SIZE`."""
    length = FIELDS[name][1]
    return int(eval(length, {}, SIZE))  # a sum or product of sizes


def test_field_of_wrong_length_is_refused():
    """The message names the field, its length and the required length."""
    fields = {
        name: np.zeros(lay_out_length(name)) for name, (where, _, _) in FIELDS.items()
        if where in 'if'
    }  # fmt: skip
    fields['mask'] = np.zeros(3)
    with pytest.raises(ValueError, match='mask: 3 numbers, not 2'):
        pack_model(SIZE, fields)
