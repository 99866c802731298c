"""The handle of a goal: gizmos and a ball."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any
from urllib.parse import quote

from ik_node.model.goal import Goal
from ik_node.model.rotation import matrix_to_quat, pose_matrix
from ik_node.scene.shapes import Quat
from ik_node.viewer.panels.handle_panel import HandleStyle
from ik_node.viewer.stage.gizmo_axes import Axes, constrained_axes, Gizmo, gizmos_for, handle_axes
from ik_node.viewer.stage.scene_nodes import wxyz_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# At flatter viewing angles than about this [rad], dragging in a plane is too sensitive.
_FLAT = 0.05


def pointer_translation(eye: Array, held: Array, pointer: Array, axes: Array) -> Array | None:
    """
    Return the translation (3,) of a drag [m].

    Parameters
    ----------
    eye : ndarray, shape (3,)
        Position of the camera.
    held : ndarray, shape (3,)
        Point at which the drag started.
    pointer : ndarray, shape (3,)
        A point under the pointer; with three axes, the end of the drag.
    axes : ndarray, shape (3, n)
        Unit vectors along which the drag is possible, n from 1 to 3.

    Returns
    -------
    ndarray or None
        None = the axes are parallel to the view, or the pointer is above the horizon.

    """
    if axes.shape[1] == 3:
        return pointer - held
    ray = pointer - eye
    ray = ray / np.sqrt(ray @ ray)
    # Solve eye + t ray = held + axes s in the least-squares sense.
    columns = np.column_stack((axes, -ray))
    if np.linalg.svd(columns, compute_uv=False)[-1] < _FLAT:
        return None
    *along, ahead = np.linalg.lstsq(columns, eye - held, rcond=None)[0]
    if ahead <= 0.0:
        return None
    way: Array = axes @ np.array(along)
    return way


# Called with the goal's name, its position [m] and quaternion (xyzw) in the root frame, and the
# phase of the drag: start, update or end.
OnDrag = Callable[[str, Array, Array, str], None]

# Radius of the ball, as a share of the gizmo's size, and its scale without gizmos.
BALL, SMALL = 0.13, 0.6
COLOUR = (41, 107, 230)
OPACITY = 0.7
# A gizmo on a grid without an event for this time [s] is at rest or has been released.
REST = 0.4


class GoalHandle:
    """
    The gizmos of a goal, and the ball that can be dragged and selects the goal.

    Parameters
    ----------
    scene : viser.SceneApi
    name : str
        Name of the goal.
    size : float
        Size of its gizmos [m].
    plane : ndarray, shape (3, 2), or None
        Plane in which the link moves, and in which the ball is dragged; None = not planar.
    on_drag : callable
    on_select : callable
        Called with the name of the goal when its ball is clicked or dragged.

    """

    def __init__(
        self,
        scene: Any,
        name: str,
        size: float,
        plane: Array | None,
        on_drag: OnDrag,
        on_select: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._scene = scene
        self._name = name
        self._size = size
        self._plane = plane
        self._on_drag = on_drag
        self._on_select = on_select
        self._style = HandleStyle()
        self._parts: dict[Gizmo, Any] = {}
        # During a drag on a grid: the hidden gizmo, and its visible copy on the grid.
        self._snapped: tuple[Any, Any] | None = None
        self._heard = 0.0
        self._ball: Any = None
        self._move: Axes = (False, False, False)
        # The goal's pose and the axes of its gizmos, as last drawn.
        self._pose: Array = np.eye(4)
        self._axes: Array = np.eye(3)
        # During a drag: the browser, the dragged object, and pose and axes at its start.
        self._holder: Any = None
        self._held: Any = None
        self._start = (self._pose, self._axes)
        self._grip: Array = np.zeros(3)

    def draw(self, goal: Goal, style: HandleStyle, *, visible: bool, whole: bool = True) -> None:
        """
        Move the handle to the goal, except for a gizmo that is being dragged.

        Parameters
        ----------
        goal, style
            The goal, and the settings for dragging it.
        visible : bool
            Whether anything is shown.
        whole : bool
            Whether the gizmos are shown; else there is only a small ball.

        """
        self._style = style
        move, turn = constrained_axes(goal)
        nothing = (False, False, False)
        self._move = move = move if style.move else nothing
        self._choose(gizmos_for(move, turn if style.turn else nothing))
        visible = visible and goal.enabled
        for gizmo in self._parts.values():
            gizmo.visible = visible and (whole or gizmo is self._held)
        self._show_ball(visible)
        if self._ball is not None:
            self._ball.scale = 1.0 if whole else SMALL
        if not visible:
            self._end_snapped()
            return
        self._pose, self._axes = goal.matrix_world.copy(), handle_axes(goal, style)
        place, wxyz = tuple(self._pose[:3, 3].tolist()), wxyz_of(_quat(self._axes))
        for gizmo in self._parts.values():
            if gizmo is not self._held:
                gizmo.position, gizmo.wxyz = place, wxyz
        self._show_snapped(place, wxyz)
        if self._ball is not None:
            self._ball.position = place

    def pull(self, event: Any) -> None:
        """Move the goal with the pointer, along those axes only that the goal constrains."""
        self._track(event)
        start, axes = self._start
        if event.phase == 'start':
            self._on_select(self._name)
            self._grip = np.array(event.start_position, dtype=np.float64)
            self._tell(start, 'start')
        if event.phase != 'update' or not any(self._move):
            return
        along = axes[:, list(self._move)]
        if all(self._move) and self._plane is not None:
            along = self._plane
        way = pointer_translation(
            np.array(event.client.camera.position, dtype=np.float64),
            self._grip,
            np.array(event.end_position, dtype=np.float64),
            along,
        )
        if way is not None:
            dragged = start.copy()
            dragged[:3, 3] += way
            self._tell(dragged, 'update')

    def settle(self, now: float) -> bool:
        """
        Release a gizmo on a grid if it has sent no event for some time.

        viser's client sends no event when an invisible gizmo is released.

        Parameters
        ----------
        now : float
            Time [s], of `time.monotonic`.

        Returns
        -------
        bool
            True if the handle must be redrawn.

        """
        if self._snapped is None or now - self._heard < REST:
            return False
        self._holder = self._held = None
        return True

    def release(self, client: Any) -> None:
        """Release the handle if a disconnected browser was dragging it."""
        if self._holder == client:
            self._holder = self._held = None

    def remove(self) -> None:
        """Remove the handle from the page."""
        self._end_snapped()
        self._choose([])
        if self._ball is not None:
            self._ball.remove()
            self._ball = None

    def _choose(self, parts: list[Gizmo]) -> None:
        for part in [part for part in self._parts if part not in parts]:
            gizmo = self._parts.pop(part)
            if gizmo is self._held:
                self._holder = self._held = None
                self._end_snapped()
            gizmo.remove()
        for part in parts:
            if part not in self._parts:
                self._parts[part] = self._new(part)

    def _new(self, part: Gizmo) -> Any:
        at = f'/gizmos/{quote(self._name, safe="")}'
        if self._parts:
            at += ':' + ''.join('01'[flag] for flag in (*part.axes, part.moves, part.turns))
        gizmo = self._add(at, part)

        async def moved(event: Any) -> None:
            self._track(event)
            if event.phase == 'update' and self._held is None:
                self._holder, self._held = event.client_id, gizmo  # it was only at rest
            self._heard = time.monotonic()
            w, x, y, z = event.target.wxyz
            dragged = pose_matrix(event.target.position, (x, y, z, w))
            start, axes = self._start
            dragged[:3, :3] = dragged[:3, :3] @ axes.T @ start[:3, :3]
            self._tell(dragged, event.phase)

        gizmo.on_update(moved)
        return gizmo

    def _add(self, name: str, part: Gizmo) -> Any:
        return self._scene.add_transform_controls(
            name,
            scale=self._size,
            line_width=3.0,
            active_axes=part.axes,
            disable_axes=not part.moves,
            disable_sliders=not part.moves,
            disable_rotations=not part.turns,
            depth_test=False,
        )

    def _show_snapped(self, place: tuple[float, ...], wxyz: tuple[float, ...]) -> None:
        """
        Show a copy on the grid of a gizmo that is being dragged.

        The browser keeps the dragged gizmo under the pointer and ignores its pose on the grid, so
        it is hidden meanwhile.
        """
        part = next((part for part, gizmo in self._parts.items() if gizmo is self._held), None)
        if part is None or not self._style.snaps:
            self._end_snapped()
            return
        if self._snapped is None:
            self._held.opacity = 0.0
            copy = self._add(f'/gizmos/{quote(self._name, safe="")}:snapped', part)
            self._snapped = (self._held, copy)
        self._snapped[1].position, self._snapped[1].wxyz = place, wxyz

    def _end_snapped(self) -> None:
        if self._snapped is not None:
            hidden, copy = self._snapped
            self._snapped = None
            hidden.opacity = 1.0
            copy.remove()

    def _show_ball(self, visible: bool) -> None:
        if self._ball is None and visible:
            self._ball = self._scene.add_icosphere(
                f'/balls/{quote(self._name, safe="")}',
                BALL * self._size,
                color=COLOUR,
                opacity=OPACITY,
                cast_shadow=False,
                receive_shadow=False,
            )

            async def pulled(event: Any) -> None:
                self.pull(event)

            async def clicked(_: object) -> None:
                self._on_select(self._name)

            self._ball.on_drag(pulled)
            self._ball.on_click(clicked)
        if self._ball is not None:
            self._ball.visible = visible

    def _track(self, event: Any) -> None:
        """Record which client drags which object, from pointer-down to pointer-up."""
        if event.phase == 'start':
            self._holder, self._held = event.client_id, event.target
            self._start = (self._pose, self._axes)
        elif event.phase == 'end':
            self._holder = self._held = None

    def _tell(self, pose: Array, phase: str) -> None:
        start, axes = self._start
        if phase != 'start':
            pose = self._style.snapped(start, pose, axes)
        self._on_drag(self._name, pose[:3, 3].copy(), matrix_to_quat(pose), phase)


def _quat(turn: Array) -> Quat:
    x, y, z, w = matrix_to_quat(turn).tolist()
    return x, y, z, w
