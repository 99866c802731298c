"""The viewing ray through a clicked pixel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Triangles that are seen edge-on, with a smaller share of their area, are not hit.
_FLAT = 1e-12


class ViewRay(NamedTuple):
    """
    A viewing ray.

    Attributes
    ----------
    eye, along : ndarray, shape (3,)
        Origin and direction of the ray, root frame [m].

    """

    eye: Array
    along: Array

    @classmethod
    def of(cls, event: Any) -> ViewRay:
        """Return the viewing ray through the clicked pixel."""
        return cls(np.array(event.ray_origin), np.array(event.ray_direction))

    def hit(self, triangles: Array) -> Array | None:
        """
        Return the nearest point (3,) where the ray hits triangles [m]; None if it misses all.

        Parameters
        ----------
        triangles : ndarray, shape (n, 3, 3)
            Corners of the triangles, root frame [m].

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


# Called with the name of a clicked link and the viewing ray of the click.
OnClick = Callable[[str, ViewRay], None]
