"""What a reader makes of a robot description."""

from __future__ import annotations

from dataclasses import dataclass, field

from ik_node.description.loop import LoopSet
from ik_node.model.closure import Closure
from ik_node.model.joint import Joint
from ik_node.model.link import Link

# The link that stands still, whatever floats: in a closure it need not be declared.
WORLD = 'world'


@dataclass
class Description:
    """
    The model graph of one description, with its names.

    Attributes
    ----------
    name : str
        The robot's.
    source : str
        File name, or '<text>'.
    text : bytes or str
        The description as it came.
    dialect : str
        What was recognised, for the log.
    roots : list of Link or Joint
        One per tree; with a floating base the 6-DoF joint above the tree's first link.
    links : dict of str to Link
        In the description's order, as are the following.
    joints : dict of str to Joint
        Movable and fixed ones.
    closures : dict of str to Closure
    loops : list of LoopSet
        What the description itself says about loops; `closures` has what is used of it.
    actuated : list of str
        Joints with a motor; empty = not known.
    notes : list of str
        What was guessed, left out or found odd.
    rounded_angles : int
        How many angles of poses are written as rounded fractions of pi.

    """

    name: str
    source: str = '<text>'
    text: bytes | str = ''
    dialect: str = ''
    roots: list[Link | Joint] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    closures: dict[str, Closure] = field(default_factory=dict)
    loops: list[LoopSet] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rounded_angles: int = 0

    @property
    def root(self) -> Link | Joint:
        """Return the first of the roots."""
        return self.roots[0]

    @property
    def joint_order(self) -> list[Joint]:
        """Return the movable joints, in the description's order."""
        return [joint for joint in self.joints.values() if joint.dof]
