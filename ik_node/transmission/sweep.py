"""A transmission over the range of its joint space."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Points along one joint in a map of two joints, and on a curve.
ACROSS, ALONG = 41, 121
# Range of a joint without limits: half a turn to both sides [rad], or so many lengths.
WIDEST = np.pi


class Point(NamedTuple):
    """One configuration of a sweep."""

    q: Array
    ratio: Array
    nearness: float
    velocity: Array  # largest of each row
    effort: Array


class Sweep:
    """
    A transmission at configurations over the range of its joints.

    Two joints of a joint space are swept together, on a grid; otherwise each actuator is swept on
    its own, while the others stay at q (nq,). Where the mechanism cannot go there is no point.

    `names` are the joints that are swept, `axes` their values [rad or m]. `points` have the
    indices along both axes of two joints that are swept `together`, or else the index of a joint,
    and that along its axis.
    """

    def __init__(self, transmission: Transmission, q: Array) -> None:
        self._transmission = transmission
        names, rows = transmission.solver.joint_names, transmission.joints
        self.together = together = len(rows) == 2 and set(rows) <= set(names)
        self.names = rows if together else transmission.actuators
        prepare = transmission.prepare_to_actuators if together else transmission.prepare_to_joints
        self._call = prepare()
        self._places = places = [names.index(name) for name in self.names]
        low, high = (each[places] for each in transmission.solver.limits())
        low = np.where(np.isfinite(low), low, q[places] - WIDEST)
        high = np.where(np.isfinite(high), high, q[places] + WIDEST)
        self.axes = list(np.linspace(low, high, ACROSS if together else ALONG, axis=1))
        lines = [(index, index, q) for index in range(len(self.names))]
        if together:
            lines = [(first, 1, point.q) for first, point in self._walk(0, q, q).items()]
        self.points = {
            (first, step): point
            for first, index, start in lines
            for step, point in self._walk(index, start, q).items()
        }

    def _walk(self, index: int, start: Array, q: Array) -> dict[int, Point]:
        """Sweep one joint to both sides of its value in q, with the others as in `start`."""
        points: dict[int, Point] = {}
        axis, target, read = self.axes[index], start[self._places], self._transmission
        middle = int(np.argmin(np.abs(axis - q[self._places[index]])))
        for side in (range(middle, len(axis)), range(middle, -1, -1)):
            here = start
            for step in side:
                target[index] = axis[step]
                self._call.start(here)
                state = self._call(target)
                if not state.converged:
                    break
                here = state.q
                bounds, nearness = read.joint_bounds(here), read.singularity(here).nearness
                limits = bounds.velocity.upper, bounds.effort.alone
                points[step] = Point(here, read.jacobian(here), nearness, *limits)
        return points

    def facts(self) -> dict[str, Any]:
        """Return the extremes over the range in plain types."""
        points, sizes = [*self.points.values()], [len(axis) for axis in self.axes]
        tried = prod(sizes) if self.together else sum(sizes)
        facts = {'swept': self.names, 'reached': len(points), 'tried': tried}
        if not points:
            return facts
        ratios = np.array([point.ratio for point in points])
        ends = np.stack((ratios.min(axis=0), ratios.max(axis=0)), axis=2).tolist()
        of_rows = zip(self._transmission.joints, ends, strict=True)
        motors = self._transmission.actuators
        nearest = min(points, key=lambda point: point.nearness)
        values = nearest.q[self._places].tolist()
        return facts | {
            'ratio': {row: dict(zip(motors, pairs, strict=True)) for row, pairs in of_rows},
            'least_nearness': nearest.nearness,
            'nearest': dict(zip(self.names, values, strict=True)),
        }
