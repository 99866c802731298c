"""Conversion of a model graph to links and joints that URDF can express."""

from __future__ import annotations

from dataclasses import dataclass, field

from ik_node.description.description import Description, WORLD
from ik_node.description.unknown_name import free_name
from ik_node.description.writers.closure_type import SEVERAL_TYPES, value_type
from ik_node.description.writers.number_text import axis_of, composed, same_turn
from ik_node.errors import TopologyError
from ik_node.model.dof import DOF, DOF_NAMES
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import (
    cross,
    quat_between,
    quat_conjugate,
    quat_identity,
    quat_to_matrix,
)
from ik_node.model.tree import MOTION_ORDER
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Pose = tuple[Array, Array]


@dataclass
class PlainJoint:
    """
    A joint in URDF's terms: its moved frame is the frame of its child link.

    Attributes
    ----------
    name, type_name, parent, child : str
    pose : (ndarray, ndarray)
        Pose of the joint in its parent link: position [m] and quaternion (xyzw).
    axis : ndarray or None
        Unit vector in the joint frame.
    made_from : Joint or None
        The joint of the model; None for a joint that was added for a pose.
    dof : DOF or None
        The axis of the model's joint; None for all axes, or none.

    """

    name: str
    type_name: str
    parent: str
    child: str
    pose: Pose
    axis: Array | None = None
    made_from: Joint | None = None
    dof: DOF | None = None


# A link's origin closer than this to the axis [m] counts as on the axis.
ON_AXIS = 1e-14
Z_AXIS = (0.0, 0.0, 1.0)


@dataclass
class PlainTree:
    """
    The links and joints of a URDF in the order in which they are written.

    Attributes
    ----------
    links : list of str
        Added links come just before the link that they carry.
    joints : list of PlainJoint

    """

    links: list[str] = field(default_factory=list)
    joints: list[PlainJoint] = field(default_factory=list)


def plain_tree(description: Description) -> PlainTree:
    """
    Convert a description to URDF's terms; joint values keep their names, order and meaning.

    The model is more general than URDF in three respects. A link may have any pose in the moved
    frame of its joint: if its origin is off the axis, a massless link is added and the link is
    fixed to it. A joint may have any set of axes: sets without a name in URDF, and joints with
    limits on several axes, become one joint per axis, named NAME.X, NAME.EZ and so on. A root may
    be a joint or have a pose: it is then connected to a link `world`.

    Raises
    ------
    TopologyError
        If a joint has no child link.

    """
    return _Writer(description).tree


class _Writer:
    def __init__(self, description: Description) -> None:
        self._description = description
        self._link_names = set(description.links)
        self._joint_names = set(description.joints)
        self._before: dict[str, list[str]] = {}
        self._anchor: str | None = None
        self.tree = PlainTree()
        for joint in description.joints.values():
            self._write(joint)
        for root in description.roots:
            if isinstance(root, Link) and not _is_identity(_pose_of(root)):
                name = self._free(f'{root.name}__pose', self._joint_names)
                self._add(PlainJoint(name, 'fixed', self._world(), root.name, _pose_of(root)))
        self.tree.links = self._links()

    def _links(self) -> list[str]:
        """Return the names of all links, added ones just before the links that they carry."""
        known = self._description.links
        links = [] if self._anchor is None or self._anchor in known else [self._anchor]
        for name in known:
            links += [*self._before.get(name, ()), name]
        return links

    def _write(self, joint: Joint) -> None:
        if joint.child is None or joint.is_closure:
            raise TopologyError(
                f'the joint {joint.name!r} carries no link; URDF cannot express that'
            )
        start, child = _pose_of(joint), joint.child
        parent = self._world() if joint.parent is None else joint.parent.name
        if not joint.dof:
            pose = composed(start, _pose_of(child))
            self._add(PlainJoint(joint.name, 'fixed', parent, child.name, pose, made_from=joint))
        elif len(joint.dof) == 1:
            self._motion(joint, joint.dof[0], joint.name, parent, start)
        elif tuple(joint.dof) in SEVERAL_TYPES and not _is_limited(joint):
            self._several(joint, parent)
        else:
            self._one_by_one(joint, parent)

    def _motion(self, joint: Joint, dof: DOF, name: str, parent: str, start: Pose) -> None:
        """Write the last axis before the child link."""
        child = joint.child
        if child is None:
            return
        pose, direction = _pose_of(child), np.eye(3)[dof % 3]
        plain = PlainJoint(name, value_type(joint, dof), parent, child.name, start)
        plain.made_from, plain.dof = joint, dof
        aside = np.max(np.abs(cross(direction, pose[0])))
        off_axis = dof.is_rotation and aside > ON_AXIS * max(1.0, float(np.max(np.abs(pose[0]))))
        if off_axis:
            plain.axis = direction
            self._add_with_end(plain, child)
            return
        plain.pose = composed(start, pose)
        plain.axis = axis_of(quat_to_matrix(pose[1]).T @ direction)
        self._add(plain)

    def _several(self, joint: Joint, parent: str) -> None:
        """Write a joint whose axes form a floating, spherical or planar joint."""
        child, start = joint.child, _pose_of(joint)
        if child is None:
            return
        type_name = SEVERAL_TYPES[tuple(joint.dof)]
        plain = PlainJoint(joint.name, type_name, parent, child.name, start, made_from=joint)
        pose = _pose_of(child)
        if type_name == 'planar':
            normal = next(dof for dof in joint.dof if dof.is_rotation)
            plain.axis = np.eye(3)[normal - 3]
            slanting = axis_of(quat_to_matrix(pose[1]).T @ Z_AXIS)
            back = quat_conjugate(quat_between(Z_AXIS, slanting))
            # The reader aligns z with an oblique axis and rotates the link back. It does
            # not rotate for an axis exactly along X, Y or Z.
            found = same_turn(back, pose[1]) and float(slanting.max()) < 1.0
            if normal is DOF.EZ and not np.any(pose[0]) and found:
                plain.pose, plain.axis = composed(start, pose), slanting
                self._add(plain)
                return
        if _is_identity(pose):
            self._add(plain)
        else:
            self._add_with_end(plain, child)

    def _one_by_one(self, joint: Joint, parent: str) -> None:
        """Write each axis as a separate joint, in the order in which they act."""
        acting = [dof for dof in MOTION_ORDER if dof in joint.dof]
        first, start = len(self.tree.joints), _pose_of(joint)
        for dof in acting:
            name = self._free(f'{joint.name}.{DOF_NAMES[dof]}', self._joint_names)
            if dof is acting[-1] or joint.child is None:
                self._motion(joint, dof, name, parent, start)
                continue
            between = self._free(f'{name}__link', self._link_names)
            self._before.setdefault(joint.child.name, []).append(between)
            self._add(
                PlainJoint(
                    name,
                    value_type(joint, dof),
                    parent,
                    between,
                    start,
                    np.eye(3)[dof % 3],
                    joint,
                    dof,
                )
            )
            parent, start = between, (np.zeros(3), quat_identity())
        made = self.tree.joints[first:]
        # In the file the joints have the order of the values.
        self.tree.joints[first:] = sorted(
            made, key=lambda plain: len(DOF) if plain.dof is None else plain.dof
        )

    def _add_with_end(self, plain: PlainJoint, child: Link) -> None:
        """Add a joint that carries a massless link, and fix the child to that link."""
        between = self._free(f'{plain.name}__moved', self._link_names)
        self._before.setdefault(child.name, []).append(between)
        plain.child = between
        self._add(plain)
        name = self._free(f'{plain.name}__fixed', self._joint_names)
        self._add(PlainJoint(name, 'fixed', between, child.name, _pose_of(child)))

    def _add(self, plain: PlainJoint) -> None:
        self.tree.joints.append(plain)

    def _world(self) -> str:
        """Return the name of the fixed link, which is added if needed."""
        if self._anchor is None:
            world = self._description.links.get(WORLD)
            if world is not None and world.parent is None and _is_identity(_pose_of(world)):
                self._anchor = WORLD
            else:
                self._anchor = self._free(WORLD, self._link_names)
        return self._anchor

    @staticmethod
    def _free(name: str, taken: set[str]) -> str:
        free = free_name(name, taken)
        taken.add(free)
        return free


def _pose_of(frame: Frame) -> Pose:
    return frame.position.copy(), frame.quaternion.copy()


def _is_identity(pose: Pose) -> bool:
    return not np.any(pose[0]) and same_turn(pose[1], quat_identity())


def _is_limited(joint: Joint) -> bool:
    """Return True if a value has limits, which URDF does not support on several axes."""
    arrays = (joint.min_dof_limit, joint.max_dof_limit, joint.max_velocity, joint.max_effort)
    return bool(np.isfinite([array[joint.dof] for array in arrays]).any())
