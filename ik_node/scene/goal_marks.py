"""Shapes of goals."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.link import Link
from ik_node.model.request import pose_request, Request, request_of
from ik_node.model.rotation import pose_from_matrix, pose_matrix
from ik_node.scene.constraint_frames import ConstraintFrames
from ik_node.scene.look import AXIS_COLOURS, FREE, Look, UNMET, UNUSED
from ik_node.scene.plain_pose import point, z_onto
from ik_node.scene.shape_factory import ShapeFactory, UniqueNames
from ik_node.scene.shapes import Shape
from ik_node.scene.skeleton import Skeleton, Snapshot
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Poses = Mapping[str, tuple[ArrayLike, ArrayLike]]

# Dimensions as shares of the scale.
HANDLE, REACHED = 0.18, 0.1
ARROW, FREE_ARROW = (1.1, 0.035), (0.8, 0.015)
RING, FREE_RING = (0.8, 0.74), (0.8, 0.78)
SIGHT = (1.4, 0.03)
LINE = 0.05


class GoalMarks:
    """
    A handle for every goal, an arrow or ring for every axis, and a line to the goal's link.

    Constrained axes are red, green and blue; free axes are thin and grey.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._names = UniqueNames()
        goals = [closer for closer in skeleton.tree.closers if isinstance(closer, Goal)]
        self._constraints = [self._with_frames(request_of(goal)) for goal in goals]
        self._by_key = {frames.name: (name, frames) for name, frames in self._constraints}
        self._links: dict[str, list[Link]] = {}
        for frame in skeleton.tree.carrier:
            if isinstance(frame, Link):
                self._links.setdefault(frame.name, []).append(frame)

    def goals(
        self, snapshot: Snapshot, look: Look, options: SolverOptions, poses: Poses | None
    ) -> list[Shape]:
        """
        Return the shapes of all goals; disabled goals are grey.

        Parameters
        ----------
        snapshot, look, options
            The configuration, the appearance, and the thresholds for met goals.
        poses : mapping of str to (position, quat_xyzw), or None
            Goal poses as in `Solver.solve_pose`; None = the goals' own poses.

        """
        shapes: list[Shape] = []
        if poses is None:
            for name, frames in self._constraints:
                make = ShapeFactory('goals', name, frames.name, look)
                shapes += self._one(make, frames, snapshot, look, options, None)
            return shapes
        for key, pose in poses.items():
            name, frames = self._named(key)
            x, y, z, *quat = unit_pose(key, pose, frames.request)
            make = ShapeFactory('goals', name, key, look)
            wanted = pose_matrix((x, y, z), quat)
            shapes += self._one(make, frames, snapshot, look, options, wanted)
        return shapes

    def _one(
        self,
        make: ShapeFactory,
        frames: ConstraintFrames,
        snapshot: Snapshot,
        look: Look,
        options: SolverOptions,
        wanted: Array | None,
    ) -> list[Shape]:
        a, b = frames.frame_a(snapshot), frames.frame_b(snapshot, wanted)
        if wanted is None and not frames.request.takes_part:
            return [make.ball('handle', point(b[:3, 3]), HANDLE, UNUSED)]
        shapes: list[Shape] = [make.ball('handle', point(b[:3, 3]), HANDLE, look.rgba['goals'])]
        shapes += _axis_shapes(make, frames.request, a, b, look)
        gap = frames.gap(a, b, options)
        if not gap.met:
            shapes.append(make.ball('reached', point(a[:3, 3]), REACHED, UNMET))
            way = a[:3, 3] - b[:3, 3]
            if gap.apart or way @ way > (HANDLE * look.scale) ** 2:
                shapes.append(make.line('way', b[:3, 3], a[:3, 3], LINE, UNMET))
        return shapes

    def _with_frames(self, request: Request) -> tuple[str, ConstraintFrames]:
        return self._names.new(request.name), ConstraintFrames(self._skeleton, request)

    def _named(self, key: str) -> tuple[str, ConstraintFrames]:
        """Return the goal with a name, or a goal for the pose of the link with that name."""
        if key not in self._by_key:
            links = self._links.get(key, [])
            if not links:
                known = [*self._by_key, *self._links]
                raise UnknownFrameError(key, known, 'goal or link')
            if len(links) > 1:
                raise OptionError('link', key, 'a name that only one link has')
            self._by_key[key] = self._with_frames(pose_request(key, links[0]))
        return self._by_key[key]


def _axis_shapes(
    make: ShapeFactory, request: Request, a: Array, b: Array, look: Look
) -> list[Shape]:
    """Return an arrow or ring per axis, thin if free, or a sphere (distance) or line of sight."""
    goal = request.source
    if request.kind == 'distance' and isinstance(goal, Goal):
        rgba = (*look.rgba['goals'][:3], 0.15)
        return [make.ball('distance', point(b[:3, 3]), goal.distance / look.scale, rgba)]
    if request.kind == 'look_at':
        return [make.arrow('sight', pose_from_matrix(a), SIGHT, look.rgba['goals'])]
    axes = np.eye(4)
    axes[:3, 3] = b[:3, 3]
    if request.axes != 'world':
        axes[:3, :3] = (b if request.axes == 'goal' else a)[:3, :3]
    shapes: list[Shape] = []
    poses = [pose_from_matrix(z_onto(axes, at)) for at in range(3)]
    for dof in DOF:
        pose, asked = poses[dof % 3], bool(request.mask >> dof & 1)
        if request.kind == 'centre_of_mass' and dof.is_rotation:
            continue
        rgba = AXIS_COLOURS[dof % 3] if asked else FREE
        if dof.is_rotation:
            shapes.append(make.ring(dof.name, pose, RING if asked else FREE_RING, rgba))
        else:
            shapes.append(make.arrow(dof.name, pose, ARROW if asked else FREE_ARROW, rgba))
    return shapes
