"""What a closure's type is called in files."""

from __future__ import annotations

from ik_node.errors import shown, TopologyError
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.joint import Joint
from ik_node.model.link import Link
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


# The names that other tools read, where there are several for one set of axes.
URDF_TYPES = (
    *('fixed', 'spherical', 'revolute', 'prismatic'),
    *('planar', 'floating', 'universal', 'distance'),
)
# Ours, in closure annotations.
OWN_TYPES = ('weld', 'point', 'hinge', 'slider', 'planar', 'universal', 'distance')


def closure_type(closure: Closure, names: tuple[str, ...]) -> str | None:
    """Return which of some types a closure is; None = only its axes say."""
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
        If it is not between two links, or of a kind that no file can say.

    """
    if not isinstance(closure.child, Link) or not isinstance(closure.parent, Link):
        raise TopologyError(f'the closure {shown(closure.name)} does not tie two links')
    if closure.kind not in ('frame', 'universal', 'distance'):
        raise TopologyError(
            f'the closure {shown(closure.name)} is of kind {shown(closure.kind)}, which '
            f'no file can say'
        )
    return closure.child, closure.parent
