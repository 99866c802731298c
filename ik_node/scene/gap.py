"""How far a closure or goal is from met, wherever its two frames are."""

from __future__ import annotations

from ik_node.model.constraint import Constraint
from ik_node.model.request import Request
from ik_node.model.residual import residual_rows
from ik_node.solver.result import PoseError
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gap_of(request: Request, frame_a: Array, frame_b: Array) -> PoseError:
    """
    Return the norms of the rows of `Constraint.get_residual` at other frames than the objects'.

    Parameters
    ----------
    request : Request
        What is asked.
    frame_a, frame_b : ndarray, shape (4, 4)
        Root frame.

    """
    source = request.source
    distance = source.distance if isinstance(source, Constraint) else 0.0
    asked = np.array([bool(request.mask >> at & 1) for at in range(6)])
    rows = residual_rows(request.kind, request.axes, asked, distance, frame_a, frame_b)
    position, orientation = np.split(rows, [request.metre_row_count])
    return PoseError(_norm(position), _norm(orientation))


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))
