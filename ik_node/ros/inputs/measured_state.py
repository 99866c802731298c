"""The last measured position, velocity and effort of each joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

# Largest number of joints that are stored before the robot is known.
_MOST_EARLY = 100_000
# Largest number of reported unknown names; the limit bounds the memory that a sender can use.
_MOST_REPORTED = 20_000


class MeasuredState:
    """The last measured positions, from complete and partial joint states, in [rad] and [m]."""

    def __init__(self) -> None:
        # Time of the last joint state [s]; None before the first one.
        self.time: float | None = None
        self.arrivals = 0  # Number of joint states so far.
        self.has_efforts = False  # True if the last joint state had efforts.
        self._joint_names: tuple[str, ...] | None = None
        self._known: frozenset[str] | None = None
        self._values: dict[str, float] = {}
        self._velocities: dict[str, float] = {}
        self._efforts: dict[str, float] = {}
        self._times: dict[str, float] = {}
        self._arrived: dict[str, int] = {}
        self._reported: set[str] = set()

    def set_joint_names(self, names: Sequence[str]) -> None:
        """Set the joints of the model, and drop the values of all other joints."""
        self._joint_names = tuple(names)
        known = self._known = frozenset(names)
        self._values = {name: value for name, value in self._values.items() if name in known}
        self._times = {name: time for name, time in self._times.items() if name in known}
        self._velocities, self._efforts = {}, {}
        self._arrived = {name: arrival for name, arrival in self._arrived.items() if name in known}
        self._reported.clear()

    def update(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        time: float,
        velocities: Mapping[str, float] = MappingProxyType({}),
        efforts: Mapping[str, float] = MappingProxyType({}),
    ) -> tuple[str, ...]:
        """
        Store values measured at `time` [s].

        `names` and `positions`: joints and their positions [rad or m]. `time`: time of the
        measurement [s]. `velocities` and `efforts`: velocities [rad/s or m/s] and efforts [N m or
        N] of some of the joints; those of the other joints of the message are unknown from now on.
        Return names that the model does not have, each only the first time, up to 20,000.
        """
        self.time = time
        self.arrivals += 1
        self.has_efforts = bool(efforts)
        known = self._known
        unknown = []
        for name, position in zip(names, positions, strict=True):
            if name in known if known is not None else len(self._values) < _MOST_EARLY:
                self._values[name] = position
                self._times[name] = time
                self._arrived[name] = self.arrivals
                for known_of, part in ((self._velocities, velocities), (self._efforts, efforts)):
                    if name in part:
                        known_of[name] = part[name]
                    else:
                        known_of.pop(name, None)
            elif name not in self._reported and len(self._reported) < _MOST_REPORTED:
                self._reported.add(name)
                unknown.append(name)
        return tuple(unknown)

    def rewind(self, now: float) -> None:
        """Limit all times to `now` [s], after the clock has jumped back."""
        if self.time is not None:
            self.time = min(self.time, now)
        self._times = {name: min(time, now) for name, time in self._times.items()}

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """Return the last value of each of these joints, without those never measured."""
        return {name: self._values[name] for name in names if name in self._values}

    def velocities(self, names: Sequence[str]) -> list[float] | None:
        """Return the last velocity of each of these joints; None if one is unknown."""
        return _all_of(self._velocities, names)

    def efforts(self, names: Sequence[str]) -> list[float] | None:
        """Return the last effort of each of these joints; None if one is unknown."""
        return _all_of(self._efforts, names)

    def values_since(self, names: Iterable[str], arrivals: int) -> dict[str, float]:
        """Return the values of these joints that arrived after joint state number `arrivals`."""
        arrived = self._arrived
        return {name: self._values[name] for name in names if arrived.get(name, 0) > arrivals}

    def is_stale(self, now: float, timeout: float) -> bool:
        """
        Return True if the last joint state is older than `timeout` [s].

        Return False if no joint state was received, or if `timeout` is 0.
        """
        return timeout > 0.0 and self.time is not None and now - self.time > timeout

    def stale(self, names: Iterable[str], now: float, timeout: float) -> tuple[str, ...]:
        """Return those of the joints whose own last value is older than `timeout` [s]."""
        if timeout <= 0.0:
            return ()
        times = self._times
        return tuple(name for name in names if name in times and now - times[name] > timeout)

    def start(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a copy of `q` in which every measured joint has its measured value."""
        measured = q.copy()
        if self._joint_names is not None:
            for index, name in enumerate(self._joint_names):
                value = self._values.get(name)
                if value is not None:
                    measured[index] = value
        return measured


def _all_of(known: Mapping[str, float], names: Sequence[str]) -> list[float] | None:
    return [known[name] for name in names] if names and known.keys() >= set(names) else None
