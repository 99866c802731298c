"""Handles for dragging the goals: gizmos and balls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from ik_node.analysis.link_motion import plane_of_point
from ik_node.errors import plain
from ik_node.model.constraint import Goal
from ik_node.model.rotation import matrix_to_quat, pose_from_matrix, pose_matrix
from ik_node.robot import Robot
from ik_node.viewer.panels.goal_panel import HandleStyle
from ik_node.viewer.stage.scene_nodes import wxyz_of
from ik_node.viewer.stage.view_ray import add_ball, pointer_translation
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Axes = tuple[bool, bool, bool]

_ALL: Axes = (True, True, True)
_NONE: Axes = (False, False, False)


class Gizmo(NamedTuple):
    """
    A viser gizmo; a goal may need several of them.

    A gizmo has an arrow along each of its axes x, y, z, a square between any two of them, and a
    ring about each axis whose two other axes it has. `moves` and `turns` tell whether it has
    arrows and squares, and whether it has rings.
    """

    axes: Axes
    moves: bool
    turns: bool


def gizmos_for(move: Axes, turn: Axes) -> list[Gizmo]:
    """Return gizmos for translation along some axes and rotation about some axes."""
    parts = [Gizmo(move, True, False)] if any(move) else []
    x, y, z = move
    if turn == (y and z, x and z, x and y) and any(turn):
        return [Gizmo(move, True, True)]
    if all(turn):
        return [*parts, Gizmo(_ALL, False, True)]
    for axis in range(3):
        if turn[axis]:
            parts.append(Gizmo((axis != 0, axis != 1, axis != 2), False, True))
    return parts


def constrained_axes(goal: Goal) -> tuple[Axes, Axes]:
    """Return which translations and which rotations of a goal are constrained."""
    if goal.traits.dragged == 'point':
        return _ALL, _NONE
    x, y, z, roll, pitch, yaw = (bool(flag) for flag in goal.dof_flags)
    return (x, y, z), (roll, pitch, yaw) if goal.kind == 'frame' else _NONE


def handle_axes(goal: Goal, style: HandleStyle) -> Array:
    """Return the axes (3, 3) along which a goal is dragged, root frame."""
    move, rotation = constrained_axes(goal)
    own: Array = goal.matrix_world[:3, :3].copy()
    if any(move) == all(move) and any(rotation) == all(rotation):
        return own if style.local else np.eye(3)
    # If some axes are free, the handle must use the axes in which the goal is constrained.
    if goal.axes == 'link' and goal.child is not None:
        held: Array = (goal.child.matrix_world @ goal.offset_matrix)[:3, :3]
        return held
    return own if goal.axes == 'goal' else np.eye(3)


def plane_of(robot: Robot, goal: Goal) -> Array | None:
    """Return the plane in which the link of a goal moves, see `plane_of_point`."""
    if goal.child is None or goal.parent is not None or goal.kind != 'frame':
        return None
    return plane_of_point(robot, goal.child.name, goal.offset_position)


# Called with the goal's name, its position [m] and quaternion (xyzw) in the root frame, and the
# phase of the drag: start, update or end.
OnDrag = Callable[[str, Array, Array, str], None]

# Radius of the ball, as a share of the gizmo's size, and its scale without gizmos.
BALL, SMALL = 0.13, 0.6
COLOUR = (41, 107, 230)
# Distance of the invitation to drag below a goal, as a multiple of the gizmo's size.
LABEL = 0.3
NO_GOAL = 'click a link to make a goal'


class GoalHandle:
    """
    The gizmos of a goal, and the ball that can be dragged and selects the goal.

    The ball is dragged in `plane` (3, 2), in which the link moves, or in space if that is None.
    """

    def __init__(
        self,
        scene: Any,
        name: str,
        size: float,
        plane: Array | None,
        on_drag: OnDrag,
        on_select: Callable[[str], None],
    ) -> None:
        self._scene = scene
        self._name = name
        self._size = size
        self._plane = plane
        self._on_drag = on_drag
        self._on_select = on_select
        self._style = HandleStyle()
        self._parts: dict[Gizmo, Any] = {}
        self._ball: Any = None
        self._move = _NONE
        # The goal's pose and the axes of its gizmos, as last drawn.
        self._pose: Array = np.eye(4)
        self._axes: Array = np.eye(3)
        # During a drag: the browser, the dragged object, and pose and axes at its start.
        self._holder: Any = None
        self._held: Any = None
        self._start = (self._pose, self._axes)
        self._grip: Array = np.zeros(3)

    def draw(self, goal: Goal, style: HandleStyle, *, visible: bool, whole: bool) -> None:
        """Move the handle to the goal, except a dragged gizmo; without `whole`, only a ball."""
        self._style = style
        move, rotation = constrained_axes(goal)
        self._move = move = move if style.move else _NONE
        self._choose(gizmos_for(move, rotation if style.turn else _NONE))
        visible = visible and goal.enabled
        self._pose, self._axes = goal.matrix_world.copy(), handle_axes(goal, style)
        place = tuple(self._pose[:3, 3].tolist())
        turned = np.eye(4)
        turned[:3, :3] = self._axes
        wxyz = wxyz_of(pose_from_matrix(turned)[1])
        for gizmo in self._parts.values():
            gizmo.visible = visible and (whole or gizmo is self._held)
            if visible and gizmo is not self._held:
                gizmo.position, gizmo.wxyz = place, wxyz
        if self._ball is None and visible:
            self._ball = self._new_ball()
        if self._ball is not None:
            self._ball.visible, self._ball.scale = visible, 1.0 if whole else SMALL
            self._ball.position = place

    def pull(self, event: Any) -> None:
        """Move the goal with the pointer, along those axes only that the goal constrains."""
        self._track(event)
        start, axes = self._start
        if event.phase == 'start':
            self._on_select(self._name)
            self._grip = np.array(event.start_position, dtype=np.float64)
        dragged = start.copy()
        if event.phase == 'update':
            if not any(self._move):
                return
            along = axes[:, list(self._move)]
            if all(self._move) and self._plane is not None:
                along = self._plane
            delta = pointer_translation(event, self._grip, along)
            if delta is None:
                return
            dragged[:3, 3] += delta
        if event.phase != 'end':
            self._tell(dragged, event.phase)

    def release(self, client: Any) -> None:
        """Release the handle if a disconnected browser was dragging it."""
        if self._holder == client:
            self._holder = self._held = None

    def remove(self) -> None:
        """Remove the handle from the page."""
        self._choose([])
        if self._ball is not None:
            self._ball.remove()
            self._ball = None

    def _choose(self, parts: list[Gizmo]) -> None:
        for part in [part for part in self._parts if part not in parts]:
            gizmo = self._parts.pop(part)
            if gizmo is self._held:
                self._holder = self._held = None
            gizmo.remove()
        for part in parts:
            if part not in self._parts:
                self._parts[part] = self._new(part)

    def _new(self, part: Gizmo) -> Any:
        name = f'/gizmos/{quote(self._name, safe="")}'
        if self._parts:
            name += ':' + ''.join('01'[flag] for flag in (*part.axes, part.moves, part.turns))
        gizmo = self._scene.add_transform_controls(
            name,
            scale=self._size,
            line_width=3.0,
            active_axes=part.axes,
            disable_axes=not part.moves,
            disable_sliders=not part.moves,
            disable_rotations=not part.turns,
            depth_test=False,
        )

        async def moved(event: Any) -> None:
            self._track(event)
            w, x, y, z = event.target.wxyz
            dragged = pose_matrix(event.target.position, (x, y, z, w))
            start, axes = self._start
            dragged[:3, :3] = dragged[:3, :3] @ axes.T @ start[:3, :3]
            self._tell(dragged, event.phase)

        gizmo.on_update(moved)
        return gizmo

    def _new_ball(self) -> Any:
        name = f'/balls/{quote(self._name, safe="")}'
        ball = add_ball(self._scene, name, BALL * self._size, COLOUR)

        async def pulled(event: Any) -> None:
            self.pull(event)

        async def clicked(_: object) -> None:
            self._on_select(self._name)

        ball.on_drag(pulled)
        ball.on_click(clicked)
        return ball

    def _track(self, event: Any) -> None:
        """Record which client drags which object, from pointer-down to pointer-up."""
        if event.phase == 'start':
            self._holder, self._held = event.client_id, event.target
            self._start = (self._pose, self._axes)
        elif event.phase == 'end':
            self._holder = self._held = None

    def _tell(self, pose: Array, phase: str) -> None:
        if phase != 'start':
            pose = self._style.snapped(*self._start, pose)
        self._on_drag(self._name, pose[:3, 3].copy(), matrix_to_quat(pose), phase)


class GoalGizmos:
    """
    The handles of all goals, which follow the goals unless they are dragged.

    Until a goal was dragged, a label in the scene asks to drag the selected one, or to make one.
    """

    def __init__(
        self, scene: Any, on_drag: OnDrag, on_select: Callable[[str], None] = lambda _: None
    ) -> None:
        self._scene = scene
        self._on_drag = on_drag
        self._on_select = on_select
        self._handles: dict[str, GoalHandle] = {}
        self._by_link: dict[str, GoalHandle] = {}
        self._invitation = scene.add_label('/invitation', '', visible=False, anchor='top-center')
        self._was_dragged = False

    def clear(self) -> None:
        """Remove all handles."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        self._by_link.clear()
        self._invitation.visible = False

    def draw(
        self,
        robot: Robot,
        size: float,
        style: HandleStyle,
        shown: str,
        selected: str = '',
        below: Sequence[float] | Array = (0.0, 0.0, 0.0),
        *,
        invites: bool = True,
    ) -> None:
        """
        Show a ball for every enabled goal, and the gizmos of the selected one or of all.

        Gizmos have arrows of `size` [m]; `shown` is 'selected', 'all' or 'none'. Unless it
        `invites`, no label asks for a drag. Without goals the label is `below` the robot [m].
        """
        for name in [name for name in self._handles if name not in robot.goals]:
            self._handles.pop(name).remove()
        for name, goal in robot.goals.items():
            if name not in self._handles:
                plane = plane_of(robot, goal)
                self._handles[name] = GoalHandle(
                    self._scene, name, size, plane, self._dragged, self._on_select
                )
            self._handles[name].draw(
                goal, style, visible=shown != 'none', whole=shown == 'all' or name == selected
            )
        self._by_link = {
            goal.child.name: self._handles[name]
            for name, goal in reversed([*robot.goals.items()])
            if goal.child is not None and goal.enabled and style.move
        }
        invited = robot.goals.get(selected)
        there = not robot.goals if invited is None else invited.enabled
        asks = there and invites and shown != 'none' and not self._was_dragged
        self._invitation.visible = asks
        if asks and invited is not None:
            self._invitation.text = f'drag the {plain(selected.replace("_", " "))}'
            self._invitation.position = invited.matrix_world[:3, 3] - (0.0, 0.0, LABEL * size)
        elif asks:
            self._invitation.text, self._invitation.position = NO_GOAL, below

    def _dragged(self, name: str, position: Array, quat_xyzw: Array, phase: str) -> None:
        self._was_dragged = True
        self._on_drag(name, position, quat_xyzw, phase)

    @property
    def links(self) -> set[str]:
        """Return the links with a goal, which can be dragged directly."""
        return set(self._by_link)

    def pull(self, link: str, event: Any) -> None:
        """Move the first goal of a link with the pointer."""
        if link in self._by_link:
            self._by_link[link].pull(event)

    def release(self, client: int) -> None:
        """Release the handles that a disconnected browser was dragging."""
        for handle in list(self._handles.values()):
            handle.release(client)
