"""Goals: what is asked of which link, as something that can be taken hold of."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.link import Link
from ik_node.model.request import pose_request, Request, request_of
from ik_node.model.rotation import pose_matrix
from ik_node.scene.constraint_frames import Tie
from ik_node.scene.look import AXIS_COLOURS, FREE, Look, UNMET, UNUSED
from ik_node.scene.pen import NameBook, Pen
from ik_node.scene.plain_pose import plain_pose, point, z_onto
from ik_node.scene.shapes import Shape
from ik_node.scene.skeleton import Moment, Skeleton
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Poses = Mapping[str, tuple[ArrayLike, ArrayLike]]

# Shares of the scale.
HANDLE, REACHED = 0.18, 0.1
ARROW, FREE_ARROW = (1.1, 0.035), (0.8, 0.015)
RING, FREE_RING = (0.8, 0.74), (0.8, 0.78)
SIGHT = (1.4, 0.03)
LINE = 0.05


class GoalMarks:
    """
    A handle for every goal, an arrow or ring for every axis, and the way to its link.

    What is asked for is drawn in red, green and blue, what is free thin and grey.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._names = NameBook()
        goals = [closer for closer in skeleton.tree.closers if isinstance(closer, Goal)]
        self._ties = [self._tie(request_of(goal)) for goal in goals]
        self._by_key = {tie.name: (name, tie) for name, tie in self._ties}
        self._links: dict[str, list[Link]] = {}
        for frame in skeleton.tree.seat:
            if isinstance(frame, Link):
                self._links.setdefault(frame.name, []).append(frame)

    def goals(
        self, moment: Moment, look: Look, options: SolverOptions, poses: Poses | None
    ) -> list[Shape]:
        """
        Return all of them, those that take no part in grey.

        Parameters
        ----------
        moment, look, options
            Where, how, and what counts as met.
        poses : mapping of str to (position, quat_xyzw), or None
            As in `Solver.solve_pose`; None = the goals' own.

        """
        shapes: list[Shape] = []
        if poses is None:
            for name, tie in self._ties:
                pen = Pen('goals', name, tie.name, look)
                shapes += self._one(pen, tie, moment, look, options, None)
            return shapes
        for key, (position, quat_xyzw) in poses.items():
            name, tie = self._named(key)
            x, y, z, *quat = unit_pose(key, position, quat_xyzw)
            pen = Pen('goals', name, key, look)
            wanted = pose_matrix((x, y, z), quat)
            shapes += self._one(pen, tie, moment, look, options, wanted)
        return shapes

    def _one(
        self,
        pen: Pen,
        tie: Tie,
        moment: Moment,
        look: Look,
        options: SolverOptions,
        wanted: Array | None,
    ) -> list[Shape]:
        a, b = tie.frame_a(moment), tie.frame_b(moment, wanted)
        if wanted is None and not tie.request.takes_part:
            return [pen.ball('handle', point(b[:3, 3]), HANDLE, UNUSED)]
        shapes: list[Shape] = [pen.ball('handle', point(b[:3, 3]), HANDLE, look.rgba['goals'])]
        shapes += _asked(pen, tie.request, a, b, look)
        opening = tie.opening(a, b, options)
        if not opening.met:
            shapes.append(pen.ball('reached', point(a[:3, 3]), REACHED, UNMET))
            way = a[:3, 3] - b[:3, 3]
            if opening.apart or way @ way > (HANDLE * look.scale) ** 2:
                shapes.append(pen.line('way', b[:3, 3], a[:3, 3], LINE, UNMET))
        return shapes

    def _tie(self, request: Request) -> tuple[str, Tie]:
        return self._names.new(request.name), Tie(self._skeleton, request)

    def _named(self, key: str) -> tuple[str, Tie]:
        """Return the goal of that name, else one for the whole pose of the link of that name."""
        if key not in self._by_key:
            links = self._links.get(key, [])
            if not links:
                known = [*self._by_key, *self._links]
                raise UnknownFrameError(key, known, 'goal or link')
            if len(links) > 1:
                raise OptionError('link', key, 'a name that only one link has')
            self._by_key[key] = self._tie(pose_request(key, links[0]))
        return self._by_key[key]


def _asked(pen: Pen, request: Request, a: Array, b: Array, look: Look) -> list[Shape]:
    """Return what shows the rows: arrows and rings, a ball around a centre, a line of sight."""
    goal = request.source
    if request.kind == 'distance' and isinstance(goal, Goal):
        rgba = (*look.rgba['goals'][:3], 0.15)
        return [pen.ball('distance', point(b[:3, 3]), goal.distance / look.scale, rgba)]
    if request.kind == 'look_at':
        return [pen.arrow('sight', plain_pose(a), SIGHT, look.rgba['goals'])]
    axes = np.eye(4)
    axes[:3, 3] = b[:3, 3]
    if request.axes != 'world':
        axes[:3, :3] = (b if request.axes == 'goal' else a)[:3, :3]
    shapes: list[Shape] = []
    poses = [plain_pose(z_onto(axes, at)) for at in range(3)]
    for dof in DOF:
        pose, asked = poses[dof % 3], bool(request.mask >> dof & 1)
        if request.kind == 'centre_of_mass' and dof.is_rotation:
            continue
        rgba = AXIS_COLOURS[dof % 3] if asked else FREE
        if dof.is_rotation:
            shapes.append(pen.ring(dof.name, pose, RING if asked else FREE_RING, rgba))
        else:
            shapes.append(pen.arrow(dof.name, pose, ARROW if asked else FREE_ARROW, rgba))
    return shapes
