"""The kinematics of an MJCF: angles in [rad], with frames and classes resolved."""

from __future__ import annotations

from dataclasses import dataclass, field

from ik_node.model.rotation import quat_identity
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Range = tuple[float, float]
UNLIMITED = (-np.inf, np.inf)


@dataclass
class MjcfJoint:
    """
    A joint of a body.

    Attributes
    ----------
    name, kind : str
        The kind is hinge, slide, ball or free.
    position, axis : ndarray, shape (3,)
        In the body's frame [m]; the axis is a unit vector.
    ref : float
        Joint value of the pose in the file [rad or m].
    lower, upper : float
        Limits [rad or m]; infinite = no limit. Upper of a ball: its largest angle.
    efforts : (float, float)
        Range of the total effort of the actuators of a hinge [N m] or slide [N].
    is_named : bool
        Whether the name is in the file.

    """

    name: str
    kind: str
    position: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array((0.0, 0.0, 1.0)))
    ref: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    efforts: Range = UNLIMITED
    is_named: bool = True


@dataclass
class MjcfSite:
    """A named frame in a body, with its position [m] and orientation in the body."""

    name: str
    position: Array
    quat_xyzw: Array


@dataclass
class MjcfBody:
    """
    A body; the first body is the world.

    Attributes
    ----------
    name : str
    parent : int
        Index of the parent in the list of bodies; 0 for the world itself.
    position, quat_xyzw : ndarray
        Pose in the file, in the parent's frame [m].
    mass : float
        Mass [kg]; nan = not known.
    centre_of_mass : ndarray, shape (3,)
        In the body's frame [m].
    is_named : bool
        Whether the name is in the file.

    """

    name: str
    parent: int = 0
    position: Array = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: Array = field(default_factory=quat_identity)
    joints: list[MjcfJoint] = field(default_factory=list)
    sites: list[MjcfSite] = field(default_factory=list)
    mocap: bool = False
    mass: float = 0.0
    centre_of_mass: Array = field(default_factory=lambda: np.zeros(3))
    is_named: bool = True


@dataclass
class MjcfConstraint:
    """
    A connect or weld equality: a frame in one body coincides with a frame in another.

    Attributes
    ----------
    name, kind : str
        The kind is weld, or point (origins only).
    bodies : tuple of int
        Indices in the list of bodies.
    positions, quats_xyzw : list of ndarray
        One per body.
    enabled : bool
    line : int or None

    """

    name: str
    kind: str
    bodies: tuple[int, int]
    positions: list[Array]
    quats_xyzw: list[Array]
    enabled: bool = True
    line: int | None = None


@dataclass
class MjcfCoupling:
    """
    A joint equality, q - ref = sum over i of c_i (q_master - ref_master)**i.

    Attributes
    ----------
    joint : str
    master : str or None
        None = the joint stays at ref + c_0.
    coefficients : list of float
    enabled : bool
    line : int or None

    """

    joint: str
    master: str | None
    coefficients: list[float]
    enabled: bool = True
    line: int | None = None

    @property
    def terms(self) -> dict[str, list[float]]:
        """Return the equality as terms p_k whose sum is 0, see `MjcfSum`."""
        if self.master is None:
            return {self.joint: [-self.coefficients[0], 1.0]}
        return {self.joint: [0.0, 1.0], self.master: [-c for c in self.coefficients]}


@dataclass
class MjcfSum:
    """
    An equality of fixed tendons, sum over k of p_k(q_k - ref_k) = 0.

    Attributes
    ----------
    terms : dict of str to list of float
        Joint -> coefficients of its polynomial p_k.
    enabled : bool
    line : int or None

    """

    terms: dict[str, list[float]]
    enabled: bool = True
    line: int | None = None


@dataclass
class Mjcf:
    """
    The kinematics of an MJCF.

    Attributes
    ----------
    bodies : list of MjcfBody
        Parents before children, depth first, as MuJoCo counts them.
    equalities : list of MjcfConstraint, MjcfCoupling or MjcfSum
        In the file's order.
    actuated : list of str
        Joints with an actuator.

    """

    bodies: list[MjcfBody]
    equalities: list[MjcfConstraint | MjcfCoupling | MjcfSum] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)

    @property
    def joints(self) -> list[MjcfJoint]:
        """Return the joints of all bodies, in order."""
        return [joint for body in self.bodies for joint in body.joints]
