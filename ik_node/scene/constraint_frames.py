"""The two frames of a closure or goal, at any configuration."""

from __future__ import annotations

from ik_node.model.chains import carried_mass, CarriedMass
from ik_node.model.constraint import Constraint
from ik_node.model.request import Request
from ik_node.model.residual import residual_rows
from ik_node.scene.skeleton import Moment, Skeleton
from ik_node.solver.options import SolverOptions
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


class Tie:
    """
    What a closure or goal ties together.

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
        column, pose = skeleton.seat(request.link)
        self._a: tuple[int, Array] = (column, pose @ request.offset)
        self._b = (-1, np.eye(4)) if request.base is None else skeleton.seat(request.base)
        self._carried: CarriedMass | None = None
        if request.kind == 'centre_of_mass':
            self._carried = carried_mass(skeleton.tree, request.link)

    def frame_a(self, moment: Moment) -> Array:
        """Return frame A, (4, 4), root frame: on the link, or at the centre of mass."""
        if self._carried is not None:
            moments = np.zeros(3)
            for at, (mass, place) in self._carried.by_column.items():
                pose = moment.after[at]
                moments += pose[:3, :3] @ place + mass * pose[:3, 3]
            frame = np.eye(4)
            frame[:3, 3] = moments / self._carried.total
            return frame
        column, pose = self._a
        placed: Array = moment.after[column] @ pose
        return placed

    def frame_b(self, moment: Moment, wanted: Array | None = None) -> Array:
        """Return frame B, (4, 4), root frame; `wanted` = another pose of it in its base."""
        column, pose = self._b
        if wanted is None and isinstance(self.request.source, Constraint):
            wanted = self.request.source.matrix
        base: Array = moment.after[column] @ pose
        return base if wanted is None else base @ wanted

    def opening(self, frame_a: Array, frame_b: Array, options: SolverOptions) -> Opening:
        """Return how far it is from met, and whether that counts as met."""
        source = self.request.source
        allowed: tuple[float, float] | None = None
        if isinstance(source, Constraint):
            allowed = source.tolerance
        if allowed is None:
            allowed = (options.translation_converge_threshold, options.rotation_converge_threshold)
        return Opening(gap_of(self.request, frame_a, frame_b), PoseError(*allowed))


class Opening:
    """
    How far apart a tie's frames are.

    Parameters
    ----------
    gap, allowed : PoseError
        What there is and what counts as met, [m] and [rad].

    Attributes
    ----------
    apart, turned : bool
        Whether the position, the orientation is beyond what is allowed.

    """

    def __init__(self, gap: PoseError, allowed: PoseError) -> None:
        self._gap = gap
        self.apart = gap.position > allowed.position
        self.turned = gap.orientation > allowed.orientation

    @property
    def met(self) -> bool:
        """Whether it is within its tolerance."""
        return not (self.apart or self.turned)

    @property
    def text(self) -> str:
        """Return the gap in [mm] and degrees, as far as it is out of tolerance."""
        parts = []
        if self.apart:
            parts.append(f'{1e3 * self._gap.position:.3g} mm')
        if self.turned:
            parts.append(f'{np.degrees(self._gap.orientation):.3g} deg')
        return ', '.join(parts)
