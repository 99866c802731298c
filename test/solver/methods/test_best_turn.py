"""The best turn equals a search over all angles."""

from ik_node.solver.methods.run import ANGLES, best_turn
import numpy as np
import pytest


def cost(coefficients, angle):
    """Return a trigonometric polynomial of degree two."""
    a1, b1, a2, b2 = coefficients
    return (
        3.0
        + a1 * np.cos(angle)
        + b1 * np.sin(angle)
        + a2 * np.cos(2 * angle)
        + b2 * np.sin(2 * angle)
    )


@pytest.mark.parametrize('degree', [1, 2])
def test_best_turn_has_least_cost_within_bounds(degree):
    """Compared with a fine grid."""
    rng = np.random.default_rng(degree)
    for _ in range(200):
        coefficients = rng.normal(size=4) * ([1, 1, 0, 0] if degree == 1 else 1)
        low, high = -rng.uniform(0, 4), rng.uniform(0, 4)
        found = best_turn(cost(coefficients, ANGLES), low, high)
        assert max(low, -np.pi) <= found <= min(high, np.pi)
        grid = np.linspace(max(low, -np.pi), min(high, np.pi), 2001)
        assert cost(coefficients, found) <= cost(coefficients, grid).min() + 1e-12


def test_best_turn_is_exact_to_rounding():
    """A cost that is least at 0.3 rad is least there to rounding."""
    assert best_turn(1.0 - np.cos(ANGLES - 0.3), -9, 9) == pytest.approx(0.3, abs=1e-14)


def test_best_turn_is_zero_without_gain():
    """A cost that does not depend on the angle, or is least here, moves nothing."""
    assert best_turn(np.full(5, 7.0), -1, 1) == 0.0
    assert best_turn(1.0 - np.cos(ANGLES), -1, 1) == pytest.approx(0.0, abs=1e-15)


def test_best_turn_is_zero_between_equal_bounds():
    """Only one angle is allowed."""
    assert best_turn(1.0 - np.cos(ANGLES - 0.3), 0.0, 0.0) == 0.0
