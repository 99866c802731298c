"""A load on a link: its arrow with the size of the force, and the two balls that drag it."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log2
from typing import Any

from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.look import LOAD, Look, ShapeFactory
from ik_node.scene.shapes import Shape
from ik_node.scene.skeleton import point, z_along
from ik_node.viewer.panels.load_panel import LoadArrow
from ik_node.viewer.stage.view_ray import add_ball, pointer_translation
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Called with 'force' or 'point' and the place to which that end is dragged, root frame [m].
OnLoad = Callable[[str, Array], None]

# Radius of the balls at the tip and on the shaft, as shares of the gizmo's size.
BALLS = {'force': 0.09, 'point': 0.07}
# Where on the arrow the ball on the shaft is: beyond the gizmo of a goal at the same point.
SHAFT = 0.72
COLOUR = (10, 140, 148)


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
        ball = add_ball(self._scene, f'/load_handles/{part}', BALLS[part] * self._size, COLOUR)

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


# Shares of the scale: length and radius of the head's arrow, and the distance of its tip from the
# end of the force, where the handle is.
HEAD, THICK, BEFORE = 0.7, 0.035, 0.06
# Height of the text, and its distance from the end of the force.
TEXT, GAP = 0.09, 0.22
# A short arrow has a smaller head: halved so often at most, so that there are few meshes.
HALVED = 5


def load_shapes(arrow: LoadArrow, look: Look) -> list[Shape]:
    """Return the shapes of a load; its `scale` is the length of an ordinary arrow [m]."""
    start, end, of = arrow.start, arrow.end, arrow.link
    delta = end - start
    length = float(np.sqrt(delta @ delta))
    share = length / look.scale - BEFORE
    halved = max(0, -floor(log2(share / HEAD))) if share > 0.0 else HALVED + 1
    if halved > HALVED:
        return []
    ahead = look.scale / length * delta
    tip = end - BEFORE * ahead
    make = ShapeFactory('load', of, of, look)
    head, thick = HEAD * 0.5**halved, THICK * 0.5**halved
    pose = pose_from_matrix(z_along(tip - head * ahead, delta))
    # The head is an arrow of its own, because an arrow of another length needs another mesh.
    return [
        make.line('shaft', start, tip - 0.5 * head * ahead, 2.0 * thick, LOAD),
        make.arrow('head', pose, (head, thick), LOAD),
        make.text('size', point(end + GAP * ahead), arrow.text, TEXT, LOAD),
    ]
