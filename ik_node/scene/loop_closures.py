"""Shapes of loop closures."""

from __future__ import annotations

from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.request import Request, request_of
from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.constraint_frames import ConstraintFrames
from ik_node.scene.look import Look, OPEN, UNUSED
from ik_node.scene.plain_pose import point, z_onto
from ik_node.scene.shape_factory import ShapeFactory, UniqueNames
from ik_node.scene.shapes import Rgba, Shape, Text
from ik_node.scene.skeleton import Skeleton, Snapshot
from ik_node.solver.options import SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Dimensions as shares of the scale.
BALL = 0.13
AXIS = (0.8, 0.06)
TRIAD = (0.4, 0.04)
LINE, OPEN_LINE = 0.04, 0.12
TEXT, RAISED = 0.35, 0.25
# Frames closer than this share one sphere.
SAME = 1e-3


class LoopClosures:
    """
    A sphere and the free axes of every loop closure; red if the loop is open.

    Parameters
    ----------
    skeleton : Skeleton

    """

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
            gap = frames.gap(a, b, options)
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
    way = a[:3, 3] - b[:3, 3]
    length = float(np.sqrt(way @ way))
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
    if request.kind == 'universal':
        return [
            make.rod('EX', pose_from_matrix(z_onto(b, 0)), AXIS, rgba),
            make.rod('EY', pose_from_matrix(z_onto(a, 1)), AXIS, rgba),
        ]
    if request.kind != 'frame':
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
