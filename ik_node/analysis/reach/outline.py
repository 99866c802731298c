"""Border of the reached region of a map, finer than its grid."""

from __future__ import annotations

from itertools import pairwise

from ik_node.analysis.reach.grid import Slice
from ik_node.analysis.reach.spread import Spread
from ik_node.solver.batch.batch_solution import BatchSolution
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Number of bisections per crossing of a grid edge.
_HALVINGS = 6
# Number of refinements, each of which doubles the border segments in a cell.
_BULGES = 2
# How far beside a segment the border is searched, in segment lengths; corners are sharper
# outwards.
_INWARDS, _OUTWARDS = 0.55, 1.2


class Outline:
    """
    The border between reached points and other points.

    Its crossings with grid edges, and its course between them, are found by solving.

    `refine`: True to refine the border by solving; otherwise it is half way between points.

    Attributes: `cells`, each (n, 2): the reached region as polygons [m], counterclockwise;
    `border` (n, 2): the border as lines [m], which are closed unless they end at the edge of the
    grid.
    """

    def __init__(self, found: Spread[Slice], *, refine: bool = True) -> None:
        self._found, self._refine = found, refine
        grid = found.grid
        self._flat = grid.flatten(grid.points(np.arange(grid.count)))
        self._reached = found.reached.reshape(grid.shape)
        counts = self._corner_counts()
        self.cells: list[Array] = self._whole_cells(counts == 4)
        self._crossings = self._cross_edges()
        cut = [self._walk(at, to) for at, to in np.argwhere((counts > 0) & (counts < 4)).tolist()]
        lines = self._bulge([gap for _, gaps in cut for gap in gaps])
        self.border: list[Array] = _joined(lines)
        rest = iter(lines)
        for parts, gaps in cut:
            inner = [next(rest)[1:-1] for _ in gaps]
            edge = [points for pair in zip(parts, inner, strict=True) for points in pair]
            self.cells.append(np.vstack(edge))

    @property
    def area(self) -> float:
        """Return the area of the reached region within the grid [m^2]."""
        doubled = 0.0
        for cell in self.cells:
            x, y = (cell - cell[0]).T
            doubled += float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        return 0.5 * doubled

    def _follow(self, flat: Array, starts: Array) -> BatchSolution:
        """Solve for coordinates (n, 2) on the plane from starts (n, nq), without restarts."""
        return self._found.follow(self._found.grid.lift(flat), starts)

    def _corner_counts(self) -> Ints:
        """Return the number of reached corners of every cell."""
        reached = self._reached.astype(np.int64)
        counts: Ints = reached[1:, 1:] + reached[1:, :-1] + reached[:-1, 1:] + reached[:-1, :-1]
        return counts

    def _whole_cells(self, whole: NDArray[np.bool_]) -> list[Array]:
        """Return rectangles that cover the cells with four reached corners."""
        across, up = self._found.grid.sides
        cells = []
        for row, cells_of_row in enumerate(whole):
            steps = np.diff(np.concatenate(([0], cells_of_row.astype(int), [0])))
            low, high = up[row], up[row + 1]
            ends = zip(np.flatnonzero(steps > 0), np.flatnonzero(steps < 0), strict=True)
            for left, right in ((across[first], across[last]) for first, last in ends):
                cells.append(np.array(((left, low), (right, low), (right, high), (left, high))))
        return cells

    def _cross_edges(self) -> dict[tuple[int, int], Array]:
        """Return the crossings of the border with edges, by (reached end, other end)."""
        place = np.arange(self._reached.size).reshape(self._reached.shape)
        one = np.concatenate((place[:, :-1].ravel(), place[:-1].ravel()))
        other = np.concatenate((place[:, 1:].ravel(), place[1:].ravel()))
        reached = self._reached.ravel()
        differ = reached[one] != reached[other]
        one, other = one[differ], other[differ]
        inside, outside = np.where(reached[one], (one, other), (other, one))
        crossings = self._halve(self._flat[inside], self._flat[outside], inside)
        pairs = zip(inside.tolist(), outside.tolist(), strict=True)
        return dict(zip(pairs, crossings, strict=True))

    def _halve(self, near: Array, far: Array, starts: Ints) -> Array:
        """Find the border between reached points (n, 2) and other points by bisection."""
        q = self._found.q[starts]
        for _ in range(_HALVINGS if self._refine and len(near) else 0):
            middle = 0.5 * (near + far)
            batch = self._follow(middle, q)
            there = batch.converged
            near = np.where(there[:, None], middle, near)
            far = np.where(there[:, None], far, middle)
            q = np.where(there[:, None], batch.q, q)
        return 0.5 * (near + far)

    def _walk(self, row: int, column: int) -> tuple[list[Array], list[tuple[Array, Array, int]]]:
        """
        Walk around a cell that the border crosses.

        Returns `parts` (n, 2), the parts of its edge that are reached and `gaps`, the end of each
        part, the start of the next one, and the index of a reached point nearby.
        """
        width = self._reached.shape[1]
        first = row * width + column
        around = [first, first + 1, first + 1 + width, first + width]
        reached = self._reached.ravel()
        # Start at a corner that is not reached, so that the walk enters before it leaves.
        while reached[around[0]]:
            around = around[1:] + around[:1]
        parts: list[list[Array]] = []
        nearby = []
        for here, there in pairwise([*around, around[0]]):
            if reached[here]:
                parts[-1].append(self._flat[here])
            if reached[here] and not reached[there]:
                parts[-1].append(self._crossings[here, there])
                nearby.append(here)
            if reached[there] and not reached[here]:
                parts.append([self._crossings[there, here]])
        following = parts[1:] + parts[:1]
        gaps = [
            (part[-1], after[0], place)
            for part, after, place in zip(parts, following, nearby, strict=True)
        ]
        return [np.array(part) for part in parts], gaps

    def _bulge(self, gaps: list[tuple[Array, Array, int]]) -> list[Array]:
        """Return the border across every gap as a line with refined points."""
        lines = np.array([(one, other) for one, other, _ in gaps]).reshape(-1, 2, 2)
        starts = np.array([place for _, _, place in gaps], dtype=np.int64)
        for _ in range(_BULGES if self._refine and gaps else 0):
            one, other = lines[:, :-1].reshape(-1, 2), lines[:, 1:].reshape(-1, 2)
            near_by = starts.repeat(lines.shape[1] - 1)
            middle, delta = 0.5 * (one + other), other - one
            # The reached region is on the left, so the border is searched to the right.
            outwards = np.column_stack((delta[:, 1], -delta[:, 0]))
            near, far = middle - _INWARDS * outwards, middle + _OUTWARDS * outwards
            ends = [self._follow(end, self._found.q[near_by]).converged for end in (near, far)]
            sought = (ends[0] & ~ends[1])[:, None]
            between = np.where(sought, self._halve(near, far, near_by), middle)
            finer = np.empty((len(lines), 2 * lines.shape[1] - 1, 2))
            finer[:, ::2], finer[:, 1::2] = lines, between.reshape(len(lines), -1, 2)
            lines = finer
        return list(lines)


def _joined(pieces: list[Array]) -> list[Array]:
    """Join segments that begin where others end to lines."""
    following = {tuple(piece[0].tolist()): piece for piece in pieces}
    # Lines that begin at the edge of the grid come first, because no other segment ends there.
    ends = {tuple(piece[-1].tolist()) for piece in pieces}
    lines = []
    for first in sorted(following, key=lambda start: start in ends):
        line = []
        corner = first
        while corner in following:
            piece = following.pop(corner)
            line.append(piece[:-1])
            corner = tuple(piece[-1].tolist())
        if line:
            lines.append(np.vstack([*line, np.array((corner,))]))
    return lines
