"""The viewing ray through a clicked pixel, and the translation of a drag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ik_node.scene.mesh import ray_hit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# At flatter viewing angles than about this [rad], dragging in a plane is too sensitive.
_FLAT = 0.05
# Opacity of the balls of handles.
BALL_OPACITY = 0.7


class ViewRay(NamedTuple):
    """A viewing ray: origin and direction (3,), root frame [m]."""

    eye: Array
    along: Array

    @classmethod
    def of(cls, event: Any) -> ViewRay:
        """Return the viewing ray through the clicked pixel."""
        return cls(np.array(event.ray_origin), np.array(event.ray_direction))

    def hit(self, triangles: Array) -> Array | None:
        """Return the nearest point (3,) where the ray hits triangles (n, 3, 3) [m]; else None."""
        return ray_hit(self.eye, self.along, triangles)


# Called with the name of a clicked link and the viewing ray of the click.
OnClick = Callable[[str, ViewRay], None]


def add_ball(scene: Any, name: str, radius: float, colour: tuple[int, int, int]) -> Any:
    """Add a translucent ball of a handle, which a pointer can drag."""
    plain = {'cast_shadow': False, 'receive_shadow': False}
    return scene.add_icosphere(name, radius, color=colour, opacity=BALL_OPACITY, **plain)


def pointer_translation(event: Any, held: Array, axes: Array) -> Array | None:
    """
    Return the translation (3,) of a drag that started at a point (3,) [m].

    `axes` (3, n) are unit vectors along which the drag is possible. With three axes it ends at the
    end position of the event, else where the axes meet the ray under the pointer. Return None if
    they are parallel to the view, or if the pointer is above the horizon.
    """
    pointer = np.array(event.end_position, dtype=np.float64)
    if axes.shape[1] == 3:
        return np.asarray(pointer - held)
    eye = np.array(event.client.camera.position, dtype=np.float64)
    ray = (pointer - eye) / np.linalg.norm(pointer - eye)
    # Solve eye + t ray = held + axes s in the least-squares sense.
    columns = np.column_stack((axes, -ray))
    if np.linalg.svd(columns, compute_uv=False)[-1] < _FLAT:
        return None
    *along, ahead = np.linalg.lstsq(columns, eye - held, rcond=None)[0]
    return np.asarray(axes @ np.array(along)) if ahead > 0.0 else None
