"""A gizmo for every goal, to be dragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ik_node.model.rotation import matrix_to_quat
from ik_node.robot import Robot
from ik_node.viewer.scene_nodes import wxyz_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Takes the goal's name, its position [m] and quaternion (xyzw) in the root frame, and the phase
# of the drag: start, update or end.
OnDrag = Callable[[str, Array, Array, str], None]


class GoalGizmos:
    """
    Keep the page's gizmos where the goals are, but for those that are held.

    Parameters
    ----------
    scene : viser.SceneApi
    on_drag : callable

    """

    def __init__(self, scene: Any, on_drag: OnDrag) -> None:
        self._scene = scene
        self._on_drag = on_drag
        self._gizmos: dict[str, Any] = {}
        self._held: set[str] = set()

    def clear(self) -> None:
        """Take all of them away."""
        for gizmo in self._gizmos.values():
            gizmo.remove()
        self._gizmos.clear()
        self._held.clear()

    def draw(self, robot: Robot, size: float, *, visible: bool) -> None:
        """Show a gizmo of a size [m] for every goal that takes part."""
        for name in [name for name in self._gizmos if name not in robot.goals]:
            self._gizmos.pop(name).remove()
            self._held.discard(name)
        for name, goal in robot.goals.items():
            gizmo = self._gizmos.get(name)
            if gizmo is None:
                gizmo = self._gizmos[name] = self._new(name, size)
            gizmo.visible = visible and goal.enabled
            gizmo.disable_rotations = not (goal.kind == 'frame' and goal.dof_flags[3:].any())
            if name not in self._held:
                pose = goal.matrix_world
                x, y, z, w = matrix_to_quat(pose).tolist()
                gizmo.position = tuple(pose[:3, 3].tolist())
                gizmo.wxyz = wxyz_of((x, y, z, w))

    def _new(self, name: str, size: float) -> Any:
        gizmo = self._scene.add_transform_controls(
            f'/gizmos/{quote(name, safe="")}', scale=size, line_width=3.0, depth_test=False
        )

        async def moved(event: Any) -> None:
            if event.phase == 'start':
                self._held.add(name)
            elif event.phase == 'end':
                self._held.discard(name)
            w, x, y, z = event.target.wxyz
            position = np.array(event.target.position, dtype=np.float64)
            self._on_drag(name, position, np.array((x, y, z, w)), event.phase)

        gizmo.on_update(moved)
        return gizmo
