"""What every dialect's loops are reduced to."""

from __future__ import annotations

from dataclasses import dataclass, field

from ik_node.model.dof import DOF
from ik_node.model.rotation import quat_identity
import numpy as np
from numpy.typing import NDArray

MOST_COEFFICIENTS = 10  # of a coupling


@dataclass
class LoopFrame:
    """
    A frame fixed in a link.

    Attributes
    ----------
    link : str
    position : ndarray, shape (3,)
        [m], in the link's frame.
    quat_xyzw : ndarray, shape (4,)

    """

    link: str
    position: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: NDArray[np.float64] = field(default_factory=quat_identity)


@dataclass
class Loop:
    """
    One loop: which components of frame_a's pose in frame_b vanish.

    Attributes
    ----------
    name : str
    frame_a, frame_b : LoopFrame
    type_name : str
        A key of `ik_node.model.closure.CLOSURE_TYPES`.
    dofs : tuple of DOF or None
        The constrained axes where they are not the type's own.
    distance : float
        [m], for the type 'distance'.
    tolerance : list of float or None
        [m], [rad]: what counts as closed.
    weight : float
        Factor of its rows beside those of other closures, 0 or more.
    enabled : bool
    line : int or None
        Where it was declared.

    """

    name: str
    frame_a: LoopFrame
    frame_b: LoopFrame
    type_name: str = 'weld'
    dofs: tuple[DOF, ...] | None = None
    distance: float = 0.0
    tolerance: list[float] | None = None
    weight: float = 1.0
    enabled: bool = True
    line: int | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """Return the links of frame_a and frame_b."""
        return self.frame_a.link, self.frame_b.link


@dataclass
class CouplingRule:
    """
    One joint value as a polynomial of another, by names.

    Attributes
    ----------
    joint, master : str
        A joint's name, or NAME.EZ where it has several DoF.
    coefficients : list of float
        c_0, c_1, ... of q = sum over i of c_i q_master**i.
    line : int or None

    """

    joint: str
    master: str
    coefficients: list[float]
    line: int | None = None


@dataclass
class LoopSet:
    """
    What one source says about loops.

    Attributes
    ----------
    source : str
        File name, or '<text>'.
    dialect : str
        For the log; '' when it says nothing.
    loops : list of Loop
    couplings : list of CouplingRule
    actuated : list of str or None
        None when not said.

    """

    source: str
    dialect: str = ''
    loops: list[Loop] = field(default_factory=list)
    couplings: list[CouplingRule] = field(default_factory=list)
    actuated: list[str] | None = None
