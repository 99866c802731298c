"""The 3D view of the page: robot, marks, gizmos, floor, lights and cameras."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
import time
from typing import Any

from ik_node.analysis.link_motion import motor_values, plane_of_point
from ik_node.model.tree import build_tree, free_values
from ik_node.robot import Robot
from ik_node.scene import AXIS_COLOURS, IKRootsHelper, mesh_of
from ik_node.scene.look import COLOURS, FREE, Look, PASSIVE
from ik_node.scene.shapes import Sector, Shape
from ik_node.viewer.panels.goal_panel import GoalPanel
from ik_node.viewer.panels.load_panel import LoadArrow, LoadPanel
from ik_node.viewer.panels.view_panel import ReachPanel, ViewPanel
from ik_node.viewer.sessions.session import Ground as SessionGround
from ik_node.viewer.sessions.session import Session
from ik_node.viewer.stage.cameras import Cameras, plane_view, view_of
from ik_node.viewer.stage.goal_handle import GoalGizmos, OnDrag, plane_of
from ik_node.viewer.stage.link_bodies import LinkBodies
from ik_node.viewer.stage.load_handle import load_shapes, LoadHandle, OnLoad
from ik_node.viewer.stage.reach_marks import ReachMarks
from ik_node.viewer.stage.scene_nodes import SceneNodes
from ik_node.viewer.stage.surroundings import add_lights, add_terrain, place_ground
from ik_node.viewer.stage.view_ray import OnClick, ViewRay
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Length of a gizmo's arrows as a share of the robot.
GIZMO = 0.2
# The link of a gallery robot that the page draws as a terrain.
GROUND = 'ground_link'
# Half the width of a shown terrain, as a multiple of the size of the robot.
TERRAIN = 3.5
# Configurations that differ by less are drawn once [rad or m].
SAME = 1e-3
# Number of sides of round marks, which is low because a browser draws hundreds of them.
SIDES = 16
# How long the page's thread lets the server's thread send what moves first [s].
YIELD = 5e-4


class Stage:
    """
    The 3D view, with the settings of its panels.

    `gizmo_size` is the length of a gizmo's arrows [m], `selected` the name of the goal with the
    handle; '' = none.
    """

    def __init__(
        self,
        server: Any,
        view: ViewPanel,
        goals: GoalPanel,
        load: LoadPanel,
        reach: ReachPanel,
        on_click: OnClick,
        on_drag: OnDrag,
        on_select: Callable[[str], None],
        on_load: OnLoad,
        on_ghost: Callable[[int], None],
    ) -> None:
        self._server = server
        self._view = view
        self._goals = goals
        self._load = load
        self._reach = reach
        self._on_click = on_click
        self._nodes = SceneNodes(server.scene, on_click)
        # Rods of ghosts, the numbers of the solutions that are drawn, and what a click calls.
        self._ghosts = SceneNodes(server.scene, lambda number, _: self._take(int(number)))
        self._shown: list[int] = []
        self._on_ghost = on_ghost
        self._gizmos = GoalGizmos(server.scene, on_drag, on_select)
        self._load_handle = LoadHandle(server.scene, on_load)
        self._reach_marks = ReachMarks(server.scene)
        self._lamp: Any = None
        self._own_bodies = self._meshes = False
        add_lights(server.scene)
        self.cameras = Cameras(server)
        self._helper: IKRootsHelper | None = None
        self._bodies: LinkBodies | None = None
        self._robot: Robot | None = None
        self._motors: frozenset[str] = frozenset()
        self._virtual: set[str] = set()
        self._plane: Array | None = None
        # The loaded link, and the plane in which its origin moves.
        self._loaded: tuple[str, Array | None] = ('', None)
        # The point below the middle of the robot, on the ground.
        self._below: Array = np.zeros(3)
        # The ground that is shown, its mesh, and x, y and half the width of its middle [m].
        self._shown_ground: SessionGround | None = None
        self._terrain: Any = None
        self._around = (0.0, 0.0, 1.0)
        self._size = self.gizmo_size = 1.0
        self.selected = ''

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
            self._bodies = LinkBodies(
                self._server.scene,
                robot,
                self._on_click,
                self._gizmos.pull,
                hidden={GROUND} if session.ground is not None else set(),
            )
            self._view.show_missing(self._bodies.missing)
            self._motors = motor_values(robot)
            tree = build_tree(robot.roots, robot.joint_order)
            free = free_values(tree, self._bodies.drawn)
            names = {tree.names[index] for index in free}
            names |= {tree.owner[index][0].name for index in free}
            self._virtual = names - {*robot.actuated}
        self._helper = IKRootsHelper(session.source, resolution=SIDES)
        self._size = self._helper.joint_scale
        if self.selected not in robot.goals:
            self.selected = next(iter(robot.goals), '')
        if other and self._bodies is not None:
            self._show(self._helper.shapes(session.q), session.q, robot, self._bodies)

    def draw(self, session: Session) -> None:
        """Draw the robot at its present configuration."""
        helper, robot, view = self._helper, self._robot, self._view
        if helper is None or robot is None or self._bodies is None:
            return
        self._lamp.cast_shadow = view.shadows
        self._show_terrain(session)
        self._reach_marks.draw(self._reach.view)
        self._show_ghosts(session, helper, self._bodies)
        layers = view.layers
        self._own_bodies = 'collisions' in layers
        # A collision body often is inside the mesh of its link, which would hide it.
        hidden = self._own_bodies and any(each.link for each in robot.collisions.bodies)
        self._meshes = view.bodies and (view.rods == 'all' or not hidden)
        helper.set_layers([*layers, *['collisions'] * helper.avoids])
        helper.set_joint_scale(self._size * view.size)
        # Send bodies and gizmos before the marks, which take longer, so that drags feel faster.
        with self._server.atomic():
            self._bodies.draw(session.q, visible=self._meshes)
            self._gizmos.draw(
                robot,
                self.gizmo_size,
                self._goals.style,
                view.gizmos,
                self.selected,
                self._below,
                invites=not session.forward,
            )
            arrow = self._load.arrow(robot)
            self._load_handle.draw(arrow, self.gizmo_size, self._load_plane(robot, arrow))
            self._bodies.let_pull(self._gizmos.links)
        self._server.flush()
        # Else the server's thread, which sends this, waits for the interpreter's lock until the
        # marks are ready.
        time.sleep(YIELD)
        shapes: Iterable[Shape] = helper.shapes(session.q)
        with self._server.atomic():
            look = Look(scale=self.gizmo_size * self._view.size, segments=SIDES)
            load = () if arrow is None else load_shapes(arrow, look)
            self._nodes.draw(chain(self._drawn(shapes), load))
        self._server.flush()

    def hit(self, session: Session, link: str, ray: ViewRay) -> Array | None:
        """Return the point where a ray hits a link, root frame [m]; None if it misses."""
        if self._helper is None or self._bodies is None:
            return None
        result = self._bodies.hit(session.q, link, ray) if self._meshes else None
        if result is None:
            shapes = self._helper.shapes(session.q)
            rods = [mesh_of(s)[0] for s in shapes if s.layer == 'links' and s.of == link]
            result = ray.hit(np.concatenate([np.zeros((0, 3, 3)), *rods]))
        return result

    def clear(self) -> None:
        """Remove the robot from the view."""
        self._nodes.clear()
        self._ghosts.clear()
        self._shown = []
        self._gizmos.clear()
        self._load_handle.clear()
        self._reach_marks.draw(None)
        if self._bodies is not None:
            self._bodies.remove()
        self._helper = self._bodies = self._robot = None
        if self._terrain is not None:
            self._terrain.remove()
        self._terrain = self._shown_ground = None
        self._loaded = ('', None)
        self.selected = ''

    def is_fixed(self, link: str) -> bool:
        """Return True if no joint moves a link."""
        return self._bodies is not None and self._bodies.is_fixed(link)

    def release(self, client: int) -> None:
        """Release the handles and the camera of a disconnected browser."""
        self._gizmos.release(client)
        self.cameras.forget(client)

    def flatten(self, client: int, *, flat: bool) -> None:
        """Look in 2-D onto the plane in which the robot moves, or in 3-D, with one browser."""
        plane = np.eye(3)[:, :2] if self._plane is None else self._plane
        self.cameras.look(client, plane_view(plane) if flat else None)

    def _load_plane(self, robot: Robot, arrow: LoadArrow | None) -> Array | None:
        """Return the plane in which the origin of the loaded link moves; None = in space."""
        if arrow is None:
            return None
        if self._loaded[0] != arrow.link:
            self._loaded = arrow.link, plane_of_point(robot, arrow.link, np.zeros(3))
        return self._loaded[1]

    def _show_ghosts(self, session: Session, helper: IKRootsHelper, bodies: LinkBodies) -> None:
        """Show all solutions except the present one."""
        found = np.zeros((0, 0)) if session.solutions is None else session.solutions.q
        shown = [k for k, q in enumerate(found) if np.abs(q - session.q).max() > SAME]
        if shown != self._shown:
            self._shown = shown
            bodies.show_ghosts(found[shown], self._take)
            rods = helper.ghosts(found[shown], bodies.bare)
            self._ghosts.draw(rods)

    def _take(self, number: int) -> None:
        self._on_ghost(self._shown[number])

    def _drawn(self, shapes: Iterable[Shape]) -> Iterator[Shape]:
        """Yield the shapes to draw; axes of passive joints have a colour of their own."""
        for shape in shapes:
            if not self._is_drawn(shape):
                continue
            if shape.layer == 'axes' and shape.rgba == COLOURS['axes']:
                yield shape if shape.of in self._motors else replace(shape, rgba=PASSIVE)
            else:
                yield shape

    def _is_drawn(self, shape: Shape) -> bool:
        """Return False for a link with a body, a free body's joints, and what a handle shows."""
        if shape.layer == 'goals' and self._view.gizmos != 'none':
            if shape.rgba in AXIS_COLOURS:
                style = self._goals.style
                return shape.of == self.selected and not (
                    style.turn if isinstance(shape, Sector) else style.move
                )
            # Balls are part of the handles.
            if shape.rgba in (FREE, COLOURS['goals']):
                return shape.of == self.selected and shape.rgba == FREE
        if shape.layer == 'collisions' and self._robot is not None:
            return self._own_bodies or shape.of not in self._robot.links
        if shape.layer in ('axes', 'limits') and shape.of in self._virtual:
            return False
        if shape.layer != 'links' or self._bodies is None:
            return True
        if self._view.rods == 'bare' and self._bodies.drawn:
            return shape.of in self._bodies.bare
        return self._view.rods != 'none'

    def _show_terrain(self, session: Session) -> None:
        """Show the session's ground instead of the described one, if it has changed."""
        if session.ground == self._shown_ground or self._bodies is None:
            return
        self._shown_ground = session.ground
        if self._terrain is not None:
            self._terrain.remove()
            self._terrain = None
        if session.ground is not None:
            self._terrain = add_terrain(self._server.scene, session.ground, *self._around)

    def _show(self, shapes: Iterable[Shape], q: Array, robot: Robot, bodies: LinkBodies) -> None:
        """Place the ground, and fit the cameras of all browsers to the robot and its handle."""
        drawn = [(shape, mesh_of(shape)[0].reshape(-1, 3)) for shape in shapes]
        rods = [mesh for each, mesh in drawn if each.layer == 'links' and each.of in bodies.bare]
        robot_points, height = bodies.extent(q, rods if not bodies.drawn else [])
        size = max(float(np.linalg.norm(np.ptp(robot_points, axis=0))), 2.0 * self._size)
        self.gizmo_size = GIZMO * size
        goal = robot.goals.get(self.selected)
        self._plane = None if goal is None else plane_of(robot, goal)
        handle = np.zeros((0, 3))
        if goal is not None:
            handle = goal.matrix_world[:3, 3] + self.gizmo_size * np.vstack(
                (np.eye(3), -0.2 * np.eye(3))
            )
        middle = 0.5 * (robot_points.min(axis=0) + robot_points.max(axis=0))
        x, y = float(middle[0]), float(middle[1])
        self._lamp = place_ground(self._server.scene, size, height, (x, y))
        around = [
            np.clip(mesh, middle - size, middle + size)
            for each, mesh in drawn
            if each.layer == 'collisions' and each.of in robot.collisions.obstacles
        ]
        points = np.concatenate([robot_points, handle, self._reach.corners, *around])
        self.cameras.show(points, view_of(robot_points))
        self._below = np.array((*middle[:2], height))
        self._around = (x, y, TERRAIN * size)
