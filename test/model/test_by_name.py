"""Mappings by name raise UnknownFrameError, and otherwise behave like dicts."""

import copy
import pickle

from ik_node.errors import ShapeError, UnknownFrameError
from ik_node.model.attributes import ByName
import pytest


@pytest.fixture
def legs():
    """Return a mapping of three joints."""
    return ByName('joint', {f'leg{k}': k for k in range(3)})


@pytest.mark.parametrize('name', ['leg9', None, ['leg0']])
def test_unknown_name_raises_unknown_frame_error(legs, name):
    """It is a KeyError too, as for every mapping."""
    with pytest.raises(UnknownFrameError, match=r'no joint named .*; known: leg0'):
        legs[name]
    with pytest.raises(KeyError):
        legs[name]


@pytest.mark.parametrize(
    'copied', [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copy_knows_what_it_names(legs, copied):
    """Messages of a copy are the same."""
    with pytest.raises(UnknownFrameError, match="no joint named 'x'"):
        copied(legs)['x']


@pytest.mark.parametrize(
    'error', [UnknownFrameError('leg9', ['leg0'], 'joint'), ShapeError('q', 'six', 'five')]
)
def test_error_survives_pickling(error):
    """Errors of worker processes arrive with their attributes."""
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), str(arrived)) == (type(error), str(error))
    assert vars(arrived) == vars(error)
