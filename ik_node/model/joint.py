"""A joint: a frame whose child link moves along and about up to six axes."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.errors import ShapeError, shown, TopologyError
from ik_node.model.coupling import Coupling
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.link import Link
from ik_node.model.motion_values import MotionValues
from ik_node.model.revision import Revision
from ik_node.model.rotation import matrix_to_quat, quat_to_rotation_vector
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Joint(MotionValues):
    """
    A frame that moves its child link along and about its axes.

    A joint whose child hangs elsewhere in the tree is a closure: its moved frame and that link's
    frame must coincide.

    Parameters
    ----------
    name : str
        How messages and results call it.

    Attributes
    ----------
    child : Link or None
        The link it carries, or closes on.
    is_closure : bool
    locked : ndarray, shape (6,), bool
        Which axes the solver leaves alone.
    couplings : dict of DOF to Coupling
        Axes that follow another joint; change with `couple`, `uncouple`.

    """

    is_joint = True

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self.child: Link | None = None
        self.is_closure = False
        self.locked = np.zeros(6, dtype=bool)
        self.couplings: dict[DOF, Coupling] = {}
        self._followed = False

    # -- degrees of freedom

    def set_dof(self, *dofs: int | str) -> None:
        """
        Choose the axes; values, targets, rest pose, limits, locks and couplings are reset.

        Raises
        ------
        OptionError
            If they are not in the order X Y Z EX EY EZ, or one comes twice.

        """
        super().set_dof(*dofs)
        self.locked.fill(False)
        self.couplings.clear()
        Revision.count_setting()
        self._count_graph_edit()

    def lock(self, dof: int | str | None = None) -> None:
        """Have the solver leave an axis, or with None all axes, as they are."""
        self._set_locked(dof, True)

    def unlock(self, dof: int | str | None = None) -> None:
        """Undo `lock`."""
        self._set_locked(dof, False)

    def _set_locked(self, dof: int | str | None, locked: bool) -> None:
        for axis in self.dof if dof is None else [dof]:
            self.locked[self._own(axis)] = locked
        Revision.count_setting()

    # -- couplings

    def couple(
        self, dof: int | str, master: Joint, master_dof: int | str, coefficients: Iterable[float]
    ) -> None:
        """
        Make an axis follow another joint's: q = sum over i of c_i q_master**i.

        Raises
        ------
        TopologyError
            If the master follows this axis, directly or through others.

        """
        axis, master_axis = self._own(dof), master._own(master_dof)
        numbers = tuple(float(number) for number in coefficients)
        if not numbers or not np.isfinite(numbers).all():
            raise ShapeError(
                f'coefficients of the coupling of {shown(self.name)}',
                'one or more finite numbers',
                str(numbers),
            )
        # A joint that nobody has ever followed closes no circle: chains are built in linear time.
        if self._followed or master is self:
            self._check_circle(axis, master, master_axis)
        master._followed = True
        self.couplings[axis] = Coupling(master, master_axis, numbers)
        Revision.count_setting()
        self._count_graph_edit()

    def _check_circle(self, axis: DOF, master: Joint, master_axis: DOF) -> None:
        joint, at = master, master_axis
        path = [self, master]
        while joint is not self or at != axis:
            following = joint.couplings.get(at)
            if following is None:
                return
            joint, at = following.master, following.master_dof
            path.append(joint)
        names = [f'{shown(each.name)}' for each in path]
        raise TopologyError('coupling in a circle: ' + ' follows '.join(names))

    def uncouple(self, dof: int | str) -> None:
        """Undo `couple`."""
        self.couplings.pop(parse_dofs([dof])[0], None)
        Revision.count_setting()
        self._count_graph_edit()

    # -- children and closures

    def add_child(self, child: Frame) -> None:
        """
        Hang the one child link under this joint.

        Raises
        ------
        TopologyError
            If it is not a link, or the joint has a child or closes on a link already.

        """
        link = self._possible_child(child)
        super().add_child(link)
        self.child, self.is_closure = link, False
        self._count_graph_edit()

    def make_closure(self, link: Link) -> None:
        """
        Ask that this joint's frame and the frame of a link elsewhere in the tree coincide.

        Raises
        ------
        TopologyError
            If it is not a link, or the joint has a child or closes on a link already.

        """
        self.child = self._possible_child(link)
        self.is_closure = True
        link.closure_joints.append(self)
        self._count_graph_edit()
        link._count_graph_edit()

    def remove_child(self, child: Frame) -> None:
        """
        Take the child link off, or undo the closure on it.

        Raises
        ------
        TopologyError
            If this joint neither carries it nor closes on it.

        """
        if self.child is None or self.child is not child:
            raise TopologyError(
                f'{shown(child.name)} is not the child of joint {shown(self.name)}'
            )
        if self.is_closure:
            closing = self.child.closure_joints
            closing[:] = [joint for joint in closing if joint is not self]
            self.child._count_graph_edit()
        else:
            super().remove_child(child)
        self.child, self.is_closure = None, False
        self._count_graph_edit()

    def _possible_child(self, child: Frame) -> Link:
        if not isinstance(child, Link):
            raise TopologyError(
                f'{shown(child.name)} cannot become the child of joint '
                f'{shown(self.name)}: only links can'
            )
        if self.child is not None:
            verb = 'closes on' if self.is_closure else 'carries'
            raise TopologyError(
                f'joint {shown(self.name)} cannot take {shown(child.name)}: it {verb} '
                f'{shown(self.child.name)}'
            )
        return child

    def get_closure_error(self) -> tuple[Array, Array]:
        """
        Return how far this closure's frame is from its link's.

        Returns
        -------
        position : ndarray, shape (3,)
            Origin of the joint minus that of the link [m], root axes.
        rotation : ndarray, shape (3,)
            Rotation vector log(R_joint R_link^T) [rad], root axes.

        Raises
        ------
        TopologyError
            If the joint is not a closure.

        """
        here, there = self._closing_frames()
        return here[:3, 3] - there[:3, 3], quat_to_rotation_vector(
            matrix_to_quat(here[:3, :3] @ there[:3, :3].T)
        )

    def _closing_frames(self) -> tuple[Array, Array]:
        """Return the 4x4 root-frame poses of the joint's side and of the link's side."""
        if not self.is_closure or self.child is None:
            raise TopologyError(
                f'joint {shown(self.name)} is not a closure: make_closure(link) first'
            )
        return self.matrix_world, self.child.matrix_world
