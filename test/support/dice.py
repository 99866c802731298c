"""Random choices of a test, by a seed or by hypothesis."""

from hypothesis import strategies as st
import numpy as np


class Dice:
    """Choices from two sources: integers below n, and numbers in an interval."""

    def below(self, count):
        raise NotImplementedError

    def number(self, low, high):
        raise NotImplementedError

    def one(self, things):
        things = list(things)
        return things[self.below(len(things))] if things else None

    def some(self, things):
        return [thing for thing in things if self.below(2)]

    def position(self, size=0.4):
        """Return three numbers [m]."""
        return np.array([self.number(-size, size) for _ in range(3)])

    def euler(self):
        """Return three angles [rad]."""
        return np.array([self.number(-3.0, 3.0) for _ in range(3)])


class ThrownDice(Dice):
    """Choices by a seed."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def below(self, count):
        return int(self._rng.integers(count))

    def number(self, low, high):
        return float(self._rng.uniform(low, high))


class DrawnDice(Dice):
    """Choices by hypothesis, which shrinks them when a test fails."""

    def __init__(self, data):
        self._draw = data.draw

    def below(self, count):
        return self._draw(st.integers(0, count - 1))

    def number(self, low, high):
        return 1e-3 * self._draw(st.integers(round(1e3 * low), round(1e3 * high)))
