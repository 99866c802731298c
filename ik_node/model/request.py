"""What is asked of the kinematics: one closure or goal as the solver sees it."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.errors import shown, TopologyError
from ik_node.model.constraint import Constraint
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.link import Connector, Link
from ik_node.model.rotation import pose_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Rows of the kinds whose number does not depend on the axes asked for; all go by points.
FIXED_ROWS = {'distance': 1, 'look_at': 2}


@dataclass(frozen=True)
class Request:
    """
    Rows of the pose of frame A relative to frame B that must vanish.

    Attributes
    ----------
    name : str
    link : Link
        Carries frame A.
    offset : ndarray, shape (4, 4)
        Frame A in the link.
    base : Frame or None
        Carries frame B; None = the root frame. Frame B is then given by a pose in it.
    kind : {'frame', 'universal', 'distance', 'look_at', 'centre_of_mass'}
    axes : {'world', 'goal', 'link'}
    mask : int
        Bit i set = component X Y Z EX EY EZ [i] takes part.
    is_goal : bool
        A goal is a wish, a closure a constraint.
    source : Connector or None
        The object it was read from; its pose, weight and tolerance may change at any time.

    """

    name: str
    link: Link
    offset: Array
    base: Frame | None
    kind: str
    axes: str
    mask: int
    is_goal: bool
    source: Connector | None

    def same_as(self, other: Request) -> bool:
        """Return whether it asks the same; what may change from solve to solve does not count."""
        mine, theirs = (
            (r.name, r.link, r.base, r.kind, r.axes, r.mask, r.is_goal, r.source)
            for r in (self, other)
        )
        return mine == theirs and np.array_equal(self.offset, other.offset)

    @property
    def takes_part(self) -> bool:
        """Whether it is enabled and has a weight, as of now."""
        source = self.source
        return not isinstance(source, Constraint) or (source.enabled and source.weight > 0.0)

    @property
    def row_count(self) -> int:
        """Return the number of scalar rows."""
        if self.kind in FIXED_ROWS:
            return FIXED_ROWS[self.kind]
        return self.mask.bit_count() + (1 if self.kind == 'universal' else 0)

    @property
    def translation_row_count(self) -> int:
        """How many of them go by the velocity of a point; these come first."""
        return FIXED_ROWS.get(self.kind, (self.mask & 7).bit_count())

    @property
    def metre_row_count(self) -> int:
        """How many of them count in [m], not [rad]; these come first."""
        return 0 if self.kind == 'look_at' else self.translation_row_count

    @property
    def pose(self) -> tuple[Array, Array]:
        """Position [m] and orientation (xyzw) of frame B in its base, as they are now."""
        if isinstance(self.source, Constraint):
            return self.source.position, self.source.quaternion
        return np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))


def request_of(joint: Connector) -> Request:
    """Read a request from a joint, closure or goal that closes on a link."""
    if joint.child is None:
        raise TopologyError(f'{shown(joint.name)} closes on no link: make_closure(link) first')
    if not isinstance(joint, Constraint):
        return Request(
            joint.name, joint.child, np.eye(4), joint, 'frame', 'goal', 63, False, joint
        )
    mask = sum(1 << dof for dof in joint.dof)
    return Request(
        name=joint.name,
        link=joint.child,
        offset=pose_matrix(joint.offset_position, joint.offset_quaternion),
        base=joint.parent,
        kind=joint.kind,
        axes=joint.axes,
        mask=mask & 7 if joint.kind in ('universal', 'centre_of_mass') else mask,
        is_goal=isinstance(joint, Goal),
        source=joint,
    )


def pose_request(name: str, link: Link) -> Request:
    """Ask for the full pose of a link in the root frame."""
    return Request(name, link, np.eye(4), None, 'frame', 'world', 63, True, None)
