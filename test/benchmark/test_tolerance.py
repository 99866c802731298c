"""Goals that an arm meets within a tolerance only are met, whatever arm and tolerance."""

from ik_node.native import is_compiled
import numpy as np
import pytest
from tolerance import ARMS, is_within, moved, TOLERANCES, tried

COUNT = 12 if is_compiled() else 1


@pytest.mark.parametrize('name', [*ARMS][::3])
def test_goals_moved_within_tolerance_are_met(name):
    """Each tolerance, from home and from random starts; answers are within it by SciPy."""
    for tolerance in TOLERANCES:
        converged, _ = tried(name, tolerance, COUNT)
        assert np.mean(converged) >= 0.95


def test_moves_lie_within_their_tolerance():
    rng = np.random.default_rng(0)
    for tolerance in TOLERANCES:
        moves = [moved(rng, tolerance) for _ in range(200)]
        assert all(is_within(move, tolerance) for move in moves)
        assert np.mean([is_within(1.25 * move, tolerance) for move in moves]) < 0.7
