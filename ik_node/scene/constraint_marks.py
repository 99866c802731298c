"""Shapes of goals and loop closures, and the frames and residuals that they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.model.constraint import Constraint, Goal, norms_of
from ik_node.model.dof import DOF
from ik_node.model.link import Link
from ik_node.model.request import pose_request, Request, request_of
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import pose_from_matrix, pose_matrix
from ik_node.model.user_goal import TARGET, UserGoal
from ik_node.scene.look import (
    AXIS_COLOURS,
    FREE,
    Look,
    OPEN,
    ShapeFactory,
    UniqueNames,
    UNMET,
    UNUSED,
)
from ik_node.scene.shapes import Rgba, Shape, Text
from ik_node.scene.skeleton import point, Skeleton, Snapshot, z_onto
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.result import PoseError
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Poses = Mapping[str, tuple[ArrayLike, ArrayLike]]


class ConstraintFrames:
    """The two frames of a closure or goal at any configuration of a skeleton."""

    def __init__(self, skeleton: Skeleton, request: Request) -> None:
        self.request = request
        self.name = request.name
        self._kinematics = skeleton.kinematics
        column, pose = skeleton.carrier(request.link)
        self._a: tuple[int, Array] = (column, pose @ request.offset)
        self._b = (-1, np.eye(4)) if request.base is None else skeleton.carrier(request.base)
        self._seen = {link.name: skeleton.carrier(link) for link in request.seen}
        self._bodies: list[Link] = []
        if request.kind == 'centre_of_mass' and isinstance(request.link, Link):
            self._bodies = [body for body in request.link.links_below() if body.mass > 0.0]

    def frame_a(self, snapshot: Snapshot) -> Array:
        """Return the root-frame pose (4, 4) of frame A: on the link, or at the centre of mass."""
        if self._bodies:
            frame = np.eye(4)
            frame[:3, 3] = self._kinematics.centre_of_mass(snapshot.columns, self._bodies)
            return frame
        column, pose = self._a
        placed: Array = snapshot.columns[column] @ pose
        return placed

    def frame_b(self, snapshot: Snapshot, target: Array | None = None) -> Array:
        """Return the root-frame pose (4, 4) of frame B; `target` replaces its pose in its base."""
        column, pose = self._b
        if target is None and isinstance(self.request.source, Constraint):
            target = self.request.source.matrix
        base: Array = snapshot.columns[column] @ pose
        return base if target is None else base @ target

    def gap(
        self, snapshot: Snapshot, frame_a: Array, frame_b: Array, options: SolverOptions
    ) -> ConstraintGap:
        """Compare the residual norms at two frames with the tolerances of the constraint."""
        request, source = self.request, self.request.source
        limits = options.translation_converge_threshold, options.rotation_converge_threshold
        if isinstance(source, Constraint) and source.tolerance is not None:
            limits = norms_of(source.tolerance, request.mask)
        if isinstance(source, UserGoal):
            seen = {n: snapshot.columns[index] @ pose for n, (index, pose) in self._seen.items()}
            rows = source.rows_at({**seen, TARGET: frame_b})
        else:
            distance = source.distance if isinstance(source, Constraint) else 0.0
            is_used = np.array([bool(request.mask >> index & 1) for index in range(6)])
            rows = residual_rows(request.kind, request.axes, is_used, distance, frame_a, frame_b)
        position, orientation = np.split(rows, [request.metre_row_count])
        norms = PoseError(float(np.linalg.norm(position)), float(np.linalg.norm(orientation)))
        return ConstraintGap(norms, PoseError(*limits))


class ConstraintGap(NamedTuple):
    """Residual norms of a constraint, and its tolerances."""

    norms: PoseError
    tolerance: PoseError

    @property
    def apart(self) -> bool:
        """Return True if the position is out of tolerance."""
        return self.norms.position > self.tolerance.position

    @property
    def text(self) -> str:
        """Return the norms that are out of tolerance, in [mm] and degrees; '' = it is met."""
        parts = [f'{1e3 * self.norms.position:.3g} mm'] * self.apart
        if self.norms.orientation > self.tolerance.orientation:
            parts.append(f'{np.degrees(self.norms.orientation):.3g} deg')
        return ', '.join(parts)

    @property
    def met(self) -> bool:
        """Return True if the constraint is within its tolerance."""
        return not self.text


# Dimensions as shares of the scale.
HANDLE, REACHED = 0.18, 0.1
ARROW, FREE_ARROW = (1.1, 0.035), (0.8, 0.015)
RING, FREE_RING = (0.8, 0.74), (0.8, 0.78)
SIGHT, TUBE = (1.4, 0.03), (2.0, 0.015)
WAY = 0.05


class GoalMarks:
    """
    A handle for every goal, an arrow or ring for every axis, and a line to the goal's link.

    Constrained axes are red, green and blue; free axes are thin and grey.
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
        """Return the shapes of all goals at given poses or their own; disabled goals are grey."""
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
            target = pose_matrix((x, y, z), quat)
            shapes += self._one(make, frames, snapshot, look, options, target)
        return shapes

    def _one(
        self,
        make: ShapeFactory,
        frames: ConstraintFrames,
        snapshot: Snapshot,
        look: Look,
        options: SolverOptions,
        target: Array | None,
    ) -> list[Shape]:
        a, b = frames.frame_a(snapshot), frames.frame_b(snapshot, target)
        if target is None and not frames.request.takes_part:
            return [make.ball('handle', point(b[:3, 3]), HANDLE, UNUSED)]
        shapes: list[Shape] = [make.ball('handle', point(b[:3, 3]), HANDLE, look.rgba['goals'])]
        shapes += _axis_shapes(make, frames.request, a, b, look)
        gap = frames.gap(snapshot, a, b, options)
        if not gap.met:
            shapes.append(make.ball('reached', point(a[:3, 3]), REACHED, UNMET))
            delta = a[:3, 3] - b[:3, 3]
            if gap.apart or delta @ delta > (HANDLE * look.scale) ** 2:
                shapes.append(make.line('way', b[:3, 3], a[:3, 3], WAY, UNMET))
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
    goal, drawn = request.source, request.traits.drawn
    distance = goal.distance / look.scale if isinstance(goal, Goal) else 0.0
    if drawn == 'sphere':
        rgba = (*look.rgba['goals'][:3], 0.15)
        return [make.ball('distance', point(b[:3, 3]), distance, rgba)]
    if drawn == 'tube':
        ring = distance + FREE_RING[0] - FREE_RING[1], distance
        return [
            make.ring('distance', pose_from_matrix(b), ring, look.rgba['goals']),
            make.rod('axis', pose_from_matrix(b), TUBE, look.rgba['goals']),
        ]
    if drawn == 'sight':
        return [make.arrow('sight', pose_from_matrix(a), SIGHT, look.rgba['goals'])]
    if drawn == 'handle':
        return []
    axes = np.eye(4)
    axes[:3, 3] = b[:3, 3]
    if request.axes != 'world':
        axes[:3, :3] = (b if request.axes == 'goal' else a)[:3, :3]
    shapes: list[Shape] = []
    poses = [pose_from_matrix(z_onto(axes, index)) for index in range(3)]
    for dof in DOF:
        pose, asked = poses[dof % 3], bool(request.mask >> dof & 1)
        if dof.name not in request.traits.axes.split():
            continue
        rgba = AXIS_COLOURS[dof % 3] if asked else FREE
        if dof.is_rotation:
            shapes.append(make.ring(dof.name, pose, RING if asked else FREE_RING, rgba))
        else:
            shapes.append(make.arrow(dof.name, pose, ARROW if asked else FREE_ARROW, rgba))
    return shapes


# Dimensions as shares of the scale.
BALL = 0.13
AXIS = (0.8, 0.06)
TRIAD = (0.4, 0.04)
LINE, OPEN_LINE = 0.04, 0.12
TEXT, RAISED = 0.35, 0.25
# Frames closer than this share one sphere.
SAME = 1e-3


class LoopClosures:
    """A sphere and the free axes of every loop closure; red if the loop is open."""

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        requests = [request_of(c) for c in skeleton.tree.closers if not isinstance(c, Goal)]
        self._constraints = [(names.new(r.name), ConstraintFrames(skeleton, r)) for r in requests]

    def closures(self, snapshot: Snapshot, look: Look, options: SolverOptions) -> list[Shape]:
        """Return the shapes of all closures; disabled closures are grey."""
        shapes: list[Shape] = []
        for name, frames in self._constraints:
            make = ShapeFactory('closures', name, frames.name, look)
            a, b = frames.frame_a(snapshot), frames.frame_b(snapshot)
            gap = frames.gap(snapshot, a, b, options)
            if not frames.request.takes_part:
                shapes += _ends(make, a, b, UNUSED)
                if not gap.met:
                    shapes.append(_gap(make, a, b, gap.text, UNUSED))
                continue
            rgba = look.rgba['closures'] if gap.met else OPEN
            shapes += _ends(make, a, b, rgba, gap.apart)
            shapes += _freedom(make, frames.request, a, b, rgba)
            if not gap.met and _fixes_rotation(frames.request):
                shapes.append(make.triad('frame_a', pose_from_matrix(a), TRIAD))
            if not gap.met:
                shapes.append(_gap(make, a, b, gap.text, OPEN))
        return shapes


def _ends(
    make: ShapeFactory, a: Array, b: Array, rgba: Rgba, is_open: bool = False
) -> list[Shape]:
    """Return spheres at both ends and a line between them, or one sphere if they coincide."""
    delta = a[:3, 3] - b[:3, 3]
    length = float(np.sqrt(delta @ delta))
    shapes: list[Shape] = [make.ball('b', point(b[:3, 3]), BALL, rgba)]
    two = length > SAME * make.scale
    if two:
        shapes.append(make.ball('a', point(a[:3, 3]), BALL, rgba))
    if two or is_open:
        width = OPEN_LINE if is_open else LINE
        shapes.append(make.line('line', b[:3, 3], a[:3, 3], width, rgba))
    return shapes


def _gap(make: ShapeFactory, a: Array, b: Array, text: str, rgba: Rgba) -> Text:
    """Return the text of the gap, above both ends."""
    place = 0.5 * (a[:3, 3] + b[:3, 3])
    place[2] = max(a[2, 3], b[2, 3]) + RAISED * make.scale
    return make.text('gap', point(place), text, TEXT, rgba)


def _freedom(make: ShapeFactory, request: Request, a: Array, b: Array, rgba: Rgba) -> list[Shape]:
    """Return the free axes of a closure, or its frames if no rotation is free."""
    drawn = request.traits.drawn
    if drawn == 'cross':
        return [
            make.rod('EX', pose_from_matrix(z_onto(b, 0)), AXIS, rgba),
            make.rod('EY', pose_from_matrix(z_onto(a, 1)), AXIS, rgba),
        ]
    if drawn != 'axes':
        return []
    free = [dof for dof in DOF if not request.mask >> dof & 1]
    turns = [dof for dof in free if dof.is_rotation]
    shapes: list[Shape] = []
    if _fixes_rotation(request):
        shapes.append(make.triad('frame_b', pose_from_matrix(b), TRIAD))
    elif len(turns) < 3:
        shapes += [
            make.rod(dof.name, pose_from_matrix(z_onto(b, dof % 3)), AXIS, rgba) for dof in turns
        ]
    for dof in free:
        if not dof.is_rotation:
            half = 0.5 * AXIS[0] * make.scale * b[:3, dof]
            shapes.append(make.line(dof.name, b[:3, 3] - half, b[:3, 3] + half, LINE, rgba))
    return shapes


def _fixes_rotation(request: Request) -> bool:
    return request.kind == 'frame' and request.mask >> DOF.EX == 0b111
