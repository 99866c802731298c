"""A rigid body of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ik_node.errors import TopologyError
from ik_node.model.frame import Frame
from ik_node.model.moving_frame import MovingFrame

if TYPE_CHECKING:
    from ik_node.model.joint import Joint


class Link(Frame):
    """
    A rigid body; only joints hang under it.

    Attributes
    ----------
    closure_joints : list of Joint
        The joints, goals and closures that close onto this link.

    """

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self.closure_joints: list[Joint] = []

    def add_child(self, child: Frame) -> None:
        """
        Hang a joint, goal or closure under this link.

        Raises
        ------
        TopologyError
            If it is not a joint, or as in `Frame.add_child`.

        """
        if not isinstance(child, MovingFrame):
            raise TopologyError(
                f'{child.name!r} cannot become a child of link {self.name!r}: only joints can'
            )
        super().add_child(child)
