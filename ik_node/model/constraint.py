"""Goals and closures: rows of a relative pose that must vanish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from textwrap import fill
from typing import Any

from ik_node.errors import ShapeError, TopologyError
from ik_node.kernels.kinds import Kind, KINDS
from ik_node.model.attributes import counted, open_array
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.frame import Frame, frame_of
from ik_node.model.given import at_least_zero, one_of, switch, whole_number
from ik_node.model.link import Connector
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import pose_matrix
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

AXES = ('world', 'goal', 'link')


def _counted(name: str, kind: Callable[[str, Any], Any], doc: str) -> Any:
    return counted(name, lambda goal: goal.revision.count_constraint(), kind, doc)


class Constraint(Connector):
    """
    A frame with which the frame of a link must coincide on chosen axes, its `dof`.

    Frame B is this frame. Its parent is a link, or it is placed in the root frame. Frame A is the
    frame of the link given to `make_closure`, composed with an offset. The residual rows are
    components of the pose of A relative to B [m, rad], see `get_residual`.

    Parameters
    ----------
    name : str
        Name in messages and results.
    kind : str
        {kinds}

    Examples
    --------
    >>> import ik_node as ik
    >>> goal = ik.load_robot('arm6').add_goal('tool_link', weight=2.0)
    >>> goal.tolerance = 0.001, 0.01  # [m] and [rad]
    >>> goal.kind, goal.axes, goal.enabled, goal.weight, goal.tolerance, goal.distance
    ('frame', 'world', True, 2.0, (0.001, 0.01), 0.0)
    >>> goal.offset_position.tolist(), goal.offset_quaternion.tolist(), goal.offset_matrix.shape
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], (4, 4))

    """

    offset_position: Array = open_array(
        'offset_position',
        lambda goal: goal._count_graph_edit(),
        'Origin of frame A in the link, shape (3,) [m], see `set_offset`.',
    )
    offset_quaternion: Array = open_array(
        'offset_quaternion',
        lambda goal: goal._count_graph_edit(),
        'Orientation of frame A in the link (xyzw), shape (4,), see `set_offset`.',
    )
    axes: str = counted(
        'axes',
        Frame._count_graph_edit,
        lambda what, value: one_of(what, value, AXES),
        "Frame of the axes of `dof`: 'world' (root), 'goal' (B) or 'link' (A).",
    )
    enabled: bool = _counted(
        'enabled', switch, 'True if it takes part in solves; a change counts from the next one on.'
    )
    weight: float = _counted(
        'weight',
        at_least_zero,
        'Weight of the rows among those of equal priority; 0 = takes no part.',
    )
    distance: float = _counted(
        'distance', at_least_zero, 'Target distance [m] of kinds that have one.'
    )

    _default_axes = 'goal'
    # The kinds that `kind` can be set to; the first is the default.
    _kinds = tuple(name for name, kind in KINDS.items() if kind.use in ('goal', 'closure'))
    _internal: tuple[str, ...] = (*Connector._internal, 'add_child', 'attach_child', 'traits')

    def __init__(self, name: str = '', kind: str | None = None) -> None:
        super().__init__(name)
        self._enabled = True
        self._offset_position: Array = np.zeros(3)
        self._offset_quaternion: Array = np.array((0.0, 0.0, 0.0, 1.0))
        self._axes = self._default_axes
        self._weight = 1.0
        self._tolerance: tuple[float, ...] | None = None
        self._distance = 0.0
        self.kind = self._kinds[0] if kind is None else kind
        self.set_dof(*DOF)

    def _facts(self) -> list[str]:
        ends = [frame for frame in (self.child, self.parent) if frame is not None]
        facts = [' to '.join(repr(frame.name) for frame in ends)] if ends else []
        facts += [self.kind] * (self.kind != 'frame')
        facts += [' '.join(dof.name for dof in self.dof)] * bool(self.dof)
        return facts + ['disabled'] * (not self.enabled)

    def set_dof(self, *dofs: int | str) -> None:
        """
        Choose the constrained axes: any of X Y Z EX EY EZ, in any order, or none.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.load_robot('arm6').add_goal('tool_link')
        >>> goal.set_dof('X', 'Y', 'Z')
        >>> goal
        Goal('tool_link', 'tool_link', X Y Z, at (0.5805, 0.05, 0.5978) m, turned (0, 0, 0, 1))
        >>> goal.dof_flags.tolist()
        [True, True, True, False, False, False]
        >>> goal.dof
        [<DOF.X: 0>, <DOF.Y: 1>, <DOF.Z: 2>]

        """
        self._choose(parse_dofs(dofs))

    @property
    def kind(self) -> str:
        """Return the kind of the residual rows, as in `ik_node.kernels.kinds`."""
        return self._kind

    @kind.setter
    def kind(self, value: str) -> None:
        self._kind = one_of(f'kind of {self.name!r}', value, self._kinds)
        self._count_graph_edit()

    @property
    def traits(self) -> Kind:
        """Return what the table of kinds says of its kind."""
        return KINDS[self.kind]

    @property
    def tolerance(self) -> tuple[float, ...] | None:
        """
        Return the residuals that count as met; None = the solver's thresholds.

        Two numbers bound the distance [m] and the angle [rad]. Six numbers bound the residual of
        each of the axes X Y Z [m] and EX EY EZ [rad], in the frame that `axes` names. A solve that
        cannot meet a goal exactly ends within its tolerance if it can.

        It is set to one number for both units, to two, or to one for each axis in `dof` or for all
        six. Two numbers are always [m] and [rad]. An axis that is added to `dof` later gets the
        smallest of the numbers.
        """
        return self._tolerance

    @tolerance.setter
    def tolerance(self, value: float | Sequence[float] | None) -> None:
        name = f'tolerance of {self.name!r}'
        if value is None:
            self._tolerance = None
        else:
            given = value if isinstance(value, (Sequence, np.ndarray)) else [value]
            bounds = [at_least_zero(name, each) for each in given]
            axes = self.dof if self.traits.axes and not self.traits.more else []
            if 1 <= len(bounds) <= 2:
                self._tolerance = (bounds[0], bounds[-1])
            elif axes and len(bounds) in (len(axes), len(DOF)):
                known = dict(zip(axes if len(bounds) == len(axes) else DOF, bounds, strict=True))
                self._tolerance = tuple(known.get(dof, min(bounds)) for dof in DOF)
            else:
                by_axis = f', or {len(axes)}, one for each axis in its dof' if axes else ''
                raise ShapeError(name, f'one number, or two: [m] and [rad]{by_axis}', str(value))
        self.revision.count_constraint()

    def set_offset(
        self, position: ArrayLike = (0, 0, 0), quat_xyzw: ArrayLike = (0, 0, 0, 1)
    ) -> None:
        """
        Place frame A in its link.

        Parameters
        ----------
        position : array_like, shape (3,)
            Origin [m], link frame.
        quat_xyzw : array_like, shape (4,)
            Orientation, link frame; it is normalised.

        Raises
        ------
        ShapeError
            If a shape is wrong, a number is not finite or the quaternion is zero.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.load_robot('arm6').add_goal('tool_link')
        >>> goal.set_offset((0.0, 0.0, 0.1))  # the tip of a tool
        >>> goal.offset_position.tolist(), round(goal.get_residual()[2].item(), 4)
        ([0.0, 0.0, 0.1], 0.1)

        """
        place = self._finite('offset position', position, 3)
        rotation = self._unit('offset quaternion', quat_xyzw)
        self._offset_position[:], self._offset_quaternion[:] = place, rotation
        self._count_graph_edit()

    @property
    def offset_matrix(self) -> Array:
        """Return the pose of frame A, shape (4, 4), link frame."""
        place = self._finite('offset position', self._offset_position, 3)
        return pose_matrix(place, self._unit('offset quaternion', self._offset_quaternion))

    def _count_move(self) -> None:
        self.revision.count_constraint()

    def add_child(self, child: Frame) -> None:
        """Raise a TopologyError: goals and closures have no children."""
        raise TopologyError(
            f'{self.name!r} is a {type(self).__name__.lower()}, it takes no child '
            f'({frame_of(child).name!r}): choose the link that it acts on with '
            'make_closure(link)'
        )

    def get_residual(self) -> Array:
        """
        Return the residual at the current joint values, see theory.md, section 3.

        Returns
        -------
        ndarray, shape (rows,)
            Rows in [m] before rows in [rad]. Kind frame: the chosen components of p_A - p_B [m],
            then of the rotation vector log(R_A R_B^T) [rad], both in the chosen axes. With exactly
            two rotational axes the third axes of A and B must be parallel, and the rows are the
            components of the smallest rotation that takes B's third axis onto A's.

        Raises
        ------
        TopologyError
            If `make_closure` has not been called yet.

        """
        frame_b, frame_a = self._closing_frames()
        return residual_rows(self.kind, self.axes, self.dof_flags, self.distance, frame_a, frame_b)

    def _closing_frames(self) -> tuple[Array, Array]:
        here, there = super()._closing_frames()
        if self.kind == 'centre_of_mass' and self.child is not None:
            centre = np.eye(4)
            centre[:3, 3] = self.child.get_centre_of_mass_below()
            return here, centre
        return here, there @ self.offset_matrix


def describe_kinds(*uses: str) -> str:
    """Return what the kinds of goals and closures ask for, indented as a parameter's text."""
    said = [f'{name}: {kind.about}.' for name, kind in KINDS.items() if kind.use in uses]
    return fill(' '.join(said), 95, subsequent_indent=8 * ' ', initial_indent=8 * ' ').strip()


if Constraint.__doc__ is not None:  # None with python -OO
    Constraint.__doc__ = Constraint.__doc__.replace('{kinds}', describe_kinds('goal', 'closure'))


def norms_of(tolerance: tuple[float, ...], mask: int) -> tuple[float, float]:
    """Return the norms [m], [rad] that a tolerance allows; bit k of mask = axis k has a row."""
    if len(tolerance) == 2:
        return tolerance[0], tolerance[1]
    used = [limit if mask & 1 << k else 0.0 for k, limit in enumerate(tolerance)]
    return math.hypot(*used[:3]), math.hypot(*used[3:])


class Goal(Constraint):
    """
    A target frame that the frame of a link shall reach on chosen axes, by default all six.

    Choose the link with `make_closure(link)` and the target pose with `set_position` and
    `set_quaternion`. The pose is relative to the parent frame; a goal without parent is placed in
    the root frame.

    Parameters
    ----------
    name : str
        Name in messages and results.

    Examples
    --------
    >>> import ik_node as ik
    >>> tip = ik.Link('tip')
    >>> goal = ik.Goal('hand')
    >>> goal.set_goal_dof('X', 'Y', 'Z')
    >>> goal.set_position(0.4, 0.0, 0.3)
    >>> goal.make_closure(tip)
    >>> goal.get_residual().tolist(), goal.priority
    ([-0.4, 0.0, -0.3], 0)

    """

    is_goal = True
    priority: int = _counted(
        'priority',
        whole_number,
        'The priority, an integer >= 0; goals with a lower number are met first.',
    )
    _default_axes = 'world'

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._priority = 0

    def _facts(self) -> list[str]:
        position, quat_xyzw = (
            ', '.join(f'{value:.4g}' for value in part)
            for part in (self.position, self.quaternion)
        )
        return [*super()._facts(), f'at ({position}) m, turned ({quat_xyzw})']

    def _count_move(self) -> None:
        """Count no change: every solve reads the poses of goals or gets them as arguments."""

    def set_goal_dof(self, *dofs: int | str) -> None:
        """
        Choose the constrained axes: any subset of X Y Z EX EY EZ.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.load_robot('arm6').add_goal('tool_link')
        >>> goal.set_goal_dof('X', 'Y', 'Z')  # the orientation is free
        >>> [dof.name for dof in goal.dof]
        ['X', 'Y', 'Z']

        """
        self.set_dof(*dofs)

    def set_free_dof(self, *dofs: int | str) -> None:
        """
        Choose the free axes: any subset of X Y Z EX EY EZ; all others are constrained.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.Goal('pen')
        >>> goal.set_free_dof('EZ')
        >>> [dof.name for dof in goal.dof]
        ['X', 'Y', 'Z', 'EX', 'EY']

        """
        free = parse_dofs(dofs)
        self.set_dof(*(dof for dof in DOF if dof not in free))


# Type name -> kind and constrained axes in frame B.
CLOSURE_TYPES: dict[str, tuple[str, str]] = {
    'weld': ('frame', 'X Y Z EX EY EZ'),
    'fixed': ('frame', 'X Y Z EX EY EZ'),
    'point': ('frame', 'X Y Z'),
    'spherical': ('frame', 'X Y Z'),
    'ball': ('frame', 'X Y Z'),
    'hinge': ('frame', 'X Y Z EX EY'),  # free about z
    'revolute': ('frame', 'X Y Z EX EY'),
    'continuous': ('frame', 'X Y Z EX EY'),
    'slider': ('frame', 'X Y EX EY EZ'),  # free along z
    'prismatic': ('frame', 'X Y EX EY EZ'),
    'planar': ('frame', 'Z EX EY'),  # free along x and y and about z
    'floating': ('frame', ''),  # constrains no axis
    'universal': ('universal', 'X Y Z'),  # free about frame B's x and frame A's y
    'distance': ('distance', ''),
}


class Closure(Constraint):
    """
    A constraint that closes a loop: two frames must coincide on certain axes of frame B.

    Frame B is the closure itself. Frame A is on the link given to `make_closure`.

    Parameters
    ----------
    name : str
        Name in messages and results.
    type_name : str
        A key of `CLOSURE_TYPES`. Alternatively choose the axes with `set_dof`.

    Attributes
    ----------
    rounding : sequence of float or None
        Root mean square of the rounding errors of the positions [m] and rotations [rad] of all
        frames, which follow from the digits of the description; None = from the digits of the
        joints' positions.

    Examples
    --------
    >>> import ik_node as ik
    >>> rocker, coupler = ik.Link('rocker'), ik.Link('coupler')
    >>> pin = ik.Closure('pin', 'hinge')
    >>> coupler.add_child(pin)
    >>> pin.make_closure(rocker)
    >>> pin.get_residual().tolist(), pin.axes
    ([0.0, 0.0, 0.0, 0.0, 0.0], 'goal')

    """

    axes: str = counted(
        'axes',
        Frame._count_graph_edit,
        lambda what, value: one_of(what, value, ('goal',)),
        "'goal': the axes of a closure are always those of frame B.",
    )
    rounding: Sequence[float] | None = None
    _internal = (*Constraint._internal, 'rows_of_type', 'rounding')

    def __init__(self, name: str = '', type_name: str = 'weld') -> None:
        kind, dofs = self.rows_of_type(type_name)
        super().__init__(name, kind)
        self.set_dof(*dofs)

    @staticmethod
    def rows_of_type(type_name: str) -> tuple[str, tuple[DOF, ...]]:
        """Return kind and constrained axes of a closure type; raise OptionError if it is none."""
        kind, dofs = CLOSURE_TYPES[one_of('closure type', type_name, CLOSURE_TYPES)]
        return kind, parse_dofs(dofs)
