"""The last measured position of each joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class MeasuredState:
    """Collect positions from whole and partial joint states; values in [rad] and [m]."""

    def __init__(self) -> None:
        self.time: float | None = None
        self._joint_names: tuple[str, ...] | None = None
        self._values: dict[str, float] = {}
        self._told: set[str] = set()

    def set_joint_names(self, names: Sequence[str]) -> None:
        """Take the joints of a model; values of others are dropped from now on."""
        self._joint_names = tuple(names)
        known = set(self._joint_names)
        self._values = {name: value for name, value in self._values.items() if name in known}
        self._told.clear()

    def update(
        self, names: Sequence[str], positions: Sequence[float], time: float
    ) -> tuple[str, ...]:
        """
        Take positions as of `time` [s].

        Returns
        -------
        tuple of str
            Names the model does not have, each only the first time it comes.

        """
        self.time = time
        if self._joint_names is None:
            self._values.update(zip(names, positions, strict=True))
            return ()
        known = self._joint_names
        unknown = []
        for name, position in zip(names, positions, strict=True):
            if name in self._values or name in known:
                self._values[name] = position
            elif name not in self._told:
                self._told.add(name)
                unknown.append(name)
        return tuple(unknown)

    def is_stale(self, now: float, timeout: float) -> bool:
        """Tell whether the last state is older than `timeout` [s]; 0 means never."""
        return timeout > 0.0 and self.time is not None and now - self.time > timeout

    def start(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a copy of `q` in which every measured joint has its measured value."""
        measured = q.copy()
        if self._joint_names is not None:
            for index, name in enumerate(self._joint_names):
                value = self._values.get(name)
                if value is not None:
                    measured[index] = value
        return measured
