"""Names of joint and closure types in files."""

from __future__ import annotations

from ik_node.errors import TopologyError
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.joint import Joint
from ik_node.model.link import Link
import numpy as np

# URDF's type by axes. The plane of a planar joint is normal to its rotation axis.
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

    A joint with other axes has the axes as its type: 'X EZ'.
    """
    if len(joint.dof) == 1:
        return value_type(joint, joint.dof[0])
    if not joint.dof:
        return 'fixed'
    return SEVERAL_TYPES.get(tuple(joint.dof)) or ' '.join(DOF_NAMES[dof] for dof in joint.dof)


def value_type(joint: Joint, dof: DOF) -> str:
    """Return the type of a joint that has only this axis."""
    if not dof.is_rotation:
        return 'prismatic'
    limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
    return 'continuous' if np.isinf(limits).all() else 'revolute'


# The type names that other tools read, if there are several for one set of axes.
URDF_TYPES = (
    *('fixed', 'spherical', 'revolute', 'prismatic'),
    *('planar', 'floating', 'universal', 'distance'),
)
# The type names in ik_node's closure annotations.
OWN_TYPES = ('weld', 'point', 'hinge', 'slider', 'planar', 'universal', 'distance')


def closure_type(closure: Closure, names: tuple[str, ...]) -> str | None:
    """Return the type of a closure among some names; None if only its axes describe it."""
    for name in names:
        kind, dofs = CLOSURE_TYPES[name]
        if closure.kind == kind and (kind != 'frame' or parse_dofs(dofs) == tuple(closure.dof)):
            return name
    return None


def ends_of(closure: Closure) -> tuple[Link, Link]:
    """
    Return the links of frame_a and frame_b.

    Raises
    ------
    TopologyError
        If it does not connect two links, or is of a kind that cannot be written.

    """
    if not isinstance(closure.child, Link) or not isinstance(closure.parent, Link):
        raise TopologyError(f'the closure {closure.name!r} does not connect two links')
    if closure.kind not in ('frame', 'universal', 'distance'):
        raise TopologyError(
            f'the closure {closure.name!r} is of kind {closure.kind!r}, which cannot be '
            'written to a file'
        )
    return closure.child, closure.parent
