"""The packed arrays: every field has a place of its own, and the header says where."""

from ik_node.kernels.layout import begin_of, FIELDS, lay_out, make_workspace, pack_model, SIZES
import numpy as np
import pytest

SIZE = {
    'n': 3, 'nv': 2, 'nc': 2, 'nr': 12, 'ne': 4, 'ns': 3, 'nb': 2, 'nm': 3, 'edges': 1,
    'updates': 1, 'pairs': 1, 'parts': 2, 'links': 2, 'width': 2, 'groups': 1, 'nd': 3,
}  # fmt: skip


def test_fields_lie_end_to_end():
    """In each of the four arrays the fields follow each other without gap or overlap."""
    begins, totals = lay_out(SIZE)
    for array in 'ifkw':
        names = [name for name, (where, _, _) in FIELDS.items() if where == array]
        places = [begins[name] for name in names]
        first = len(SIZES) + len(FIELDS) if array == 'i' else 0
        assert places[0] == first
        assert places == sorted(places)
        assert totals[array] > places[-1]


def test_every_field_says_what_it_is():
    """Array, length and a sentence, except where the sentence before says it."""
    for name, (where, length, text) in FIELDS.items():
        assert where in 'ifkw'
        assert length
        assert text or name in ('upper', 'damping', 'scratch'), name


def test_arrays_are_of_the_one_kind_that_is_quick_to_pass():
    """Contiguous and writeable: Numba looks at any other kind for half a microsecond a call."""
    fields = {
        name: np.zeros(lay_out_length(name)) for name, (where, _, _) in FIELDS.items()
        if where in 'if'
    }  # fmt: skip
    ints, floats = pack_model(SIZE, fields)
    assert ints.dtype == np.int64
    assert floats.dtype == np.float64
    assert ints.flags.carray
    assert floats.flags.carray
    work_ints, work_floats = make_workspace(ints)
    assert work_ints.flags.writeable
    assert work_floats.flags.writeable
    begins, _ = lay_out(SIZE)
    assert all(begin_of(ints, name) == begins[name] for name in FIELDS)


def lay_out_length(name):
    """Return the length of a field of `SIZE` from where the next one begins."""
    length = FIELDS[name][1]
    return int(eval(length, {}, SIZE))  # a sum or product of sizes


def test_a_field_of_the_wrong_length_is_refused():
    """The message names the field, what came and what was wanted."""
    fields = {
        name: np.zeros(lay_out_length(name)) for name, (where, _, _) in FIELDS.items()
        if where in 'if'
    }  # fmt: skip
    fields['mask'] = np.zeros(3)
    with pytest.raises(ValueError, match='mask: 3 numbers, not 2'):
        pack_model(SIZE, fields)
