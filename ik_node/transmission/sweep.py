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
        self._places = [names.index(name) for name in self.names]
        self._start = q
        lower, upper = transmission.solver.limits()
        self.axes: list[Array] = []
        self._middle: list[int] = []
        for place in self._places:
            low = lower[place] if np.isfinite(lower[place]) else q[place] - WIDEST
            high = upper[place] if np.isfinite(upper[place]) else q[place] + WIDEST
            axis = np.linspace(low, high, ACROSS if together else ALONG)
            self.axes.append(axis)
            self._middle.append(int(np.argmin(np.abs(axis - q[place]))))
        self.grid: dict[tuple[int, int], Point] = {}
        self.curves: list[dict[int, Point]] = []
        if together:
            self._sweep_grid()
        else:
            self.curves = [self._walk(at, q[self._places], q) for at in range(len(self.names))]

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

    def _walk(self, at: int, values: Array, start: Array) -> dict[int, Point]:
        """Sweep one joint to both sides, from its middle, with the others at their values."""
        found: dict[int, Point] = {}
        for side in (range(self._middle[at], len(self.axes[at])), range(self._middle[at], -1, -1)):
            here = start
            for step in side:
                wanted = values.copy()
                wanted[at] = self.axes[at][step]
                point = found.get(step) or self._point(wanted, here)
                if point is None:
                    break
                found[step], here = point, point.q
        return found

    def _sweep_grid(self) -> None:
        spine = self._walk(0, self._start[self._places], self._start)
        for row, point in spine.items():
            values = np.array((self.axes[0][row], point.q[self._places[1]]))
            for column, other in self._walk(1, values, point.q).items():
                self.grid[row, column] = other

    @property
    def points(self) -> list[Point]:
        """Return all points."""
        return [*self.grid.values(), *(p for curve in self.curves for p in curve.values())]

    def facts(self) -> dict[str, Any]:
        """Return the extremes over the range in plain types."""
        points = self.points
        sizes = [len(axis) for axis in self.axes]
        tried = sum(sizes) if self.curves else prod(sizes)
        found: dict[str, Any] = {'swept': self.names, 'reached': len(points), 'tried': tried}
        if not points:
            return found
        ratios = np.array([point.ratio for point in points])
        rows, motors = self._transmission.joints, self._transmission.actuators
        found['ratio'] = {
            row: {
                motor: [float(ratios[:, r, a].min()), float(ratios[:, r, a].max())]
                for a, motor in enumerate(motors)
            }
            for r, row in enumerate(rows)
        }
        nearest = min(points, key=lambda point: point.nearness)
        found['least_nearness'] = nearest.nearness
        values = nearest.q[self._places].tolist()
        found['nearest'] = dict(zip(self.names, values, strict=True))
        return found
