"""How far a closure or goal is from met, wherever its two frames are."""

from __future__ import annotations

from ik_node.model.constraint import Constraint
from ik_node.model.request import Request
from ik_node.model.rotation import cross, matrix_to_quat, quat_to_rotation_vector
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
    turn_a, turn_b = frame_a[:3, :3], frame_b[:3, :3]
    way = frame_a[:3, 3] - frame_b[:3, 3]
    if request.kind == 'distance':
        source = request.source
        wanted = source.distance if isinstance(source, Constraint) else 0.0
        return PoseError(abs(_norm(way) - wanted), 0.0)
    if request.kind == 'look_at':
        x, y, z = (turn_a.T @ -way).tolist()
        return PoseError(0.0, float(np.arctan2(np.hypot(x, y), z)))
    if request.kind == 'universal':
        return PoseError(_norm(way), abs(float(turn_a[:, 1] @ turn_b[:, 0])))
    asked = [bool(request.mask >> at & 1) for at in range(6)]
    axes = {'world': np.eye(3), 'goal': turn_b, 'link': turn_a}[request.axes]
    return PoseError(
        _norm((axes.T @ way)[asked[:3]]),
        _turn(turn_a, turn_b, asked[3:], world=request.axes == 'world'),
    )


def _turn(turn_a: Array, turn_b: Array, asked: list[bool], world: bool) -> float:
    if not any(asked):
        return 0.0
    relative = turn_a @ turn_b.T if world else turn_b.T @ turn_a
    if sum(asked) == 2:
        # The third axes are to be parallel.
        axis = np.eye(3)[asked.index(False)]
        turned = relative @ axis
        return float(np.arctan2(_norm(cross(axis, turned)), axis @ turned))
    return _norm(quat_to_rotation_vector(matrix_to_quat(relative))[asked])


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))
