"""Links drawn with the shapes of their description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ik_node.description.mesh_path import mesh_path, Rgba, Visual
from ik_node.description.visuals import visuals_of
from ik_node.model.rotation import pose_matrix
from ik_node.model.tree import build_tree
from ik_node.robot import Robot
from ik_node.scene.look import OTHER
from ik_node.scene.skeleton import Skeleton
from ik_node.viewer.stage.scene_nodes import add_batch, wxyz_of
from ik_node.viewer.stage.view_ray import OnClick, ViewRay
import numpy as np
from numpy.typing import NDArray
import trimesh

Array = NDArray[np.float64]

# Size limit of a mesh file, and of all mesh files of a robot [bytes].
MAX_BYTES, MAX_ROBOT_BYTES = 64 * 2**20, 512 * 2**20
PLAIN: Rgba = (0.72, 0.74, 0.78, 1.0)
# Fixed bodies larger than the robot by this factor are ground.
GROUND = 1.5


def read_mesh(path: Path, scale: Sequence[float]) -> Any:
    """Return a mesh file as a scaled `trimesh.Trimesh` [m]; None if it cannot be drawn."""
    try:
        mesh = trimesh.load_mesh(path, process=False)
        if isinstance(mesh, trimesh.Scene):
            mesh = mesh.to_geometry()
        mesh.apply_scale(scale)
        return mesh if len(mesh.faces) else None
    # The readers of a dozen formats raise many kinds of exceptions.
    except Exception:  # noqa: BLE001
        return None


def solid_of(visual: Visual, mesh: Any) -> Any:
    """Return a visual as a `trimesh.Trimesh` in its own frame [m]; None if it cannot be drawn."""
    make, size = trimesh.creation, visual.size
    if visual.kind == 'box':
        return make.box(size)
    if visual.kind == 'cylinder':
        return make.cylinder(radius=size[0], height=size[1])
    if visual.kind == 'capsule':
        return make.capsule(radius=size[0], height=size[1])
    if visual.kind in ('sphere', 'ellipsoid'):
        ball = make.icosphere(subdivisions=3)
        return ball.apply_scale(size[0] if visual.kind == 'sphere' else size)
    if visual.kind == 'plane':
        return make.box((*size, 0.0))
    return mesh


class LinkBodies:
    """
    The link bodies of a robot on the page, except of `hidden` links.

    A click calls `on_click` with the link's name and the `ViewRay`, a drag `on_pull` with the name
    and the event. Links that are `drawn` have a body. Links that are `bare` are drawn as rods,
    because their meshes were not found, or because neither they nor links fixed to them have a
    body. `missing` has the visuals that cannot be drawn.
    """

    def __init__(
        self,
        scene: Any,
        robot: Robot,
        on_click: OnClick,
        on_pull: Callable[[str, Any], None],
        hidden: Collection[str] = (),
    ) -> None:
        self._scene = scene
        self._on_click = on_click
        self._on_pull = on_pull
        self._skeleton = Skeleton(build_tree(robot.roots, robot.joint_order))
        # The node of each link, and the number of its pose; the poses that are shown.
        self._frames: dict[str, tuple[Any, int]] = {}
        self._shown: dict[int, Any] = {}
        self._handles: dict[str, list[Any]] = {}
        self._pulled: set[str] = set()
        self._triangles: dict[str, list[Array]] = {}
        self._links = robot.links
        self._visible = True
        self._ghosts: list[Any] = []
        self._bytes = MAX_ROBOT_BYTES
        self.missing: list[str] = []
        self.drawn: set[str] = set()
        self.bare: set[str] = set()
        for number, visual in enumerate(visuals_of(robot.description)):
            link = robot.links.get(visual.link)
            if link is None or visual.link in hidden:
                continue
            index = f'/bodies/{quote(visual.link, safe="")}'
            if visual.link not in self._frames:
                place = self._skeleton.attach(*self._skeleton.carrier(link))
                self._frames[visual.link] = (scene.add_frame(index, show_axes=False), place)
            if self._add(f'{index}/{number}', visual):
                self.drawn.add(visual.link)
            else:
                self.missing.append(visual.file)
                self.bare.add(visual.link)
        solid = {self._column(link) for link in self.drawn}
        self.bare |= {link for link in robot.links if self._column(link) not in solid}
        self.bare -= self.drawn | set(hidden)

    def is_fixed(self, link: str) -> bool:
        """Return True if no joint moves a link."""
        return self._column(link) < 0

    def draw(self, q: Array, *, visible: bool) -> None:
        """Move all bodies to the poses of their links."""
        if visible != self._visible:
            self._visible = visible
            for frame, _ in self._frames.values():
                frame.visible = visible
        if not visible or not self._frames:
            return
        poses = self._skeleton.at(q).poses
        for frame, place in self._frames.values():
            if poses[place] != self._shown.get(place):
                position, quat = self._shown[place] = poses[place]
                frame.position, frame.wxyz = position, wxyz_of(quat)

    def show_ghosts(self, configurations: Array, on_ghost: Callable[[int], None]) -> None:
        """Show the moving bodies at other configurations (n, nq); a click gives the number."""
        for ghost in self._ghosts:
            ghost.remove()
        self._ghosts = []

        async def clicked(event: Any) -> None:
            on_ghost(event.instance_index)

        poses = [self._skeleton.at(q).poses for q in configurations]
        for link in self._triangles if poses else ():
            if self.is_fixed(link):
                continue
            corners = np.concatenate(self._triangles[link]).reshape(-1, 3)
            # Smaller than the body, so that a ghost in the same place is hidden by it.
            corners += 0.01 * (corners.mean(axis=0) - corners)
            place = self._frames[link][1]
            wxyzs = [wxyz_of(each[place][1]) for each in poses]
            node = add_batch(
                self._scene,
                f'/ghosts/{quote(link, safe="")}',
                (corners, np.arange(len(corners)).reshape(-1, 3)),
                (wxyzs, [each[place][0] for each in poses]),
                [OTHER[:3]] * len(poses),
                OTHER[3],
                side='front',
            )
            node.on_click(clicked)
            self._ghosts.append(node)

    def hit(self, q: Array, link: str, ray: ViewRay) -> Array | None:
        """Return the point where a ray hits a link's body, root frame [m]; None if it misses."""
        if link not in self._triangles:
            return None
        return ray.hit(self._placed(self._skeleton.at(q).frames, link))

    def extent(self, q: Array, rods: Sequence[Array] = ()) -> tuple[Array, float]:
        """
        Return the points (n, 3) of the robot without its ground, and the height of the ground [m].

        Bodies that are fixed to the root and much larger than the rest of the robot are ground.
        `rods` has points of links that are drawn as rods, root frame [m].
        """
        frames = self._skeleton.at(q).frames
        own, fixed, plates = [*rods], list[Array](), list[Array]()
        for link in self._triangles:
            points = self._placed(frames, link).reshape(-1, 3)
            (fixed if self.is_fixed(link) else own).append(points)
        size = float(np.linalg.norm(np.ptp(np.concatenate(own), axis=0))) if own else np.inf
        for points in fixed:
            ground = float(np.linalg.norm(np.ptp(points, axis=0))) > GROUND * size
            (plates if ground else own).append(points)
        result = np.concatenate(own) if own else np.zeros((1, 3))
        low = float(result[:, 2].min())
        return result, min([low, *(float(points[:, 2].min()) for points in plates)])

    def let_pull(self, links: set[str]) -> None:
        """Set which links can be dragged; dragging other links rotates the view."""
        for link in (links ^ self._pulled) & self._handles.keys():
            for handle in self._handles[link]:
                if link in links:
                    handle.on_drag(self._puller(link))
                else:
                    handle.remove_drag_callback()
        self._pulled = set(links)

    def remove(self) -> None:
        """Remove all bodies from the page."""
        for frame, _ in self._frames.values():
            frame.remove()
        self._frames.clear()

    def _column(self, link: str) -> int:
        """Return the column that carries a link; -1 = the root frame."""
        return self._skeleton.carrier(self._links[link])[0]

    def _placed(self, frames: Array, link: str) -> Array:
        """Return the triangles (n, 3, 3) of a link in the root frame [m]."""
        pose = frames[self._frames[link][1]]
        return np.asarray(np.concatenate(self._triangles[link]) @ pose[:3, :3].T + pose[:3, 3])

    def _mesh(self, visual: Visual) -> Any:
        path = mesh_path(visual.file, visual.source) if visual.kind == 'mesh' else None
        if path is None or path.stat().st_size > min(self._bytes, MAX_BYTES):
            return None
        self._bytes -= path.stat().st_size
        return read_mesh(path, visual.size)

    def _add(self, name: str, visual: Visual) -> bool:
        solid = solid_of(visual, self._mesh(visual))
        if solid is None:
            return False
        # Bodies do not shade themselves: the shadow maps are too coarse for small robots.
        fixed = self.is_fixed(visual.link)
        x, y, z, w = visual.quat_xyzw
        place = {
            'position': visual.position,
            'wxyz': (w, x, y, z),
            'cast_shadow': not fixed,
            'receive_shadow': fixed,
        }
        r, g, b, opacity = visual.rgba or PLAIN
        look = {
            'color': (round(255 * r), round(255 * g), round(255 * b)),
            'opacity': None if opacity >= 1.0 else opacity,
        }
        if visual.kind == 'box':
            handle = self._scene.add_box(name, dimensions=visual.size, **look, **place)
        elif visual.kind == 'cylinder':
            handle = self._scene.add_cylinder(name, *visual.size, **look, **place)
        elif visual.kind == 'mesh' and visual.rgba is None:
            handle = self._scene.add_mesh_trimesh(name, solid, **place)
        else:
            handle = self._scene.add_mesh_simple(
                name, solid.vertices, solid.faces, **look, **place
            )

        async def clicked(event: Any) -> None:
            self._on_click(visual.link, ViewRay.of(event))

        handle.on_click(clicked)
        self._handles.setdefault(visual.link, []).append(handle)
        pose = pose_matrix(visual.position, visual.quat_xyzw)
        corners = np.asarray(solid.triangles) @ pose[:3, :3].T + pose[:3, 3]
        self._triangles.setdefault(visual.link, []).append(corners)
        return True

    def _puller(self, link: str) -> Callable[[Any], Coroutine[Any, Any, None]]:
        async def pulled(event: Any) -> None:
            self._on_pull(link, event)

        return pulled
