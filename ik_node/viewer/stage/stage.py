"""The 3D view of the page: robot, marks, gizmos, floor, lights and cameras."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log10
from typing import Any

from ik_node.robot import Robot
from ik_node.scene import AXIS_COLOURS, IKRootsHelper, mesh_of
from ik_node.scene.shapes import Sector, Shape
from ik_node.viewer.panels.handle_panel import HandlePanel
from ik_node.viewer.panels.view_panel import ViewPanel
from ik_node.viewer.sessions.session import Session
from ik_node.viewer.stage.goal_gizmos import GoalGizmos
from ik_node.viewer.stage.goal_handle import OnDrag
from ik_node.viewer.stage.link_bodies import LinkBodies
from ik_node.viewer.stage.scene_nodes import SceneNodes
from ik_node.viewer.stage.view_ray import OnClick, ViewRay
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of cells per side, and width of a line as a share of a cell.
CELLS = 14
WIDTH = 0.008
COLOUR = (170, 173, 180)


def add_floor(scene: Any, size: float, height: float) -> Any:
    """
    Add a floor grid with a round cell size.

    Parameters
    ----------
    scene : viser.SceneApi
        The scene.
    size : float
        Size of the robot [m].
    height : float
        Height of the floor [m].

    """
    cell = 10.0 ** ceil(log10(size) - 1.0)
    vertices, faces = lines(cell)
    return scene.add_mesh_simple(
        '/floor',
        vertices.astype(np.float32),
        faces.astype(np.uint32),
        color=COLOUR,
        side='double',
        cast_shadow=False,
        receive_shadow=False,
        position=(0.0, 0.0, height),
    )


def lines(cell: float) -> tuple[Array, NDArray[np.int64]]:
    """Return corners and triangles of flat bars along x and y at distances of `cell` [m]."""
    half, wide = 0.5 * CELLS * cell, 0.5 * WIDTH * cell
    places = np.linspace(-half, half, CELLS + 1).tolist()
    bars = [(-half, at - wide, half, at + wide) for at in places]
    bars += [(at - wide, -half, at + wide, half) for at in places]
    corners = [((a, b, 0.0), (c, b, 0.0), (c, d, 0.0), (a, d, 0.0)) for a, b, c, d in bars]
    first = 4 * np.arange(len(bars))[:, None, None]
    faces = first + np.array(((0, 1, 2), (0, 2, 3)))
    return np.array(corners).reshape(-1, 3), faces.reshape(-1, 3)


class Lights:
    """
    The lights of the scene: simple lights for software renderers, or lights with shadows.

    Parameters
    ----------
    scene : viser.SceneApi

    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._fine: bool | None = None
        self._plain = [
            scene.add_light_hemisphere('/lights/sky', ground_color=(170, 168, 175), intensity=2.4),
            scene.add_light_directional('/lights/left', intensity=2.2, position=(2.0, -5.0, 4.0)),
            scene.add_light_directional('/lights/back', intensity=0.8, position=(-4.0, 5.0, 1.0)),
        ]

    def set_fine(self, fine: bool) -> None:
        """Choose lights with shadows, or simple lights."""
        if fine == self._fine:
            return
        self._fine = fine
        for light in self._plain:
            light.visible = not fine
        self._scene.configure_default_lights(enabled=fine, cast_shadow=fine)
        self._scene.configure_environment_map('warehouse' if fine else None)


# Length of a gizmo's arrows as shares of a joint axis and of the robot; the longer one is used.
GIZMO = (2.2, 0.22)
# Number of sides of round marks, which is low because a browser draws hundreds of them.
SIDES = 16
# Initial camera position relative to the robot's middle, in multiples of the robot's size.
LOOK_FROM = np.array((0.66, -0.84, 0.48))


class Stage:
    """
    The 3D view.

    Parameters
    ----------
    server : viser.ViserServer
    view : ViewPanel
        Settings of the view.
    handles : HandlePanel
        Settings for dragging goals.
    on_click : callable
        Called with the name of a clicked link and the `ViewRay` of the click.
    on_drag : callable

    Attributes
    ----------
    gizmo_size : float
        Length of a gizmo's arrows [m].

    """

    def __init__(
        self,
        server: Any,
        view: ViewPanel,
        handles: HandlePanel,
        on_click: OnClick,
        on_drag: OnDrag,
    ) -> None:
        self._server = server
        self._view = view
        self._handles = handles
        self._on_click = on_click
        self._nodes = SceneNodes(server.scene, on_click)
        self._gizmos = GoalGizmos(server.scene, on_drag)
        self._lights = Lights(server.scene)
        self._helper: IKRootsHelper | None = None
        self._bodies: LinkBodies | None = None
        self._robot: Robot | None = None
        self._size = self.gizmo_size = 1.0
        self._middle, self._eye = np.zeros(3), LOOK_FROM
        self._floor: Any = None

    def read(self, session: Session) -> None:
        """Read the robot and its goals from a session."""
        robot = session.robot
        if robot is None:
            self.clear()
            return
        other = robot is not self._robot
        if other:
            self.clear()
            self._robot = robot
            self._bodies = LinkBodies(self._server.scene, robot, self._on_click, self._gizmos.pull)
            self._view.show_missing(self._bodies.missing)
        self._helper = IKRootsHelper(session.source, resolution=SIDES)
        self._size = self._helper.joint_scale
        if other:
            self._show(self._helper.shapes(session.q))

    def draw(self, session: Session) -> None:
        """Draw the robot at its present configuration."""
        helper, robot, view = self._helper, self._robot, self._view
        if helper is None or robot is None or self._bodies is None:
            return
        self._lights.set_fine(view.fine_light)
        helper.set_layers(view.layers)
        helper.set_joint_scale(self._size * view.size)
        # Send bodies and gizmos before the marks, which take longer, so that drags feel faster.
        with self._server.atomic():
            self._bodies.draw(session.q, visible=view.bodies)
            self._gizmos.draw(robot, self.gizmo_size, self._handles.style, visible=view.gizmos)
            self._bodies.let_pull(self._gizmos.links if self._handles.links else set())
        self._server.flush()
        shapes: Iterable[Shape] = helper.shapes(session.q)
        with self._server.atomic():
            self._nodes.draw(shape for shape in shapes if self._is_drawn(shape))
        self._server.flush()

    def hit(self, session: Session, link: str, ray: ViewRay) -> Array | None:
        """Return the point where a ray hits a link, root frame [m]; None if it misses."""
        if self._helper is None or self._bodies is None:
            return None
        found = self._bodies.hit(session.q, link, ray) if self._view.bodies else None
        if found is None:
            shapes = self._helper.shapes(session.q)
            rods = [mesh_of(s)[0] for s in shapes if s.layer == 'links' and s.of == link]
            found = ray.hit(np.concatenate([np.zeros((0, 3, 3)), *rods]))
        return found

    def clear(self) -> None:
        """Remove the robot from the view."""
        self._nodes.clear()
        self._gizmos.clear()
        if self._bodies is not None:
            self._bodies.remove()
        self._helper = self._bodies = self._robot = None

    def settle(self, now: float) -> bool:
        """Return True if handles came to rest before a time [s] and must be redrawn."""
        return self._gizmos.settle(now)

    def release(self, client: int) -> None:
        """Release the handles that a disconnected browser was dragging."""
        self._gizmos.release(client)

    def _is_drawn(self, shape: Shape) -> bool:
        """Return False for a link with a body, and for an axis that a handle shows."""
        if shape.layer == 'goals' and shape.rgba in AXIS_COLOURS and self._view.gizmos:
            style = self._handles.style
            return not (style.turn if isinstance(shape, Sector) else style.move)
        if shape.layer != 'links' or self._bodies is None:
            return True
        if self._view.rods == 'bare' and self._bodies.drawn:
            return shape.of in self._bodies.bare
        return self._view.rods != 'none'

    def look(self, client: int) -> None:
        """Reset the camera of a browser."""
        for number, handle in self._server.get_clients().items():
            if number == client:
                handle.camera.position, handle.camera.look_at = self._eye, self._middle

    def _show(self, shapes: Iterable[Shape]) -> None:
        """Add the floor, and reset the cameras of all browsers."""
        places = np.array([shape.position for shape in shapes] or [(0.0, 0.0, 0.0)])
        low, high = places.min(axis=0), places.max(axis=0)
        size = max(float(np.linalg.norm(high - low)), 2.0 * self._size)
        self._middle = 0.5 * (low + high)
        self._eye = self._middle + size * LOOK_FROM
        self.gizmo_size = max(GIZMO[0] * self._size, GIZMO[1] * size)
        self._floor = add_floor(self._server.scene, size, float(low[2]) - 0.08 * size)
        camera = self._server.initial_camera
        camera.near, camera.far = 0.01 * size, 100.0 * size
        camera.position, camera.look_at = self._eye, self._middle
        for number, client in self._server.get_clients().items():
            client.camera.near, client.camera.far = 0.01 * size, 100.0 * size
            self.look(number)
