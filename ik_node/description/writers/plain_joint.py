"""A joint in URDF's words."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pose = tuple[Array, Array]


@dataclass
class PlainJoint:
    """
    A joint as URDF states it: its moved frame is its child link's.

    Attributes
    ----------
    name, type_name, parent, child : str
    pose : (ndarray, ndarray)
        Of the joint in its parent link: position [m] and quaternion (xyzw).
    axis : ndarray or None
        Unit vector in the joint frame.
    made_from : Joint or None
        The joint of the model; None for what was put in to hold a pose.
    dof : DOF or None
        Which of its values this is; None where it is all of them, or none.

    """

    name: str
    type_name: str
    parent: str
    child: str
    pose: Pose
    axis: Array | None = None
    made_from: Joint | None = None
    dof: DOF | None = None
