"""A rigid body of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ik_node.errors import shown, TopologyError
from ik_node.model.frame import Frame
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.model.connector import Connector


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
