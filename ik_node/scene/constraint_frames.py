"""The frames and the residual of a constraint at any configuration."""

from __future__ import annotations

from ik_node.model.constraint import Constraint, norms_of
from ik_node.model.link import Link
from ik_node.model.request import Request
from ik_node.model.residual import residual_rows
from ik_node.scene.skeleton import Skeleton, Snapshot
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import PoseError
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gap_of(request: Request, frame_a: Array, frame_b: Array) -> PoseError:
    """
    Return the norms of a constraint's residual rows (`residual_rows`) at two given frames.

    Parameters
    ----------
    request : Request
        The constraint.
    frame_a, frame_b : ndarray, shape (4, 4)
        Poses in the root frame.

    """
    source = request.source
    distance = source.distance if isinstance(source, Constraint) else 0.0
    is_used = np.array([bool(request.mask >> at & 1) for at in range(6)])
    rows = residual_rows(request.kind, request.axes, is_used, distance, frame_a, frame_b)
    position, orientation = np.split(rows, [request.metre_row_count])
    return PoseError(_norm(position), _norm(orientation))


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))


class ConstraintFrames:
    """
    The two frames of a closure or goal at any configuration of a skeleton.

    Parameters
    ----------
    skeleton : Skeleton
    request : Request

    Attributes
    ----------
    request : Request
    name : str

    """

    def __init__(self, skeleton: Skeleton, request: Request) -> None:
        self.request = request
        self.name = request.name
        self._kinematics = skeleton.kinematics
        column, pose = skeleton.carrier(request.link)
        self._a: tuple[int, Array] = (column, pose @ request.offset)
        self._b = (-1, np.eye(4)) if request.base is None else skeleton.carrier(request.base)
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

    def frame_b(self, snapshot: Snapshot, wanted: Array | None = None) -> Array:
        """Return the root-frame pose (4, 4) of frame B; `wanted` replaces its pose in its base."""
        column, pose = self._b
        if wanted is None and isinstance(self.request.source, Constraint):
            wanted = self.request.source.matrix
        base: Array = snapshot.columns[column] @ pose
        return base if wanted is None else base @ wanted

    def gap(self, frame_a: Array, frame_b: Array, options: SolverOptions) -> ConstraintGap:
        """Compare the residual norms at two frames with the tolerances of the constraint."""
        source = self.request.source
        most = options.translation_converge_threshold, options.rotation_converge_threshold
        if isinstance(source, Constraint) and source.tolerance is not None:
            most = norms_of(source.tolerance, self.request.mask)
        return ConstraintGap(gap_of(self.request, frame_a, frame_b), PoseError(*most))


class ConstraintGap:
    """
    Residual norms of a constraint, compared with its tolerances.

    Parameters
    ----------
    gap, tolerance : PoseError
        Residual norms and their limits, [m] and [rad].

    Attributes
    ----------
    apart, turned : bool
        Whether the position, or the orientation, is out of tolerance.

    """

    def __init__(self, gap: PoseError, tolerance: PoseError) -> None:
        self._gap = gap
        self.apart = gap.position > tolerance.position
        self.turned = gap.orientation > tolerance.orientation

    @property
    def met(self) -> bool:
        """Return True if the constraint is within its tolerance."""
        return not (self.apart or self.turned)

    @property
    def text(self) -> str:
        """Return the norms that are out of tolerance, in [mm] and degrees."""
        parts = []
        if self.apart:
            parts.append(f'{1e3 * self._gap.position:.3g} mm')
        if self.turned:
            parts.append(f'{np.degrees(self._gap.orientation):.3g} deg')
        return ', '.join(parts)
