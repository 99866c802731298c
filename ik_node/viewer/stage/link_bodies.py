"""Links drawn with the shapes of their description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any
from urllib.parse import quote

from ik_node.description.mesh_path import mesh_path, Rgba, Visual
from ik_node.description.visuals import visuals_of
from ik_node.model.rotation import quat_to_matrix
from ik_node.model.tree import build_tree
from ik_node.robot import Robot
from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import Capsule, Cylinder, Shape, Sphere
from ik_node.scene.skeleton import Skeleton
from ik_node.viewer.stage.mesh_reader import MeshReader, Triangles
from ik_node.viewer.stage.scene_nodes import wxyz_of
from ik_node.viewer.stage.shape_meshes import meshes_of
from ik_node.viewer.stage.view_ray import OnClick, ViewRay
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of sides of round shapes.
SIDES = 24
_HERE: dict[str, Any] = {
    'name': '',
    'layer': 'links',
    'of': '',
    'position': (0.0, 0.0, 0.0),
    'quat_xyzw': (0.0, 0.0, 0.0, 1.0),
    'rgba': (1.0, 1.0, 1.0, 1.0),
    'draw_through': 0.0,
}
# A cube from -1 to 1, with two triangles per side.
_CUBE = np.array(
    [
        [sign * np.roll((1.0, y, z), axis) for y, z in corners]
        for axis in range(3)
        for sign in (-1.0, 1.0)
        for corners in (((-1, -1), (1, -1), (1, 1)), ((-1, -1), (1, 1), (-1, 1)))
    ]
)


def body_triangles(visual: Visual, mesh: Triangles | None) -> NDArray[np.float64]:
    """
    Return the triangles (n, 3, 3) of a visual in the frame of its link [m].

    Parameters
    ----------
    visual : Visual
        A visual of any kind that is drawn.
    mesh : Triangles or None
        The result of `body_mesh`; None for a box, cylinder or sphere.

    """
    if mesh is not None:
        corners = mesh.vertices.astype(np.float64)[mesh.faces]
    elif visual.kind == 'box':
        corners = 0.5 * np.array(visual.size) * _CUBE
    elif visual.kind == 'sphere':
        corners = mesh_of(_ball(visual.size[0]))[0]
    else:
        radius, length = visual.size
        corners = mesh_of(Cylinder(**_HERE, radius=radius, length=length, segments=SIDES))[0]
    placed: NDArray[np.float64] = corners @ quat_to_matrix(visual.quat_xyzw).T + visual.position
    return placed


def body_mesh(visual: Visual, source: str, reader: MeshReader) -> Triangles | None:
    """
    Return a visual as triangles [m].

    Parameters
    ----------
    visual : Visual
        A visual that is not a box, cylinder or sphere.
    source : str
        File of the description.
    reader : MeshReader
        Reader of mesh files.

    Returns
    -------
    Triangles or None
        None = it cannot be drawn.

    """
    if visual.kind == 'capsule':
        radius, length = visual.size
        return _round(Capsule(**_HERE, radius=radius, length=length, segments=SIDES))
    if visual.kind == 'ellipsoid':
        ball = _round(_ball(1.0))
        return Triangles(ball.vertices * np.array(visual.size, dtype=np.float32), ball.faces)
    if visual.kind == 'plane':
        x, y = (0.5 * edge for edge in visual.size)
        corners = np.array(((-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)), dtype=np.float32)
        return Triangles(corners, np.array(((0, 1, 2), (0, 2, 3)), dtype=np.uint32))
    path = mesh_path(visual.file, source) if visual.kind == 'mesh' else None
    return None if path is None else reader.read(path, visual.size, coloured=visual.rgba is None)


def _ball(radius: float) -> Sphere:
    return Sphere(**_HERE, radius=radius, segments=SIDES)


def _round(shape: Shape) -> Triangles:
    mesh = meshes_of(shape)[0]
    return Triangles(mesh.vertices, mesh.faces)


PLAIN: Rgba = (0.72, 0.74, 0.78, 1.0)
# Fixed bodies larger than the robot by this factor are ground.
GROUND = 1.5


class LinkBodies:
    """
    The link bodies of a robot on the page.

    Parameters
    ----------
    scene : viser.SceneApi
    robot : Robot
    on_click : callable
        Called with the name of a clicked link and the `ViewRay` of the click.
    on_pull : callable
        Called with the name of a dragged link and the event.
    hidden : collection of str
        Links that are not drawn.

    Attributes
    ----------
    drawn : set of str
        Links that have a body.
    bare : set of str
        Links that are drawn as rods, because their meshes were not found, or because neither they
        nor links fixed to them have a body.
    missing : list of str
        Meshes that were not found or could not be read, and other visuals that are not drawn.

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
        self._frames: dict[str, tuple[Any, int]] = {}
        self._handles: dict[str, list[Any]] = {}
        self._pulled: set[str] = set()
        self._solid: dict[str, list[Array]] = {}
        self._links = robot.links
        self._visible = True
        self.missing: list[str] = []
        self.drawn: set[str] = set()
        self.bare: set[str] = set()
        with MeshReader() as reader:
            for number, visual in enumerate(visuals_of(robot.description)):
                link = robot.links.get(visual.link)
                if link is None or visual.link in hidden:
                    continue
                at = f'/bodies/{quote(visual.link, safe="")}'
                if visual.link not in self._frames:
                    place = self._skeleton.attach(*self._skeleton.carrier(link))
                    self._frames[visual.link] = (scene.add_frame(at, show_axes=False), place)
                if self._add(f'{at}/{number}', visual, reader):
                    self.drawn.add(visual.link)
                else:
                    self.missing.append(visual.file)
                    self.bare.add(visual.link)
        solid = {self._column(robot, link) for link in self.drawn}
        self.bare |= {link for link in robot.links if self._column(robot, link) not in solid}
        self.bare -= self.drawn | set(hidden)

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
            position, quat = poses[place]
            frame.position, frame.wxyz = position, wxyz_of(quat)

    def hit(self, q: Array, link: str, ray: ViewRay) -> Array | None:
        """Return the point where a ray hits a link's body, root frame [m]; None if it misses."""
        if link not in self._solid:
            return None
        turn = self._skeleton.at(q).frames[self._frames[link][1]]
        solid = np.concatenate(self._solid[link])
        return ray.hit(solid @ turn[:3, :3].T + turn[:3, 3])

    def extent(self, q: Array, rods: Sequence[Array] = ()) -> tuple[Array, float]:
        """
        Return the points of the robot without its ground, and the height of the ground.

        Bodies that are fixed to the root and much larger than the rest of the robot are ground.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            The configuration.
        rods : sequence of ndarray, shape (n, 3)
            Points of links that are drawn as rods, root frame [m].

        Returns
        -------
        points : ndarray, shape (n, 3)
            Root frame [m].
        height : float
            Height of the ground [m].

        """
        frames = self._skeleton.at(q).frames
        own: list[Array] = [*rods]
        fixed: list[Array] = []
        plates: list[Array] = []
        for link, solids in self._solid.items():
            at = self._frames[link][1]
            points = np.concatenate(solids).reshape(-1, 3)
            points = points @ frames[at][:3, :3].T + frames[at][:3, 3]
            is_fixed = self._skeleton.carrier(self._links[link])[0] < 0
            (fixed if is_fixed else own).append(points)
        size = float(np.linalg.norm(np.ptp(np.concatenate(own), axis=0))) if own else np.inf
        for points in fixed:
            ground = float(np.linalg.norm(np.ptp(points, axis=0))) > GROUND * size
            (plates if ground else own).append(points)
        found = np.concatenate([*own, np.zeros((0, 3))])
        if not len(found):
            found = np.zeros((1, 3))
        low = float(found[:, 2].min())
        return found, min([low, *(float(points[:, 2].min()) for points in plates)])

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

    def _column(self, robot: Robot, link: str) -> int:
        """Return the column that carries a link."""
        return self._skeleton.carrier(robot.links[link])[0]

    def _add(self, name: str, visual: Visual, reader: MeshReader) -> bool:
        x, y, z, w = visual.quat_xyzw
        # Bodies do not shade themselves: the shadow maps are too coarse for small robots.
        fixed = self._skeleton.carrier(self._links[visual.link])[0] < 0
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
        mesh: Triangles | None = None
        if visual.kind == 'box':
            handle = self._scene.add_box(name, dimensions=visual.size, **look, **place)
        elif visual.kind == 'cylinder':
            handle = self._scene.add_cylinder(name, *visual.size, **look, **place)
        elif visual.kind == 'sphere':
            handle = self._scene.add_icosphere(name, visual.size[0], **look, **place)
        else:
            mesh = body_mesh(visual, visual.source, reader)
            if mesh is None:
                return False
            if mesh.glb:
                handle = self._scene.add_glb(name, mesh.glb, **place)
            else:
                vertices, faces = mesh.vertices, mesh.faces
                # Open surfaces are drawn on both sides.
                side = 'front' if visual.kind == 'mesh' else 'double'
                handle = self._scene.add_mesh_simple(
                    name, vertices, faces, side=side, **look, **place
                )

        async def clicked(event: Any) -> None:
            self._on_click(visual.link, ViewRay.of(event))

        handle.on_click(clicked)
        self._handles.setdefault(visual.link, []).append(handle)
        self._solid.setdefault(visual.link, []).append(body_triangles(visual, mesh))
        return True

    def _puller(self, link: str) -> Callable[[Any], Coroutine[Any, Any, None]]:
        async def pulled(event: Any) -> None:
            self._on_pull(link, event)

        return pulled
