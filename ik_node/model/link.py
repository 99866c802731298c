"""A rigid body of the robot."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.errors import shown, TopologyError
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.residual import residual_rows
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Connector(Frame):
    """
    A frame that connects its parent with a link: a joint carries it, a closure closes on it.

    Joints, goals and closures can all close on a link that hangs elsewhere in the tree: their
    frame and that link's frame must coincide.

    Parameters
    ----------
    name : str
        How messages and results call it.

    Attributes
    ----------
    dof : list of DOF
        Its axes, in enum order; change with `set_dof`. A joint moves on them, a goal or closure
        constrains them.
    dof_flags : ndarray, shape (6,), bool
        Which axes it has.
    child : Link or None
        The link it carries, or closes on.
    is_closure : bool
        Whether it closes on its child.

    """

    is_joint = True

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self.dof: list[DOF] = []
        self.dof_flags = np.zeros(6, dtype=bool)
        self.child: Link | None = None
        self.is_closure = False

    def _choose(self, dofs: Sequence[DOF]) -> None:
        self.dof = list(dofs)
        self.dof_flags[:] = [member in self.dof for member in DOF]
        self._count_graph_edit()

    def partners(self) -> list[Link]:
        """Return the link that it closes on, if it does."""
        return [self.child] if self.is_closure and self.child is not None else []

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
            If it closes on no link.

        """
        here, there = self._closing_frames()
        rows = residual_rows('frame', 'world', np.ones(6, dtype=bool), 0.0, here, there)
        return rows[:3], rows[3:]

    def _closing_frames(self) -> tuple[Array, Array]:
        """Return the 4x4 root-frame poses of the joint's side and of the link's side."""
        if not self.is_closure or self.child is None:
            raise TopologyError(
                f'joint {shown(self.name)} is not a closure: make_closure(link) first'
            )
        return self.matrix_world, self.child.matrix_world


class Link(Frame):
    """
    A rigid body; only joints hang under it.

    Attributes
    ----------
    closure_joints : list of Connector
        The joints, goals and closures that close onto this link.
    mass : float
        [kg]; 0 = none.
    centre_of_mass : ndarray, shape (3,)
        [m], in the link's frame.

    """

    is_link = True

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self.closure_joints: list[Connector] = []
        self.mass = 0.0
        self.centre_of_mass: NDArray[np.float64] = np.zeros(3)

    def partners(self) -> list[Connector]:
        """Return the joints, goals and closures that close on this link."""
        return self.closure_joints

    def links_below(self) -> list[Link]:
        """Return this link and all links that hang under it in the tree."""
        found: list[Link] = []

        def collect(frame: Frame) -> None:
            if isinstance(frame, Link):
                found.append(frame)

        self.traverse(collect)
        return found

    def get_centre_of_mass_below(self) -> NDArray[np.float64]:
        """
        Return the centre of mass of this link and of all links that hang under it in the tree.

        Returns
        -------
        ndarray, shape (3,)
            [m], root frame.

        Raises
        ------
        TopologyError
            If none of them has a mass.

        """
        bodies = [body for body in self.links_below() if body.mass > 0.0]
        if not bodies:
            raise TopologyError(
                f'{shown(self.name)} and the links below it have no mass, so no centre of mass: '
                f'set Link.mass, or give the links of the description an <inertial>'
            )
        places = [
            body.matrix_world[:3, :3] @ body.centre_of_mass + body.matrix_world[:3, 3]
            for body in bodies
        ]
        masses = [body.mass for body in bodies]
        centre: NDArray[np.float64] = np.average(places, axis=0, weights=masses)
        return centre

    def add_child(self, child: Frame) -> None:
        """
        Hang a joint, goal or closure under this link.

        Raises
        ------
        TopologyError
            If it is not a joint, or as in `Frame.add_child`.

        """
        if not child.is_joint:
            raise TopologyError(
                f'{shown(child.name)} cannot become a child of link {shown(self.name)}: '
                f'only joints can'
            )
        super().add_child(child)
