"""The record of one closure or goal as the solver has read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from ik_node.errors import TopologyError
from ik_node.kernels.kinds import ALL_AXES, Kind, KINDS
from ik_node.model.constraint import Constraint, Goal
from ik_node.model.dof import mask_of, parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.link import Connector, Link
from ik_node.model.tree import Sum, Tree
from ik_node.model.user_goal import UserGoal
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The largest gap of a coupling that counts as kept [m], [rad]: what is left is rounding.
COUPLED = (1e-10, 1e-10)
# The largest excess over the limit of a rotation that counts as none [m], [rad].
CONE = (1e-6, 1e-6)
# By how much two bodies may be nearer than the margin in an answer [m], [rad].
CONTACT = (1e-6, 1e-6)
NO_SUM = Sum(-1, ())


@dataclass(frozen=True)
class Request:
    """
    A closure or goal: rows of the pose of frame A relative to frame B that must vanish.

    The row of a coupling is the value of the joint less what `coupling` gives; it has no frames.
    The row of a cone limits the rotation of a joint. Those of kind avoid are for the pairs of
    bodies that are nearest.
    """

    name: str  # In messages and results
    link: Frame  # The link that carries frame A; of a coupling the joint that follows
    offset: Array = field(default_factory=lambda: np.eye(4))  # Frame A in the link, shape (4, 4)
    # The frame that carries frame B; None = the root frame. `pose` is frame B in it.
    base: Frame | None = None
    kind: str = 'frame'  # A key of `kernels.kinds.KINDS`
    axes: str = 'link'  # Axes of the rows: 'world' (root), 'goal' (B) or 'link' (A)
    mask: int = 63  # Bit i is set if component i of X Y Z EX EY EZ is constrained.
    is_goal: bool = False  # False for a closure, which must always hold
    # The object that it was read from, whose pose, weight and tolerance may change at any time;
    # None = the pose is an argument of the solve
    source: Connector | None = None
    coupling: Sum = NO_SUM  # For kind 'coupling'
    seen: tuple[Frame, ...] = ()  # The links whose frames a goal of a user sees
    units: tuple[str, ...] = ()  # 'm' or 'rad' for each of its rows; metres come first

    @property
    def traits(self) -> Kind:
        """Return what the table of kinds says of its kind."""
        return KINDS[self.kind]

    @property
    def takes_part(self) -> bool:
        """Return True if the source is enabled and its weight is not zero."""
        source = self.source
        return not isinstance(source, Constraint) or (source.enabled and source.weight > 0.0)

    @property
    def row_count(self) -> int:
        """Return the number of rows."""
        return self._rows_of_axes(self.mask) + self.traits.more + len(self.units)

    @property
    def translation_row_count(self) -> int:
        """Return the number of rows whose Jacobian is that of a point; these come first."""
        return self._rows_of_axes(self.mask & 7) + self.traits.by_point

    @property
    def metre_row_count(self) -> int:
        """Return the number of rows in [m], not [rad]; these come first."""
        own = self.traits.in_metres + self.units.count('m')
        return self._rows_of_axes(self.mask & 7) + own

    def _rows_of_axes(self, mask: int) -> int:
        return mask.bit_count() if self.traits.axes else 0

    @property
    def uses_orientation(self) -> bool:
        """Return True if the rows depend on the orientation of frame B, not only on its origin."""
        if self.traits.counted or not self.traits.axes:
            return bool(self.traits.counted)
        return (self.axes == 'goal' and self.mask != 7) or self.mask > 7

    @property
    def pose(self) -> tuple[Array, Array]:
        """Return the present position [m] and orientation (xyzw) of frame B in `base`."""
        source = self.source
        if source is not None and (isinstance(source, Constraint) or self.kind == 'cone'):
            return source.position, source.quaternion
        return np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))


def request_of(joint: Connector) -> Request:
    """Return the request of a connector; raise TopologyError if it closes on no link."""
    if joint.child is None:
        raise TopologyError(f'{joint.name!r} closes on no link: make_closure(link) first')
    if not isinstance(joint, Constraint):
        return Request(joint.name, joint.child, base=joint, axes='goal', source=joint)
    kind = joint.traits
    seen: tuple[Link, ...] = ()
    units: tuple[str, ...] = ()
    if isinstance(joint, UserGoal):
        if joint.parent is not None:
            raise TopologyError(
                f'goal {joint.name!r} is of a {type(joint).__name__} and cannot move with '
                f'{joint.parent.name!r}: name that link in its links instead'
            )
        seen, units = joint.seen, joint.row_units
    return Request(
        name=joint.name,
        link=joint.child,
        offset=joint.offset_matrix,
        base=joint.parent,
        kind=joint.kind,
        axes=kind.counted or joint.axes,
        mask=mask_of(joint.dof) & mask_of(parse_dofs(kind.axes or ALL_AXES)),
        is_goal=isinstance(joint, Goal),
        source=joint,
        seen=seen,
        units=units,
    )


def requests_of(tree: Tree) -> list[Request]:
    """Return the requests of couplings with several masters, and of all closures and goals."""
    couplings = [_coupling_request(tree, each) for each in tree.sums]
    return [*couplings, *_cone_requests(tree), *map(request_of, tree.closers)]


def closure_requests(tree: Tree) -> list[Request]:
    """Return the requests of couplings with several masters and closures that take part."""
    result = [each for each in requests_of(tree) if not each.is_goal and each.takes_part]
    return [each for each in result if not each.traits.one_sided]


def _cone_requests(tree: Tree) -> list[Request]:
    """Return the requests of limits of rotations: one row each, an inequality."""
    cone = partial(Request, kind='cone', axes='goal')
    return [
        cone(f'{what} of {joint.name}', joint, base=joint.parent, mask=mask, source=joint)
        for joint in dict.fromkeys(joint for joint, _ in tree.owner)
        for what, mask, limit in (('turn', 56, joint.max_turn), ('swing', 24, joint.max_swing))
        if limit < np.inf
    ]


def avoid_requests(tree: Tree, count: int) -> list[Request]:
    """Return requests with six rows each for pairs of bodies."""
    frame = next(iter(tree.carrier))
    return [Request(f'collisions {k}', frame, kind='avoid') for k in range(1, count + 1)]


def _coupling_request(tree: Tree, coupling: Sum) -> Request:
    """Return the request of a coupling with several masters: one row, of the follower's axis."""
    joint, dof = tree.columns[coupling.column].joint, tree.columns[coupling.column].dof
    name = f'coupling of {tree.names[tree.q_of_column[coupling.column]]}'
    mask = 1 << dof
    return Request(name, joint, kind='coupling', mask=mask, source=joint, coupling=coupling)


def pose_request(name: str, link: Link) -> Request:
    """Return a request for the full pose of a link in the root frame."""
    return Request(name, link, axes='world', is_goal=True)
