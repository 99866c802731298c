"""Shapes of collision bodies, obstacles and the nearest points of pairs."""

from __future__ import annotations

from functools import lru_cache

from ik_node.model import bodies as forms
from ik_node.model.collisions import Body, Collisions, CONTACT
from ik_node.scene.bodies import make_solid
from ik_node.scene.look import (
    common,
    IN_CONTACT,
    Look,
    NEAREST,
    OBSTACLE,
    ShapeFactory,
    UniqueNames,
)
from ik_node.scene.shapes import Facets, Point, Rgba, Shape
from ik_node.scene.skeleton import plain_poses, PlainPose, point, Skeleton, Snapshot
from ik_node.solver.options import SolverOptions
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Dimensions as shares of the scale; edges of a half-space as a multiple of the reach, its opacity.
BALL, LINE, EDGES, FAINT = 0.1, 0.05, 1.2, 0.25
# Most pairs whose nearest points are drawn.
MOST = 20


class CollisionMarks:
    """
    The bodies of links and obstacles, and the nearest points of pairs that are near.

    Pairs are near within the influence distance of the solver. The nearest one is orange, or red
    in contact. `reach` is that of the robot [m].
    """

    def __init__(self, skeleton: Skeleton, collisions: Collisions | None, reach: float) -> None:
        self._skeleton, self._collisions, self._reach = skeleton, collisions, reach

    def shapes(
        self, snapshot: Snapshot, look: Look, options: SolverOptions, q: ArrayLike | None
    ) -> list[Shape]:
        """Return a shape for each body, and two balls and a line for each pair that is near."""
        if self._collisions is None:
            return []
        margin, names = options.collision_margin, UniqueNames()
        near = self._collisions.distances(q, margin + options.influence_distance)[:MOST]
        warning = IN_CONTACT if near and near[0].d < margin - CONTACT else NEAREST
        bodies = self._collisions.bodies
        frames = np.array([self._frame(snapshot, body) for body in bodies]).reshape(-1, 4, 4)
        shapes: list[Shape] = []
        for body, pose in zip(bodies, plain_poses(frames), strict=True):
            rgba = OBSTACLE if body.link is None else look.rgba['collisions']
            if near and body.name in near[0].pair:
                rgba = (*warning[:3], rgba[3])
            shapes.append(self._shape(names.new(body.name), body, pose, rgba, look))
        for each in reversed(near):
            rgba = warning if each is near[0] else look.rgba['collisions']
            name = ' '.join(each.pair)
            make = ShapeFactory('collisions', names.new(name), name, look)
            one, other = each.points
            shapes.append(make.line('line', one, other, LINE, (*rgba[:3], 1.0)))
            for part, place in (('one', one), ('other', other)):
                shapes.append(make.ball(part, point(place), BALL, (*rgba[:3], 1.0)))
        return shapes

    def _frame(self, snapshot: Snapshot, body: Body) -> Array:
        """Return the pose (4, 4) of the core of a body, root frame; a half-space is centred."""
        link: Array = np.eye(4)
        if body.link is not None:
            column, carrier = self._skeleton.carrier(body.link)
            link = snapshot.columns[column] @ carrier
        pose = body.core_pose(link)
        if isinstance(body.shape, forms.HalfSpace):
            # The point of its plane that is nearest to the origin.
            pose[:3, 3] -= pose[:3, :2] @ (pose[:3, 3] @ pose[:3, :2])
        return pose

    def _shape(self, name: str, body: Body, pose: PlainPose, rgba: Rgba, look: Look) -> Shape:
        shape = body.shape
        if isinstance(shape, forms.HalfSpace):
            rgba = *rgba[:3], FAINT
        same = common('collisions', name, body.name, pose, rgba, look)
        if isinstance(shape, (forms.Hull, forms.Mesh)):
            return Facets(*same, _facets(body.core.points.tobytes()))
        if isinstance(shape, forms.HalfSpace):
            return make_solid(same, 'plane', (EDGES * self._reach,) * 2, look)
        return make_solid(same, type(shape).__name__.lower(), shape.sizes, look)


@lru_cache(maxsize=256)
def _facets(points: bytes) -> tuple[Point, ...]:
    """Return the corners of the triangles of a hull, counter-clockwise from outside."""
    corners = np.frombuffer(points).reshape(-1, 3)
    if len(corners) > 3:
        from scipy.spatial import ConvexHull

        # Joggled points have a volume, also if they are in a plane.
        hull = ConvexHull(corners, qhull_options='QJ')
        corners = corners[hull.simplices]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = np.einsum('ni,ni->n', normals, hull.equations[:, :3]) < 0.0
        corners[inward] = corners[inward, ::-1]
    return tuple(point(corner) for corner in corners.reshape(-1, 3))
