"""The line around what is reached, finer than the grid."""

from __future__ import annotations

from itertools import pairwise

from ik_node.cli.workspace.map import ReachMap
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Each halves the way on which the border lies.
_HALVINGS = 6
# Each doubles the pieces of the border in a cell.
_BULGES = 2
# How far aside of a piece the border is sought, in lengths of it: corners are sharper outwards.
_INWARDS, _OUTWARDS = 0.55, 1.2


class Outline:
    """
    The border between points that are reached and those that are not.

    Where it crosses an edge of the grid is solved for, and how far it bulges in between.

    Parameters
    ----------
    found : ReachMap
    refine : bool
        Whether to solve at all; else it is taken to be half way between points.

    Attributes
    ----------
    cells : list of ndarray, shape (n, 2)
        What is reached, as polygons [m], anticlockwise.
    border : list of ndarray, shape (n, 2)
        Lines around it [m], closed but where the grid ends.

    """

    def __init__(self, found: ReachMap, *, refine: bool = True) -> None:
        self._found, self._refine = found, refine
        self._flat = found.points.flatten(found.points.points)
        self._reached = found.reached.reshape(found.points.shape)
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
        """How much of the plane is reached [m^2], as far as the grid goes."""
        doubled = 0.0
        for cell in self.cells:
            x, y = (cell - cell[0]).T
            doubled += float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        return 0.5 * doubled

    def _corner_counts(self) -> Ints:
        """Return how many corners of every cell are reached."""
        reached = self._reached.astype(np.int64)
        counts: Ints = reached[1:, 1:] + reached[1:, :-1] + reached[:-1, 1:] + reached[:-1, :-1]
        return counts

    def _whole_cells(self, whole: NDArray[np.bool_]) -> list[Array]:
        """Return the cells that are reached in all corners, those side by side as one."""
        across, up = self._found.points.sides
        cells = []
        for row, cells_of_row in enumerate(whole):
            steps = np.diff(np.concatenate(([0], cells_of_row.astype(int), [0])))
            low, high = up[row], up[row + 1]
            ends = zip(np.flatnonzero(steps > 0), np.flatnonzero(steps < 0), strict=True)
            for left, right in ((across[first], across[last]) for first, last in ends):
                cells.append(np.array(((left, low), (right, low), (right, high), (left, high))))
        return cells

    def _cross_edges(self) -> dict[tuple[int, int], Array]:
        """Return where the border crosses edges, by their ends, the one that is reached first."""
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
        """Return where on the way from points (n, 2) that are reached to others the border is."""
        q = self._found.q[starts]
        for _ in range(_HALVINGS if self._refine and len(near) else 0):
            middle = 0.5 * (near + far)
            batch = self._found.follow(middle, q)
            there = batch.converged
            near = np.where(there[:, None], middle, near)
            far = np.where(there[:, None], far, middle)
            q = np.where(there[:, None], batch.q, q)
        return 0.5 * (near + far)

    def _walk(self, row: int, column: int) -> tuple[list[Array], list[tuple[Array, Array, int]]]:
        """
        Go around a cell that is cut.

        Returns
        -------
        parts : list of ndarray, shape (n, 2)
            Its edge from where it comes to be reached to where that ends.
        gaps : list of (ndarray, ndarray, int)
            Where each part ends, where the next one begins, and a point nearby that is reached.

        """
        width = self._reached.shape[1]
        first = row * width + column
        around = [first, first + 1, first + 1 + width, first + width]
        reached = self._reached.ravel()
        # It begins outside, and so comes in before it goes out.
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
        """Return the border across every gap, from end to end over points between."""
        lines = np.array([(one, other) for one, other, _ in gaps]).reshape(-1, 2, 2)
        starts = np.array([place for _, _, place in gaps], dtype=np.int64)
        for _ in range(_BULGES if self._refine and gaps else 0):
            one, other = lines[:, :-1].reshape(-1, 2), lines[:, 1:].reshape(-1, 2)
            near_by = starts.repeat(lines.shape[1] - 1)
            middle, way = 0.5 * (one + other), other - one
            # What is reached lies on the left of the way: the border is sought to the right.
            outwards = np.column_stack((way[:, 1], -way[:, 0]))
            near, far = middle - _INWARDS * outwards, middle + _OUTWARDS * outwards
            ends = [
                self._found.follow(end, self._found.q[near_by]).converged for end in (near, far)
            ]
            sought = (ends[0] & ~ends[1])[:, None]
            between = np.where(sought, self._halve(near, far, near_by), middle)
            finer = np.empty((len(lines), 2 * lines.shape[1] - 1, 2))
            finer[:, ::2], finer[:, 1::2] = lines, between.reshape(len(lines), -1, 2)
            lines = finer
        return list(lines)


def _joined(pieces: list[Array]) -> list[Array]:
    """Return lines made of pieces that begin where others end."""
    following = {tuple(piece[0].tolist()): piece for piece in pieces}
    # Those where no other ends come first: what begins at the edge of the grid.
    ends = {tuple(piece[-1].tolist()) for piece in pieces}
    lines = []
    for first in sorted(following, key=lambda start: start in ends):
        line = []
        at = first
        while at in following:
            piece = following.pop(at)
            line.append(piece[:-1])
            at = tuple(piece[-1].tolist())
        if line:
            lines.append(np.vstack([*line, np.array((at,))]))
    return lines
