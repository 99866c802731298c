"""Maps that several tests look at."""

import pytest
from support.panda_like import panda_like


@pytest.fixture(scope='session')
def arm_map():
    """Return the map of the arm's flange."""
    return panda_like().reach('link7', cell=0.06)


@pytest.fixture(scope='session')
def arm_directions():
    """Return the map of the arm's flange in eight directions."""
    return panda_like().reach('link7', cell=0.1, orientations=8)
