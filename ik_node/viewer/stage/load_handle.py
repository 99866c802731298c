"""The two balls with which a load is dragged: at the tip of its arrow and on its shaft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.viewer.panels.load_panel import LoadArrow
from ik_node.viewer.stage.view_ray import pointer_translation
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Called with 'force' or 'point' and the place to which that end is dragged, root frame [m].
OnLoad = Callable[[str, Array], None]

# Radius of the balls at the tip and on the shaft, as shares of the gizmo's size.
BALLS = {'force': 0.09, 'point': 0.07}
# Where on the arrow the ball on the shaft is: beyond the gizmo of a goal at the same point.
SHAFT = 0.72
COLOUR, OPACITY = (10, 140, 148), 0.75


class LoadHandle:
    """A ball at the tip of the arrow of a load, and one on its shaft, which moves the load."""

    def __init__(self, scene: Any, on_drag: OnLoad) -> None:
        self._scene = scene
        self._on_drag = on_drag
        self._balls: dict[str, Any] = {}
        self._size = 0.0
        self._axes: Array = np.eye(3)
        self._places: dict[str, Array] = {}
        # At the start of a drag: where the end of the arrow was, and where the pointer held it.
        self._start: Array = np.zeros(3)
        self._grip: Array = np.zeros(3)

    def draw(self, arrow: LoadArrow | None, size: float, plane: Array | None) -> None:
        """
        Place the balls on an arrow, if there is one.

        `size` is the length of a gizmo's arrows [m]; the balls are dragged in `plane` (3, 2), or
        across the view if that is None.
        """
        if arrow is None or size != self._size:
            self.clear()
        if arrow is None:
            return
        self._size = size
        self._axes = np.eye(3) if plane is None else plane
        self._places = {'force': arrow.end, 'point': arrow.start}
        shaft = arrow.start + SHAFT * (arrow.end - arrow.start)
        for part, place in (('force', arrow.end), ('point', shaft)):
            if part not in self._balls:
                self._balls[part] = self._add(part)
            self._balls[part].position = tuple(place.tolist())

    def clear(self) -> None:
        """Remove the balls."""
        for ball in self._balls.values():
            ball.remove()
        self._balls.clear()

    def _add(self, part: str) -> Any:
        ball = self._scene.add_icosphere(
            f'/load_handles/{part}',
            BALLS[part] * self._size,
            color=COLOUR,
            opacity=OPACITY,
            cast_shadow=False,
            receive_shadow=False,
        )

        async def dragged(event: Any) -> None:
            if event.phase == 'start':
                self._start = self._places[part]
                self._grip = np.array(event.start_position, dtype=np.float64)
            elif event.phase == 'update':
                delta = pointer_translation(event, self._grip, self._axes)
                if delta is not None:
                    self._on_drag(part, self._start + delta)

        ball.on_drag(dragged)
        return ball
