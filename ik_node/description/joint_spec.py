"""A joint as a file declares it, before it is part of a tree, and its limits."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from math import inf, isinf
from xml.etree.ElementTree import Element

from ik_node.description.description import Loop, LoopFrame, quoted
from ik_node.description.xml_document import MAX_NUMBER, XmlDocument
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.rotation import (
    pose_inverse,
    pose_matrix,
    pose_parts,
    quat_between,
    quat_conjugate,
    quat_identity,
    quat_multiply,
    quat_to_matrix,
)
import numpy as np
from numpy.typing import NDArray

NAMES = ('lower', 'upper', 'velocity', 'effort')


@dataclass
class Limits:
    """The limits of a joint value."""

    # lower, upper: [rad or m]
    lower: float = -inf
    upper: float = inf
    velocity: float = inf  # [rad/s or m/s]
    effort: float = inf  # [N m or N]; what 0 and negative numbers mean depends on the format


def read_limits(
    document: XmlDocument,
    element: Element,
    limit: Element | None,
    what: str,
    notes: list[str],
    *,
    turns_freely: bool = False,
) -> Limits:
    """
    Read the limits of a joint, from the attributes (URDF) or child elements (SDFormat) of `limit`.

    Numbers of 1e12 or more, which programs write for "no limit", are no limits, and so are those
    that the attribute `unlimited` names, which are there for other programs only. `lower` and
    `upper` of a joint that turns freely are not used. `what` is the joint in notes, as in "joint
    'elbow'".
    """
    result, beyond = Limits(), []
    unlimited = '' if limit is None else limit.get('unlimited', '')
    if limit is not None and not set(unlimited.split()) <= set(NAMES):
        expected = f'expected some of {" ".join(NAMES)}'
        raise document.error(limit, f'unlimited="{unlimited[:60]}": {expected}')
    for name in NAMES:
        text = limit_text(limit, name)
        if limit is None or text is None or name in unlimited.split():
            continue
        value = document.number(limit, name, text, infinite=True)
        if not isinf(value):
            setattr(result, name, value)
        elif name != 'effort' and is_beyond(text):  # joints without a motor have efforts, too
            beyond.append(f'{name} {text.strip()}')
    if beyond:
        notes.append(f'{what}: {", ".join(beyond)}: taken as no limit, as it is beyond 1e12')
    if turns_freely:
        both = {name: getattr(result, name) for name in NAMES[:2]}
        given = [f'{name} {value:g}' for name, value in both.items() if not isinf(value)]
        if given:
            notes.append(
                f'{what}: it is continuous, so {" and ".join(given)} do not count and it turns '
                'without limits; type="revolute" would use them'
            )
        result.lower, result.upper = -inf, inf
    if result.lower > result.upper:
        ends = f'lower {result.lower:g} is above upper {result.upper:g}'
        raise document.error(element, f'its limits are reversed: {ends}; exchange them')
    if result.lower == result.upper:
        why = ', as exporters write it for limits that were left empty' * (result.lower == 0.0)
        notes.append(f'{what}: lower and upper are both {result.lower:g}, it cannot move{why}')
    if result.velocity <= 0.0:
        notes.append(f'{what}: velocity {result.velocity:g}, taken as unlimited')
        result.velocity = inf
    return result


def limit_text(limit: Element | None, name: str) -> str | None:
    """Return the text of a number in a <limit>; None if it is not given."""
    if limit is None:
        return None
    return limit.get(name, limit.findtext(name, '').strip() or None)


def is_beyond(text: str) -> bool:
    """Return True if a text is a number, not written as "inf", of 1e12 or more."""
    return abs(float(text)) >= MAX_NUMBER and 'inf' not in text.lower()


Array = NDArray[np.float64]

BALL_TYPES = ('spherical', 'ball')
LIMITED_TYPES = ('revolute', 'prismatic')
AXIS_TYPES = ('revolute', 'continuous', 'prismatic', 'planar')


@dataclass
class JointSpec:
    """A joint between two links, X_child = X_parent X_origin motion(q) X_child_pose."""

    # name, type_name, parent, child: The type is one of URDF's types, or spherical, or ball
    name: str
    type_name: str
    parent: str
    child: str
    # position, quat_xyzw: Pose of the joint frame in the parent link [m]
    position: Array = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: Array = field(default_factory=quat_identity)
    # Unit vector in the joint frame
    axis: Array = field(default_factory=lambda: np.array((1.0, 0.0, 0.0)))
    # Upper of a ball joint: its largest angle, `Joint.max_turn`. Efforts of 0 or less are none.
    limits: Limits = field(default_factory=Limits)
    # child_position, child_quat_xyzw: Pose of the child link in the moved joint frame [m]; the
    # identity in a URDF
    child_position: Array = field(default_factory=lambda: np.zeros(3))
    child_quat_xyzw: Array = field(default_factory=quat_identity)
    # Whether its value is needed, for a motor or a mimic. Such a joint stays a joint if it
    # closes a loop.
    needed: bool = False
    must_close: bool = False  # Whether a loop through this joint is cut here rather than elsewhere
    line: int | None = None  # Line of its declaration

    @property
    def has_value(self) -> bool:
        """Return True if a closure in its place would lose limits or a value that is needed."""
        both = isinf(self.limits.lower) and isinf(self.limits.upper)
        limited = self.type_name in LIMITED_TYPES and not both
        return self.needed or limited

    @property
    def max_effort(self) -> float:
        """Return the effort limit [N m or N]; infinite for none, or a number beyond 1e12."""
        return self.limits.effort if 0.0 < self.limits.effort <= MAX_NUMBER else np.inf

    def place(self, origin: Array | None = None, child: Array | None = None) -> None:
        """Set the pose of the joint frame, of the child link, or of both."""
        if origin is not None:
            self.position, self.quat_xyzw = pose_parts(origin)
        if child is not None:
            self.child_position, self.child_quat_xyzw = pose_parts(child)

    def make(self) -> tuple[Joint, Array, Array]:
        """Return the joint, and the position and orientation of its child link in it."""
        joint, rotation = Joint(self.name), quat_identity()
        if self.type_name in AXIS_TYPES:
            index, rotation = _axis_turn(self.axis)
            joint.set_dof(*_axis_dofs(self.type_name, index))
            for dof in joint.dof:
                joint.max_velocity[dof] = self.limits.velocity if len(joint.dof) == 1 else np.inf
                joint.max_effort[dof] = self.max_effort if len(joint.dof) == 1 else np.inf
            if self.type_name in LIMITED_TYPES:
                joint.set_limits(joint.dof[0], self.limits.lower, self.limits.upper)
        elif self.type_name in BALL_TYPES:
            joint.set_dof(DOF.EX, DOF.EY, DOF.EZ)
            joint.max_turn = self.limits.upper
        elif self.type_name == 'floating':
            joint.set_dof(*DOF)
        joint.set_position(*self.position)
        joint.set_quaternion(*quat_multiply(self.quat_xyzw, rotation))
        back = quat_conjugate(rotation)
        position = quat_to_matrix(back) @ self.child_position
        return joint, position, quat_multiply(back, self.child_quat_xyzw)

    def loop(self) -> Loop:
        """Return a loop closure of the joint's type in place of the joint."""
        child = pose_inverse(pose_matrix(self.child_position, self.child_quat_xyzw))
        frame_a = LoopFrame(self.child, *pose_parts(child))
        frame_b = LoopFrame(self.parent, self.position, self.quat_xyzw)
        if self.type_name in AXIS_TYPES:
            rotation = quat_between((0.0, 0.0, 1.0), self.axis)
            for frame in (frame_a, frame_b):
                frame.quat_xyzw = quat_multiply(frame.quat_xyzw, rotation)
        return Loop(self.name, frame_a, frame_b, self.type_name, line=self.line)

    def turned_round(self) -> JointSpec:
        """Return the joint with parent and child swapped; the angles of a ball joint change."""
        origin = pose_inverse(pose_matrix(self.child_position, self.child_quat_xyzw))
        child = pose_inverse(pose_matrix(self.position, self.quat_xyzw))
        turned = replace(self, parent=self.child, child=self.parent, axis=-self.axis)
        turned.place(origin, child)
        return turned


def note_efforts(specs: Iterable[JointSpec], motors: Container[str], notes: list[str]) -> None:
    """
    Append one note for all motors whose effort limit in the file is 0 or less.

    Exporters write 0 if the limit is not known, so such a number does not limit the motor.
    """
    names = [spec.name for spec in specs if spec.limits.effort <= 0.0 and spec.name in motors]
    if names:
        notes.append(f'effort limit of 0 or less, taken as unlimited: {quoted(names)}')


def _axis_turn(axis: Array) -> tuple[int, Array]:
    """Return the index of the moving axis X Y Z, and the rotation that aligns it with `axis`."""
    for index in range(3):
        if np.count_nonzero(axis) == 1 and axis[index] > 0.0:
            return index, quat_identity()
    return 2, quat_between((0.0, 0.0, 1.0), axis)


def _axis_dofs(type_name: str, index: int) -> list[DOF]:
    if type_name == 'prismatic':
        return [DOF(index)]
    if type_name == 'planar':  # moves in the plane normal to the axis and turns about it
        return sorted([DOF((index + 1) % 3), DOF((index + 2) % 3), DOF(index + 3)])
    return [DOF(index + 3)]
