"""Rows of a relative pose that must vanish: what goals and closures have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.errors import OptionError, ShapeError, shown, TopologyError
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.link import Connector
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import pose_matrix
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

KINDS = ('frame', 'universal', 'distance', 'look_at', 'centre_of_mass')
AXES = ('world', 'goal', 'link')


class Constraint(Connector):
    """
    A frame that a link's frame must agree with on chosen axes, its `dof`.

    Frame B is this frame, hanging on a parent link or posed in the root frame. Frame A is the
    frame of the link it closes on (`make_closure`) composed with an offset. The rows are
    components of the pose of A relative to B, [m] and [rad]; `get_residual` says which.

    Parameters
    ----------
    name : str
    kind : {'frame', 'universal', 'distance', 'look_at', 'centre_of_mass'}
        frame: the axes of `dof`. universal: origins coincide and A's y axis is at right angles to
        B's x axis. distance: the origins are `distance` apart. look_at: A's z axis points at B's
        origin; what is nearer than a millionth of the characteristic length is not seen, and a
        solve counts half a turn. centre_of_mass: A's origin is the centre of mass of the link and
        of all links that hang under it in the tree, and A's axes are the root frame's.

    Attributes
    ----------
    offset_position, offset_quaternion : ndarray
        Frame A in the link, [m] and xyzw; change with `set_offset`.

    """

    _default_axes = 'goal'

    def __init__(self, name: str = '', kind: str = 'frame') -> None:
        super().__init__(name)
        self._enabled = True
        self.offset_position: Array = np.zeros(3)
        self.offset_quaternion: Array = np.array((0.0, 0.0, 0.0, 1.0))
        self._offset_matrix: Array = np.eye(4)
        self._axes = self._default_axes
        self._weight = 1.0
        self._tolerance: tuple[float, float] | None = None
        self._distance = 0.0
        self.kind = kind
        self.set_dof(*DOF)

    def set_dof(self, *dofs: int | str) -> None:
        """Choose the axes that must agree: any of X Y Z EX EY EZ, in any order, or none."""
        self._choose(parse_dofs(dofs))

    @property
    def kind(self) -> str:
        """Say what the rows are: one of `KINDS`."""
        return self._kind

    @kind.setter
    def kind(self, value: str) -> None:
        self._kind = _one_of(f'kind of {shown(self.name)}', value, KINDS)
        self._count_graph_edit()

    @property
    def axes(self) -> str:
        """Whose axes `dof` counts in: 'world' (root frame), 'goal' (frame B) or 'link' (A)."""
        return self._axes

    @axes.setter
    def axes(self, value: str) -> None:
        self._axes = _one_of(f'axes of {shown(self.name)}', value, AXES)
        self._count_graph_edit()

    @property
    def enabled(self) -> bool:
        """Whether it takes part in a solve; counts from the next one on."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = bool(value)
        self.revision.count_ask()

    @property
    def weight(self) -> float:
        """Factor of the rows beside others of its priority; 0 = takes no part."""
        return self._weight

    @weight.setter
    def weight(self, value: float) -> None:
        self._weight = _at_least_zero(f'weight of {shown(self.name)}', value)
        self.revision.count_ask()

    @property
    def tolerance(self) -> tuple[float, float] | None:
        """Residual ([m], [rad]) that counts as met; None = the solver's thresholds."""
        return self._tolerance

    @tolerance.setter
    def tolerance(self, value: float | Sequence[float] | None) -> None:
        name = f'tolerance of {shown(self.name)}'
        if value is not None:
            both = list(value) if isinstance(value, Sequence) else [value, value]
            if len(both) != 2:
                raise ShapeError(name, 'one number, or two: [m] and [rad]', str(value))
            value = (_at_least_zero(name, both[0]), _at_least_zero(name, both[1]))
        self._tolerance = value
        self.revision.count_ask()

    @property
    def distance(self) -> float:
        """Wanted distance of the two origins [m], for kind 'distance'."""
        return self._distance

    @distance.setter
    def distance(self, value: float) -> None:
        self._distance = _at_least_zero(f'distance of {shown(self.name)}', value)
        self.revision.count_ask()

    def set_offset(
        self, position: ArrayLike = (0, 0, 0), quat_xyzw: ArrayLike = (0, 0, 0, 1)
    ) -> None:
        """
        Place frame A in the link that is closed on.

        Parameters
        ----------
        position : array_like, shape (3,)
            [m], in the link's frame.
        quat_xyzw : array_like, shape (4,)
            Orientation in the link's frame; normalised.

        """
        offset = Frame(f'offset of {self.name}')
        offset.set_position(*_vector(f'offset position of {shown(self.name)}', position, 3))
        offset.set_quaternion(*_vector(f'offset quaternion of {shown(self.name)}', quat_xyzw, 4))
        self.offset_position, self.offset_quaternion = offset.position, offset.quaternion
        self._offset_matrix = pose_matrix(offset.position, offset.quaternion)
        self._count_graph_edit()

    def _count_move(self) -> None:
        self.revision.count_ask()

    def add_child(self, child: Frame) -> None:
        """Refuse: goals and closures carry nothing."""
        raise TopologyError(
            f'{shown(self.name)} is a {type(self).__name__.lower()}, it takes no child '
            f'({shown(child.name)}): make_closure(link) says which link it acts on'
        )

    def get_residual(self) -> Array:
        """
        Return the rows that must vanish, at the current joint values.

        Returns
        -------
        ndarray, shape (rows,)
            Kind frame: the chosen components of A's origin seen from B [m], then of the rotation
            vector log(R) [rad], both in the chosen axes. With exactly two rotational axes the
            third axes of A and B are to be parallel, and the rows are the components of the
            smallest rotation that takes B's onto A's. Kind universal: three components [m] in B,
            then A's y axis times B's x axis. Kind distance: |p_AB| - distance [m]. Kind look_at:
            angle between A's z axis and the sight of B's origin [rad], times the direction in A's
            xy plane in which it is seen. Kind centre_of_mass: as kind frame, X Y Z only.

        Raises
        ------
        TopologyError
            If it closes on no link yet.

        """
        frame_b, frame_a = self._closing_frames()
        return residual_rows(self.kind, self.axes, self.dof_flags, self.distance, frame_a, frame_b)

    def _closing_frames(self) -> tuple[Array, Array]:
        here, there = super()._closing_frames()
        if self.kind == 'centre_of_mass' and self.child is not None:
            centre = np.eye(4)
            centre[:3, 3] = self.child.get_centre_of_mass_below()
            return here, centre
        return here, there @ self._offset_matrix


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise OptionError(name, value, ' '.join(allowed))
    return value


def _at_least_zero(name: str, value: float) -> float:
    number = float(value)
    if not 0.0 <= number < np.inf:
        raise OptionError(name, value, 'a finite number, 0 or more')
    return number


def _vector(name: str, values: ArrayLike, count: int) -> list[float]:
    array = np.asarray(values, dtype=float)
    if array.shape != (count,):
        raise ShapeError(name, f'shape ({count},)', f'shape {array.shape}')
    return [float(value) for value in array]
