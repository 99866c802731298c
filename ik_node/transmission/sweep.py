"""A transmission over the range of its joint space."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ik_node.solver.status import Status
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

    `names` are the joints that are swept, `axes` their values [rad or m]. `grid` has the points of
    two joints by their indices along both axes, `curves` those of each joint that is swept on its
    own by the index along its axis.
    """

    def __init__(self, transmission: Transmission, q: Array) -> None:
        self._transmission = transmission
        names, rows = transmission.solver.joint_names, transmission.joints
        together = len(rows) == 2 and set(rows) <= set(names)
        self.names = rows if together else transmission.actuators
        prepare = transmission.prepare_to_actuators if together else transmission.prepare_to_joints
        self._call = prepare()
        self._places = places = [names.index(name) for name in self.names]
        low, high = (each[places] for each in transmission.solver.limits())
        low = np.where(np.isfinite(low), low, q[places] - WIDEST)
        high = np.where(np.isfinite(high), high, q[places] + WIDEST)
        self.axes = list(np.linspace(low, high, ACROSS if together else ALONG, axis=1))
        self.grid: dict[tuple[int, int], Point] = {}
        self.curves: list[dict[int, Point]] = []
        if not together:
            self.curves = [self._walk(index, q[places], q, q) for index in range(len(self.names))]
            return
        for row, point in self._walk(0, q[places], q, q).items():
            values = np.array((self.axes[0][row], point.q[places[1]]))
            for column, other in self._walk(1, values, point.q, q).items():
                self.grid[row, column] = other

    def _point(self, values: Array, start: Array) -> Point | None:
        """Return the point at values of the joints; None if they cannot be had."""
        self._call.start(start)
        state = self._call(values)
        if state.status is not Status.CONVERGED:
            return None
        read = self._transmission
        ratio, bounds = read.jacobian(state.q), read.joint_bounds(state.q)
        nearness = read.singularity(state.q).nearness
        return Point(state.q, ratio, nearness, bounds.velocity.upper, bounds.effort.alone)

    def _walk(self, index: int, values: Array, start: Array, q: Array) -> dict[int, Point]:
        """Sweep one joint to both sides of its value in q, with the others at their values."""
        points: dict[int, Point] = {}
        axis, target = self.axes[index], values.copy()
        middle = int(np.argmin(np.abs(axis - q[self._places[index]])))
        for side in (range(middle, len(axis)), range(middle, -1, -1)):
            here = start
            for step in side:
                target[index] = axis[step]
                point = points.get(step) or self._point(target, here)
                if point is None:
                    break
                points[step], here = point, point.q
        return points

    @property
    def points(self) -> list[Point]:
        """Return all points."""
        return [*self.grid.values(), *(p for curve in self.curves for p in curve.values())]

    def facts(self) -> dict[str, Any]:
        """Return the extremes over the range in plain types."""
        points = self.points
        sizes = [len(axis) for axis in self.axes]
        tried = sum(sizes) if self.curves else prod(sizes)
        facts = {'swept': self.names, 'reached': len(points), 'tried': tried}
        if not points:
            return facts
        ratios = np.array([point.ratio for point in points])
        ends = np.stack((ratios.min(axis=0), ratios.max(axis=0)), axis=2).tolist()
        rows, motors = self._transmission.joints, self._transmission.actuators
        of_rows = zip(rows, ends, strict=True)
        nearest = min(points, key=lambda point: point.nearness)
        values = nearest.q[self._places].tolist()
        return facts | {
            'ratio': {row: dict(zip(motors, pairs, strict=True)) for row, pairs in of_rows},
            'least_nearness': nearest.nearness,
            'nearest': dict(zip(self.names, values, strict=True)),
        }
