"""Closures: where loops close, and by how much those that do not are open."""

from __future__ import annotations

from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.request import Request, request_of
from ik_node.scene.constraint_frames import Tie
from ik_node.scene.look import Look, OPEN, UNUSED
from ik_node.scene.pen import NameBook, Pen
from ik_node.scene.plain_pose import plain_pose, point, z_onto
from ik_node.scene.shapes import Rgba, Shape, Text
from ik_node.scene.skeleton import Moment, Skeleton
from ik_node.solver.options import SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shares of the scale.
BALL = 0.13
AXIS = (0.8, 0.06)
TRIAD = (0.4, 0.04)
LINE, OPEN_LINE = 0.04, 0.12
TEXT, RAISED = 0.35, 0.25
# Two balls nearer than this are one.
SAME = 1e-3


class LoopClosures:
    """
    A ball where a loop closes, with the axes it leaves free; red where it is open.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        names = NameBook()
        requests = [request_of(c) for c in skeleton.tree.closers if not isinstance(c, Goal)]
        self._ties = [(names.new(r.name), Tie(skeleton, r)) for r in requests]

    def closures(self, moment: Moment, look: Look, options: SolverOptions) -> list[Shape]:
        """Return all of them; in grey those that are not in use, with their gap as well."""
        shapes: list[Shape] = []
        for name, tie in self._ties:
            pen = Pen('closures', name, tie.name, look)
            a, b = tie.frame_a(moment), tie.frame_b(moment)
            opening = tie.opening(a, b, options)
            if not tie.request.takes_part:
                shapes += _ends(pen, a, b, UNUSED)
                if not opening.met:
                    shapes.append(_gap(pen, a, b, opening.text, UNUSED))
                continue
            rgba = look.rgba['closures'] if opening.met else OPEN
            shapes += _ends(pen, a, b, rgba, opening.apart)
            shapes += _freedom(pen, tie.request, a, b, rgba)
            if not opening.met and _holds_turns(tie.request):
                shapes.append(pen.triad('frame_a', plain_pose(a), TRIAD))
            if not opening.met:
                shapes.append(_gap(pen, a, b, opening.text, OPEN))
        return shapes


def _ends(pen: Pen, a: Array, b: Array, rgba: Rgba, is_open: bool = False) -> list[Shape]:
    """Return a ball at either end, and the line between them; one ball where they coincide."""
    way = a[:3, 3] - b[:3, 3]
    length = float(np.sqrt(way @ way))
    shapes: list[Shape] = [pen.ball('b', point(b[:3, 3]), BALL, rgba)]
    two = length > SAME * pen.scale
    if two:
        shapes.append(pen.ball('a', point(a[:3, 3]), BALL, rgba))
    if two or is_open:
        width = OPEN_LINE if is_open else LINE
        shapes.append(pen.line('line', b[:3, 3], a[:3, 3], width, rgba))
    return shapes


def _gap(pen: Pen, a: Array, b: Array, text: str, rgba: Rgba) -> Text:
    """Return how far it is open, above both ends."""
    place = 0.5 * (a[:3, 3] + b[:3, 3])
    place[2] = max(a[2, 3], b[2, 3]) + RAISED * pen.scale
    return pen.text('gap', point(place), text, TEXT, rgba)


def _freedom(pen: Pen, request: Request, a: Array, b: Array, rgba: Rgba) -> list[Shape]:
    """Return the axes that it leaves free, or, where no turn is free, the frames themselves."""
    if request.kind == 'universal':
        return [
            pen.rod('EX', plain_pose(z_onto(b, 0)), AXIS, rgba),
            pen.rod('EY', plain_pose(z_onto(a, 1)), AXIS, rgba),
        ]
    if request.kind != 'frame':
        return []
    free = [dof for dof in DOF if not request.mask >> dof & 1]
    turns = [dof for dof in free if dof.is_rotation]
    shapes: list[Shape] = []
    if _holds_turns(request):
        shapes.append(pen.triad('frame_b', plain_pose(b), TRIAD))
    elif len(turns) < 3:
        shapes += [pen.rod(dof.name, plain_pose(z_onto(b, dof % 3)), AXIS, rgba) for dof in turns]
    for dof in free:
        if not dof.is_rotation:
            half = 0.5 * AXIS[0] * pen.scale * b[:3, dof]
            shapes.append(pen.line(dof.name, b[:3, 3] - half, b[:3, 3] + half, LINE, rgba))
    return shapes


def _holds_turns(request: Request) -> bool:
    return request.kind == 'frame' and request.mask >> DOF.EX == 0b111
