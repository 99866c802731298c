"""A model graph in URDF's terms: one joint for each axis, types, numbers and couplings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, hypot, inf, nextafter, pi, remainder
from typing import Any

from ik_node.description.description import CouplingRule, Description, free_name, WORLD
from ik_node.description.digits import exact_angle
from ik_node.errors import TopologyError
from ik_node.model.constraint import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import (
    cross,
    quat_from_euler,
    quat_identity,
    quat_multiply,
    quat_to_matrix,
    unit,
)
from ik_node.model.tree import MOTION_ORDER
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Two rounding errors of double precision, which composed poses add to a number.
ROUNDING = 4.5e-16
DIGITS = (3, 6, 9, 12, 15)
# Smaller rounding errors of a description are not written: all digits were [m], [rad].
LEAST_ROUNDING = 1e-12


def written(numbers: Iterable[float]) -> str:
    """Return exact numbers separated by spaces, integers without a decimal point."""
    return ' '.join(number_text(float(number)) for number in numbers)


def number_text(number: float) -> str:
    """Return the shortest text that reads back to the same number."""
    text = repr(float(number) + 0.0)  # no minus zero
    return text[:-2] if text.endswith('.0') else text


def shortened(numbers: ArrayLike) -> Array:
    """Return numbers rounded to fewer digits if that changes them by rounding errors only."""
    array = np.asarray(numbers, dtype=float)
    for digits in DIGITS:
        short = np.round(array, digits)
        if np.all(np.abs(short - array) <= ROUNDING * np.maximum(1.0, np.abs(array))):
            return np.asarray(short + 0.0, dtype=np.float64)
    return array + 0.0


def axis_of(direction: ArrayLike) -> Array:
    """Return a unit vector, exactly along X, Y or Z if it is so up to rounding."""
    return shortened(unit(direction))


def rpy_of(quat_xyzw: ArrayLike) -> Array:
    """
    Return roll, pitch and yaw [rad] of a unit quaternion, also accurate near 90 degrees pitch.

    No angle is a number that the reader would mistake for a rounded fraction of pi.

    Notes
    -----
    The sum and the difference of roll and yaw are each computed from two components that depend on
    no other angle (Bernardes and Viollet 2022). If one of them is undefined, the rotation does not
    depend on it.

    """
    x, y, z, w = np.asarray(quat_xyzw, dtype=float).tolist()
    up, down = hypot(x + z, w - y), hypot(x - z, w + y)
    half_sum = atan2(x + z, w - y)
    half_difference = atan2(x - z, w + y)
    if up < 1e-15:
        half_sum = -half_difference
    elif down < 1e-15:
        half_difference = -half_sum
    angles = [half_sum + half_difference, 2.0 * atan2(down, up) - 0.5 * pi]
    angles.append(half_sum - half_difference)
    angles = [remainder(angle, 2.0 * pi) for angle in angles]
    exact = np.array((x, y, z, w))
    for digits in DIGITS:
        short = [round(angle, digits) + 0.0 for angle in angles]
        if max(map(abs, short)) > pi:
            # Near a pitch of 90 degrees roll and yaw may be rounded together, even beyond pi.
            continue
        result = quat_from_euler(*short)
        if min(np.max(np.abs(result - exact)), np.max(np.abs(result + exact))) <= ROUNDING:
            return np.array([_as_read(angle) for angle in short])
    return np.array([_as_read(angle + 0.0) for angle in angles])


def _as_read(angle: float) -> float:
    """Return an angle, changed in its last bit if the reader would mistake it for another."""
    rounded = abs(exact_angle(angle) - angle) > ROUNDING * abs(angle)
    return nextafter(angle, inf) if rounded else angle


def same_turn(quat_a: ArrayLike, quat_b: ArrayLike) -> bool:
    """Return True if two unit quaternions are the same rotation up to rounding."""
    a, b = np.asarray(quat_a, dtype=float), np.asarray(quat_b, dtype=float)
    return bool(min(np.max(np.abs(a - b)), np.max(np.abs(a + b))) <= ROUNDING)


def composed(*poses: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the position [m] and quaternion (xyzw) of a product of poses."""
    position, quat = poses[0]
    for _, (step, rotation) in pairwise(poses):
        if np.any(step):
            position = shortened(position + quat_to_matrix(quat) @ step)
        quat = quat_multiply(quat, rotation)
    return position, unit(quat)


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


def settings_of(closure: Closure, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the type among some names, or the axes, and what differs from the defaults."""
    name, said = closure_type(closure, names), dict[str, Any]()
    if name is None:
        said['dof'] = ' '.join(dof.name for dof in closure.dof)
    else:
        said['type'] = name
    if name == 'distance':
        said['distance'] = float(closure.distance)
    if closure.tolerance is not None:
        said['tolerance'] = floats(closure.tolerance)
    if closure.rounding is not None and max(closure.rounding) > LEAST_ROUNDING:
        said['rounding'] = floats(closure.rounding)
    if closure.weight != 1.0:
        said['weight'] = float(closure.weight)
    if not closure.enabled:
        said['enabled'] = False
    return said


def floats(numbers: Iterable[float]) -> list[float]:
    """Return floats without minus zero."""
    return [float(number) + 0.0 for number in numbers]


def ends_of(closure: Closure) -> tuple[Link, Link]:
    """
    Return the links of frame_a and frame_b.

    TopologyError is raised if it does not connect two links, or is of a kind that cannot be
    written.
    """
    if not isinstance(closure.child, Link) or not isinstance(closure.parent, Link):
        raise TopologyError(f'the closure {closure.name!r} does not connect two links')
    if closure.kind not in ('frame', 'universal', 'distance'):
        raise TopologyError(
            f'the closure {closure.name!r} is of kind {closure.kind!r}, which cannot be '
            'written to a file'
        )
    return closure.child, closure.parent


Pose = tuple[Array, Array]


@dataclass
class PlainJoint:
    """A joint in URDF's terms: its moved frame is the frame of its child link."""

    name: str
    type_name: str
    parent: str
    child: str
    pose: Pose  # Pose of the joint in its parent link: position [m] and quaternion (xyzw)
    axis: Array | None = None  # Unit vector in the joint frame
    # The joint of the model; None for a joint that was added for a pose
    made_from: Joint | None = None
    dof: DOF | None = None  # The axis of the model's joint; None for all axes, or none


# A link's origin closer than this to the axis [m] counts as on the axis.
ON_AXIS = 1e-14


class PlainTree:
    """
    The links and joints of a URDF in the order in which they are written.

    Joint values keep their names, order and meaning. The model is more general than URDF in three
    respects. A link may have any pose in the moved frame of its joint: if its origin is off the
    axis, a massless link is added and the link is fixed to it. A joint may have any set of axes:
    sets without a name in URDF, and joints with limits on several axes, become one joint per axis,
    named NAME.X, NAME.EZ and so on. A root may be a joint or have a pose: it is then connected to
    a link `world`. TopologyError is raised if a joint has no child link.
    """

    def __init__(self, description: Description) -> None:
        self._description = description
        self._link_names = set(description.links)
        self._joint_names = set(description.joints)
        self._before: dict[str, list[str]] = {}
        self._anchor: str | None = None
        self.joints: list[PlainJoint] = []
        for joint in description.joints.values():
            self._write(joint)
        for root in description.roots:
            if isinstance(root, Link) and not _is_identity(_pose_of(root)):
                name = self._free(f'{root.name}__pose', self._joint_names)
                self.joints.append(
                    PlainJoint(name, 'fixed', self._world(), root.name, _pose_of(root))
                )
        self.links = self._links()

    def _links(self) -> list[str]:
        """Return the names of all links, added ones just before the links that they carry."""
        known = self._description.links
        links = [] if self._anchor is None or self._anchor in known else [self._anchor]
        for name in known:
            links += [*self._before.get(name, ()), name]
        return links

    def _write(self, joint: Joint) -> None:
        child = joint.child
        if child is None or joint.is_closure:
            raise TopologyError(
                f'the joint {joint.name!r} carries no link; URDF cannot express that'
            )
        start = _pose_of(joint)
        parent = self._world() if joint.parent is None else joint.parent.name
        if not joint.dof:
            pose = composed(start, _pose_of(child))
            self.joints.append(
                PlainJoint(joint.name, 'fixed', parent, child.name, pose, made_from=joint)
            )
        elif len(joint.dof) == 1:
            self._motion(joint, child, joint.dof[0], joint.name, parent, start)
        elif tuple(joint.dof) in SEVERAL_TYPES and not _is_limited(joint):
            self._several(joint, child, parent)
        else:
            self._one_by_one(joint, child, parent)

    def _motion(
        self, joint: Joint, child: Link, dof: DOF, name: str, parent: str, start: Pose
    ) -> None:
        """Write the last axis before the child link."""
        pose, direction = _pose_of(child), np.eye(3)[dof % 3]
        plain = PlainJoint(name, value_type(joint, dof), parent, child.name, start)
        plain.made_from, plain.dof, plain.axis = joint, dof, direction
        aside = np.max(np.abs(cross(direction, pose[0])))
        if dof.is_rotation and aside > ON_AXIS * max(1.0, float(np.max(np.abs(pose[0])))):
            self._add_with_end(plain, child)
            return
        plain.pose = composed(start, pose)
        plain.axis = axis_of(quat_to_matrix(pose[1]).T @ direction)
        self.joints.append(plain)

    def _several(self, joint: Joint, child: Link, parent: str) -> None:
        """Write a joint whose axes form a floating, spherical or planar joint."""
        start, pose = _pose_of(joint), _pose_of(child)
        type_name = SEVERAL_TYPES[tuple(joint.dof)]
        plain = PlainJoint(joint.name, type_name, parent, child.name, start, made_from=joint)
        if type_name == 'planar':
            normal = next(dof for dof in joint.dof if dof.is_rotation)
            plain.axis = np.eye(3)[normal - 3]
        if _is_identity(pose):
            self.joints.append(plain)
        else:
            self._add_with_end(plain, child)

    def _one_by_one(self, joint: Joint, child: Link, parent: str) -> None:
        """Write each axis as a separate joint, in the order in which they act."""
        acting = [dof for dof in MOTION_ORDER if dof in joint.dof]
        first, start = len(self.joints), _pose_of(joint)
        for dof in acting:
            name = self._free(f'{joint.name}.{DOF_NAMES[dof]}', self._joint_names)
            if dof is acting[-1]:
                self._motion(joint, child, dof, name, parent, start)
                continue
            between = self._free(f'{name}__link', self._link_names)
            self._before.setdefault(child.name, []).append(between)
            plain = PlainJoint(name, value_type(joint, dof), parent, between, start)
            plain.made_from, plain.dof, plain.axis = joint, dof, np.eye(3)[dof % 3]
            self.joints.append(plain)
            parent, start = between, (np.zeros(3), quat_identity())
        # In the file the joints have the order of the values.
        self.joints[first:] = sorted(
            self.joints[first:], key=lambda plain: len(DOF) if plain.dof is None else plain.dof
        )

    def _add_with_end(self, plain: PlainJoint, child: Link) -> None:
        """Add a joint that carries a massless link, and fix the child to that link."""
        between = self._free(f'{plain.name}__moved', self._link_names)
        self._before.setdefault(child.name, []).append(between)
        plain.child = between
        self.joints.append(plain)
        name = self._free(f'{plain.name}__fixed', self._joint_names)
        self.joints.append(PlainJoint(name, 'fixed', between, child.name, _pose_of(child)))

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

    def couplings(self) -> tuple[dict[str, CouplingRule], list[CouplingRule]]:
        """
        Return the couplings that URDF can express, by the name of the follower, and all others.

        URDF has linear couplings between joints with one value each. The others are nonlinear, or
        of joints with several values, or have several masters.
        """
        single = {
            (plain.made_from.name, plain.dof): plain.name
            for plain in self.joints
            if plain.made_from is not None and plain.dof is not None
        }
        mimics: dict[str, CouplingRule] = {}
        others: list[CouplingRule] = []
        for joint in self._description.joints.values():
            for dof, coupling in joint.couplings.items():
                name = single.get((joint.name, dof))
                (master, coefficients), *more = (
                    (
                        single.get((term.master.name, term.master_dof))
                        or term.master.value_name(term.master_dof),
                        _without_zeros(term.coefficients),
                    )
                    for term in coupling.terms
                )
                rule = CouplingRule(
                    name or joint.value_name(dof), master, coefficients, others=more
                )
                follows_one = (coupling.master.name, coupling.master_dof) in single and not more
                if name and follows_one and len(coefficients) <= 2:
                    mimics[name] = rule
                else:
                    others.append(rule)
        return mimics, others

    def motors(self) -> list[str]:
        """Return the names of the actuated joints in the tree."""
        names: list[str] = []
        for motor in self._description.actuated:
            single = [
                plain.name
                for plain in self.joints
                if plain.made_from is not None and plain.made_from.name == motor
            ]
            names += single or [motor]
        return names


def _pose_of(frame: Frame) -> Pose:
    return frame.position.copy(), frame.quaternion.copy()


def _is_identity(pose: Pose) -> bool:
    return not np.any(pose[0]) and same_turn(pose[1], quat_identity())


def _is_limited(joint: Joint) -> bool:
    """Return True if a value has limits, which URDF does not support on several axes."""
    arrays = (joint.min_dof_limit, joint.max_dof_limit, joint.max_velocity, joint.max_effort)
    return bool(np.isfinite([array[joint.dof] for array in arrays]).any())


def _without_zeros(coefficients: Sequence[float]) -> list[float]:
    """Return a polynomial without its highest coefficients that are zero."""
    kept = list(coefficients)
    while len(kept) > 1 and kept[-1] == 0.0:
        kept.pop()
    return kept
