"""What URDF calls a joint of the model."""

from __future__ import annotations

from ik_node.model.dof import DOF, DOF_NAMES
from ik_node.model.joint import Joint
import numpy as np

# axes -> URDF's type; the plane of a planar joint is normal to the axis that it turns about
SEVERAL_TYPES: dict[tuple[DOF, ...], str] = {
    tuple(DOF): 'floating',
    (DOF.EX, DOF.EY, DOF.EZ): 'spherical',
    (DOF.X, DOF.Y, DOF.EZ): 'planar',
    (DOF.X, DOF.Z, DOF.EY): 'planar',
    (DOF.Y, DOF.Z, DOF.EX): 'planar',
}


def joint_type(joint: Joint) -> str:
    """
    Return fixed, revolute, continuous, prismatic, spherical, planar or floating.

    A joint with other axes is called by them: 'X EZ'.
    """
    if len(joint.dof) == 1:
        return value_type(joint, joint.dof[0])
    if not joint.dof:
        return 'fixed'
    return SEVERAL_TYPES.get(tuple(joint.dof)) or ' '.join(DOF_NAMES[dof] for dof in joint.dof)


def value_type(joint: Joint, dof: DOF) -> str:
    """Return what a joint with this axis alone would be called."""
    if not dof.is_rotation:
        return 'prismatic'
    limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
    return 'continuous' if np.isinf(limits).all() else 'revolute'
