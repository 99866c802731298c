"""Numbers in any array format are read correctly or refused with our message."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.errors import ShapeError
from ik_node.native import is_compiled
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

# Halves and quarters, which every type but whole numbers can say.
POSITION = np.array((0.25, 0.125, 0.5))
QUAT = np.array((0.5, -0.5, 0.5, 0.5))
START = np.array((0.25, -0.5, 0.75, 0.5, -0.25, 0.125, 0.5))
DTYPES = ('<f8', '>f8', '<f4', '>f4', '<f2', 'longdouble', 'O')


class Subclass(np.ndarray):
    """An array subclass whose copies are not contiguous."""

    def copy(self, order='C'):
        """Return every second number of a larger array."""
        wide = np.zeros((*self.shape, 2), self.dtype)
        wide[..., 0] = self
        return wide[..., 0].view(Subclass)


def not_aligned(array):
    """Return the same numbers at an odd address."""
    buffer = bytearray(array.nbytes + 1)
    moved = np.frombuffer(buffer, array.dtype, array.size, 1).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def with_gaps(array):
    """Return the same numbers with other numbers in between."""
    wide = np.full((*array.shape, 3), 7, array.dtype)
    wide[..., 1] = array
    return wide[..., 1]


LAYOUTS = {
    'as it is': lambda a: a,
    'not aligned': lambda a: a if a.dtype == object else not_aligned(a),
    'with gaps': with_gaps,
    'backwards': lambda a: a[..., ::-1].copy()[..., ::-1],
    'in columns': np.asfortranarray,
    'read only': lambda a: (a.setflags(write=False), a)[1],
    'subclass': lambda a: a.view(Subclass),
    'masked, nothing hidden': np.ma.masked_array,
    'list': lambda a: a.tolist(),
    'tuple': lambda a: tuple(a.tolist()),
    'fractions': lambda a: [Fraction(float(x)) for x in a] if a.ndim == 1 else a,
}

forms = st.tuples(st.sampled_from(DTYPES), st.sampled_from(sorted(LAYOUTS)))


def in_form(array, form):
    """Return an array in one of the forms."""
    dtype, layout = form
    return LAYOUTS[layout](array.astype(dtype))


@pytest.fixture(scope='module')
def arm():
    """Provide a solver of an arm, its prepared call, and the answer to the plain numbers."""
    solver = MECHANISMS['arm7']().solver()
    call = solver.prepare(['hand_goal'])
    return solver, call, call(POSITION, QUAT, START).q.tobytes()


@settings(max_examples=100 if is_compiled() else 10, deadline=None)
@given(position=forms, quat=forms, q0=forms, flat=st.booleans())
def test_array_format_does_not_change_answer(arm, position, quat, q0, flat):
    """Also after calls with other formats."""
    solver, call, wanted = arm
    numbers = in_form(POSITION, position), in_form(QUAT, quat), in_form(START, q0)
    if flat:
        assert call(*numbers).q.tobytes() == wanted
    else:
        rows = in_form(POSITION[None], position), in_form(QUAT[None], quat)
        assert call(*rows, numbers[2]).q.tobytes() == wanted
    found = solver.solve_pose({'hand_goal': numbers[:2]}, numbers[2])
    assert found.q.tobytes() == wanted


REFUSED = {
    'a text': 'abc',
    'an empty list': [],
    'NaN': np.full(7, np.nan),
    'complex numbers': np.zeros(7, complex),
    'an object': object(),
}


@pytest.mark.parametrize('name', REFUSED)
def test_non_numbers_in_arrays_are_refused_with_clear_message(arm, name):
    """As position, quaternion and start; the next call works."""
    solver, call, wanted = arm
    bad = REFUSED[name]
    calls = [
        lambda: call(bad, QUAT, START),
        lambda: call(POSITION, bad, START),
        lambda: solver.solve_pose({'hand_goal': (bad, QUAT)}, START),
        lambda: solver.solve_pose({'hand_goal': (POSITION, bad)}, START),
        lambda: solver.solve_batch({'hand_goal': (bad, QUAT[None])}, START),
        lambda: call(POSITION, QUAT, bad),
        lambda: solver.solve_pose({'hand_goal': (POSITION, QUAT)}, bad),
        lambda: solver.drive({}, bad),
        lambda: solver.solve_batch({}, bad),
    ]
    for attempt in calls:
        with pytest.raises(ShapeError):
            attempt()
        assert call(POSITION, QUAT, START).q.tobytes() == wanted
