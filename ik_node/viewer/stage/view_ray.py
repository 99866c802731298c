"""What is seen under the pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Triangles seen at a flatter angle than this share of their area are not hit.
_FLAT = 1e-12


class ViewRay(NamedTuple):
    """
    A line of sight.

    Attributes
    ----------
    eye, along : ndarray, shape (3,)
        Where it begins, and its direction, root frame [m].

    """

    eye: Array
    along: Array

    @classmethod
    def of(cls, event: Any) -> ViewRay:
        """Return that of a click."""
        return cls(np.array(event.ray_origin), np.array(event.ray_direction))

    def hit(self, triangles: Array) -> Array | None:
        """
        Return the nearest point of triangles that is seen, (3,) [m]; None = it passes them by.

        Parameters
        ----------
        triangles : ndarray, shape (n, 3, 3)
            Triangle, corner, coordinate, root frame [m].

        """
        first = triangles[:, 0]
        one, two = triangles[:, 1] - first, triangles[:, 2] - first
        across = np.cross(self.along, two)
        area = np.einsum('ni,ni->n', one, across)
        seen = np.abs(area) > _FLAT * np.abs(area).max(initial=0.0)
        one, two, across, away = one[seen], two[seen], across[seen], self.eye - first[seen]
        turned = np.cross(away, one)
        u = np.einsum('ni,ni->n', away, across) / area[seen]
        v = turned @ self.along / area[seen]
        far = np.einsum('ni,ni->n', two, turned) / area[seen]
        inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (far > 0.0)
        if not inside.any():
            return None
        found: Array = self.eye + far[inside].min() * self.along
        return found


# Takes the name of a link, and how it was seen when it was clicked.
OnClick = Callable[[str, ViewRay], None]
