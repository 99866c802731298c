"""Numbers in any array format are read correctly or refused with our message."""

from fractions import Fraction

from ik_node.errors import ShapeError
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

# Halves and quarters, which every type but whole numbers can say.
POSITION = np.array((0.25, 0.125, 0.5))
QUAT = np.array((0.5, -0.5, 0.5, 0.5))
START = np.array((0.25, -0.5, 0.75, 0.5, -0.25, 0.125, 0.5))


def not_aligned(array):
    """Return the same numbers at an odd address."""
    buffer = bytearray(array.nbytes + 1)
    moved = np.frombuffer(buffer, array.dtype, array.size, 1).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


FORMS = {
    'other bytes': lambda a: a.astype('>f8'),
    'half precision': lambda a: a.astype('<f2'),
    'objects': lambda a: a.astype('O'),
    'not aligned': not_aligned,
    'with gaps': lambda a: np.stack((a, a + 7.0), axis=-1)[..., 0],
    'backwards': lambda a: a[..., ::-1].copy()[..., ::-1],
    'in columns': np.asfortranarray,
    'read only': lambda a: np.broadcast_to(a, a.shape),
    'list': lambda a: a.tolist(),
    'fractions': lambda a: [Fraction(float(x)) for x in a] if a.ndim == 1 else a,
}


@pytest.fixture(scope='module')
def arm():
    """Provide a solver of an arm, its prepared call, and the answer to the plain numbers."""
    solver = MECHANISMS['arm7']().solver()
    call = solver.prepare(['hand_goal'])
    return solver, call, call(POSITION, QUAT, START).q.tobytes()


def test_array_format_does_not_change_answer(arm):
    """Also after calls with other formats."""
    solver, call, wanted = arm
    for name, form in FORMS.items():
        start = form(START)
        assert call(form(POSITION), form(QUAT), start).q.tobytes() == wanted, name
        assert call(form(POSITION[None]), form(QUAT[None]), start).q.tobytes() == wanted, name
        found = solver.solve_pose({'hand_goal': (form(POSITION), form(QUAT))}, start)
        assert found.q.tobytes() == wanted, name


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
        lambda: solver.solve_batch({'hand_goal': (POSITION[None], bad)}, START),
        lambda: solver.drive({}, bad),
        lambda: solver.solve_batch({}, bad),
    ]
    for attempt in calls:
        with pytest.raises(ShapeError):
            attempt()
        assert call(POSITION, QUAT, START).q.tobytes() == wanted
