"""
Readers of loop files that other programs write.

The `robot.yaml` files of Gepetto's example-parallel-robots:

===========  ==================================================================================
key          meaning
===========  ==================================================================================
closed_loop  pairs of names; each is a link, or a joint, which stands for its child link
type         one per pair: 3d = a point; 6d and any other type = all six axes
name_mot     the joints with a motor
joint_name   joints that get another type; their axis and limits in the URDF are ignored
joint_type   one per name: SPHERICAL, FIXED, UJOINT_XY (two joints NAME_X and NAME_Y), ...
===========  ==================================================================================

`loop_closures.yaml` of sw2robot and scikit-robot:

==============  ===============================================================================
key             meaning
==============  ===============================================================================
closures        link_a, link_b, point and axis of a hinge in the root link's frame, with every
                joint at 0; without an axis it is a point
dependent       joints that the loops move; their `<mimic>` only approximates the motion of the
                loop linearly, and is removed
independent     joints that are driven
pin_loops       parent, child, parent_xyz, child_xyz, axis: a hinge; points and axis are given
                in the frames of both links
ball_loops      the same without axis: a point, like a pin without axis
ball_upgrades   joints that become spherical
actuated_joints the same as independent
==============  ===============================================================================

`robot_data.yaml` of fusion2URDF:

==============  ===============================================================================
key             meaning
==============  ===============================================================================
closing_joints  name, type, parent, child, and origin_xyz_m, origin_rpy_rad and axis as those of a
                <joint> of URDF: its frame in the parent link, on the child with all joints at 0
joints          joints of the URDF; those with `passive: true` have no motor
==============  ===============================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from functools import cached_property
import re
from typing import Any

from ik_node.description.description import (
    Description,
    free_name,
    Loop,
    LoopFrame,
    LoopSet,
    Names,
    unknown,
    WORLD,
)
from ik_node.description.digits import exact_angle
from ik_node.description.loops.loop_frames import Z
from ik_node.description.tree import poses_at_zero
from ik_node.description.xml_document import Array
from ik_node.description.yaml_document import Checked, line_of
from ik_node.errors import shown
from ik_node.model.constraint import CLOSURE_TYPES
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import (
    pose_inverse,
    pose_matrix,
    pose_parts,
    quat_between,
    quat_from_euler,
    quat_identity,
    quat_multiply,
    unit,
)
import numpy as np


class LoopFile(Checked, ABC):
    """A reader of the loops, motors and joint types of a robot, whose joints it changes."""

    dialect: str  # Name of the format, for the log
    top_keys: tuple[str, ...]  # The known keys; others are noted
    own_keys: tuple[str, ...]  # The keys that only this format has
    motor_keys: tuple[str, ...] = ()  # The keys that list joints with motors
    retype_key: str  # The key that lists joints with a new type
    list_keys: bytes  # The keys that begin its list of loops

    @classmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML is of this format."""
        return any(key in content for key in cls.own_keys)

    def __init__(self, source: str, robot: Description) -> None:
        super().__init__(source)
        self.robot = robot
        self.loops: list[Loop] = []
        self.motors: dict[str, list[str]] = {}
        self._notes: list[str] = []

    def read(self, content: object, *, must_fit: bool = False) -> LoopSet:
        """
        Return the loops and motors in parsed YAML.

        If it `must_fit`, it is used only if it connects links or joints of the robot.
        """
        top = self.mapping(content, 'the file', self.top_keys, others=True)
        for key in top:
            if key not in self.top_keys:
                self.note(f'the key {shown(key)} is not read')
        self._read_loops(top)
        known = {WORLD, *self.robot.links, *self.robot.joints}
        if must_fit and self.loops and not any(known.issuperset(loop.ends) for loop in self.loops):
            self.robot.notes.append(
                f'{self.source}: it is not used, as none of its loops connects two links of this '
                'robot'
            )
            return LoopSet(self.source)
        for key in self.motor_keys:
            if top.get(key) is not None:
                self.motors[key] = self.names(top, key)
        below = self._links_below()
        self._retype(self._read_joints(top))
        self._fit(below | self._links_below())
        declared = (loop.name for loop_set in self.robot.loops for loop in loop_set.loops)
        names = Names([*self.robot.closures, *declared])
        for loop in self.loops:
            loop.name = names.unique(loop.name)
        result = LoopSet(self.source, self.dialect, self.loops, notes=self._notes)
        for key, motors in self.motors.items():
            driven = [name for name in motors if self._is_motor(name, key)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *driven]))
        return result

    def note(self, text: str) -> None:
        """Add a note, which names the file."""
        self._notes.append(f'{self.source}: {text}')

    @abstractmethod
    def _read_loops(self, top: Mapping[str, Any]) -> None:
        """Read the loops and append them to `loops`."""

    @abstractmethod
    def _read_joints(self, top: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the new types of joints."""

    def _fit(self, below: Mapping[str, str]) -> None:
        """Match `loops` with the robot, where `below` has the link below each joint."""

    def _links_below(self) -> dict[str, str]:
        joints = self.robot.joints.items()
        return {name: joint.child.name for name, joint in joints if joint.child is not None}

    def _retype(self, types: Mapping[str, str]) -> None:
        """
        Give joints other types, without their axes, limits and couplings.

        A universal joint becomes two joints: NAME_A about the first axis and NAME_B about the
        second; A and B are the names of the axes. The link between them is NAME_A as well.
        """
        robot, key = self.robot, self.retype_key
        if types and not robot.dialect.startswith('URDF'):
            raise self.fail(f'{key} is for the joints of a URDF; this is {robot.dialect}')
        for name, type_name in types.items():
            if name not in robot.joints:
                # One of Gepetto's files has this, and its loader continues.
                self.note(f'{key}: {unknown("joint", name, [*robot.joints])}; it is not retyped')
                continue
            old, axes = robot.joints[name], UNIVERSAL.fullmatch(type_name.upper())
            if np.isfinite([old.min_dof_limit[old.dof], old.max_dof_limit[old.dof]]).any():
                self.note(f'joint {name!r}: its <limit> is removed, as {key} changes joint types')
            if axes is None:
                made = [Joint(name)]
                made[0].set_dof(*('EX', 'EY', 'EZ') * (type_name == 'spherical'))
            else:
                made = [Joint(f'{name}_{axis}') for axis in axes.groups()]
                for joint, axis in zip(made, axes.groups(), strict=True):
                    joint.set_dof(f'E{axis}')
                    if joint.name in robot.joints:
                        what = f'becomes {made[0].name!r} and {made[1].name!r}'
                        raise self.fail(f'{key}: {name!r} {what}; {joint.name!r} is taken')
            self._replace(old, made)
        self._uncouple(types, types, f'{key} changes joint types')

    def _replace(self, old: Joint, made: list[Joint]) -> None:
        """Put one joint or two in the place of another, at the frame of the link below it."""
        robot, parent, child = self.robot, old.parent, old.child
        if not isinstance(parent, Link) or child is None:
            return
        made[0].set_position(*old.position)
        made[0].set_quaternion(*quat_multiply(old.quaternion, child.quaternion))
        parent.remove_child(old)
        old.remove_child(child)
        child.set_quaternion(*quat_identity())
        links = [parent, *(Link(free_name(each.name, robot.links)) for each in made[:-1]), child]
        for joint, above, link in zip(made, links, links[1:], strict=False):
            above.add_child(joint)
            joint.add_child(link)
            robot.links.setdefault(link.name, link)
        joints = [
            each for joint in robot.joints.values() for each in (made if joint is old else [joint])
        ]
        robot.joints.clear()
        robot.joints.update((joint.name, joint) for joint in joints)
        movable = {joint.name for joint in robot.joint_order}
        robot.actuated = [name for name in robot.actuated if name in movable]
        robot.no_axis = [name for name in robot.no_axis if name != old.name]

    def _uncouple(self, joints: Collection[str], masters: Collection[str], why: str) -> None:
        """Remove the couplings of some joints, and those with some masters."""
        for loop_set in self.robot.loops:
            for rule in [*loop_set.couplings]:
                if rule.joint in joints or any(name in masters for name, _ in rule.terms):
                    loop_set.couplings.remove(rule)
                    self.note(f'joint {rule.joint!r}: its <mimic> is removed, as {why}')

    def _is_motor(self, name: str, key: str) -> bool:
        """
        Return True if a name is that of a movable joint; otherwise add a note.

        The programs that write these files ignore such names, too, because joints may be fixed or
        merged after the file was written.
        """
        joint = self.robot.joints.get(name)
        if joint is not None and joint.dof:
            return True
        why = 'there is no such joint' if joint is None else 'it is fixed'
        self.note(f'{key}: {name!r} has no motor, as {why}')
        return False


UNIVERSAL = re.compile('UJOINT_?([XYZ])([XYZ])')
PAIRS = ('xy', 'yz', 'zx', 'zy', 'yx', 'xz')
JOINT_TYPES = (
    'spherical',
    'fixed',
    *(f'ujoint{mark}{axes}' for mark in ('_', '') for axes in PAIRS),
)


class GepettoFile(LoopFile):
    """A reader of a robot.yaml, whose loops connect links or the links below joints."""

    dialect = 'Gepetto YAML'
    top_keys = ('closed_loop', 'type', 'name_mot', 'joint_name', 'joint_type')
    own_keys = ('closed_loop', 'name_mot')
    list_keys = b'closed_loop'
    motor_keys = ('name_mot',)
    retype_key = 'joint_name'

    def _read_joints(self, top: Mapping[str, Any]) -> Mapping[str, str]:
        result: dict[str, str] = {}
        joints = self.items(top, 'joint_name')
        types = self.items(top, 'joint_type')
        if len(joints) != len(types):
            raise self.fail(
                f'joint_name has {len(joints)} names, joint_type {len(types)} types; '
                'write one type per name'
            )
        for index, (name, type_name) in enumerate(zip(joints, types, strict=True)):
            joint = self.text(name, f'joint_name[{index}]')
            if joint in result:
                raise self.fail(f'joint_name: {joint!r} occurs twice')
            result[joint] = self.one_of(type_name, JOINT_TYPES, f'joint_type[{index}]:')
        return result

    def _read_loops(self, top: Mapping[str, Any]) -> None:
        types = self.items(top, 'type')
        pairs = self.items(top, 'closed_loop')
        if 'type' not in top and pairs:
            self.note('no type of the loops is given; all are taken as 6d')
            types = ['6d'] * len(pairs)
        if len(types) < len(pairs):
            raise self.fail(
                f'closed_loop has {len(pairs)} pairs, type {len(types)} types; write one type per '
                "pair (Gepetto's own loader skips the loops without one)"
            )
        if len(types) > len(pairs):
            self.note(
                f'closed_loop has {len(pairs)} pairs, type {len(types)} types; the last types '
                'are not used'
            )
        for index, (pair, type_name) in enumerate(zip(pairs, types, strict=False)):
            what = f'closed_loop[{index}]'
            self.line = line_of(pair) or self.line
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise self.fail(f'{what}: expected a pair of names, got {shown(pair)}')
            name_a, name_b = (self.text(name, what) for name in pair)
            kind = str(type_name).strip().lower()[:20]
            if kind not in ('3d', '6d'):
                self.note(f'type[{index}]: {type_name!r} is neither 3d nor 6d; taken as 6d')
            loop = Loop(f'{name_a}__{name_b}', LoopFrame(name_a), LoopFrame(name_b))
            loop.type_name = 'point' if kind == '3d' else 'weld'
            loop.line = self.line
            self.loops.append(loop)

    def _fit(self, below: Mapping[str, str]) -> None:
        links = self.robot.links
        for loop in self.loops:
            self.line = loop.line
            for frame in (loop.frame_a, loop.frame_b):
                name = frame.link
                frame.link = name if name in links else below.get(name, name)
                if frame.link not in (WORLD, *links):
                    known = list(dict.fromkeys([*links, *below]))
                    raise self.fail(f'closed_loop: {unknown("link or joint", name, known)}')
                if name in links and below.get(name, name) != name:
                    self.note(
                        f'closed_loop: {name!r} is both a link and a joint above '
                        f'{below[name]!r}; taken as the link'
                    )


MOTORS = ('independent', 'actuated_joints')
CLOSURE_ENDS = {'link_a', 'link_b'}
CLOSURE_KEYS = ('name', 'link_a', 'link_b', 'point', 'axis')
ROBOT_DATA_KEYS = (
    *('name', 'source', 'type', 'parent', 'child', 'origin_xyz_m', 'origin_rpy_rad', 'axis'),
    'limits',
)
LOCAL_KEYS = ('name', 'parent', 'child', 'parent_xyz', 'child_xyz', 'axis')


class LoopClosuresFile(LoopFile):
    """A reader of a loop_closures.yaml."""

    dialect = 'loop_closures YAML'
    top_keys: tuple[str, ...] = (
        'closures',
        'pin_loops',
        'ball_loops',
        'ball_upgrades',
        'dependent',
        *MOTORS,
    )
    own_keys: tuple[str, ...] = ('pin_loops', 'ball_loops', 'dependent', 'independent')
    list_keys = b'closures|pin_loops|ball_loops'
    motor_keys: tuple[str, ...] = MOTORS
    retype_key = 'ball_upgrades'

    @classmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML is of this format, and not ik_node's own closures."""
        closures = content.get('closures')
        return super().recognises(content) or (
            isinstance(closures, list | tuple)
            and any(isinstance(each, Mapping) and each.keys() & CLOSURE_ENDS for each in closures)
        )

    @cached_property
    def _poses(self) -> dict[str, Array]:
        """Return the 4x4 pose of every link with all joints at 0."""
        return poses_at_zero(self.robot)

    def _pose(self, link: str) -> Array:
        """Return the pose of a link with every joint at 0; that of the root if it is unknown."""
        usual = np.eye(4) if link == WORLD else self._poses.get(self.robot.root.name, np.eye(4))
        return self._poses.get(link, usual)

    def _read_loops(self, top: Mapping[str, Any]) -> None:
        for index, entry in enumerate(self.items(top, 'closures')):
            self._closure(entry, f'closures[{index}]')
        for key in ('pin_loops', 'ball_loops'):
            for index, entry in enumerate(self.items(top, key)):
                self._local(entry, f'{key}[{index}]', key == 'pin_loops')

    def _read_joints(self, top: Mapping[str, Any]) -> Mapping[str, str]:
        dependent = self.names(top, 'dependent')
        self._uncouple(dependent, (), '`dependent` states that the loops move it')
        return dict.fromkeys(self.names(top, 'ball_upgrades'), 'spherical')

    def _closure(self, entry: object, what: str) -> None:
        fields = self.mapping(entry, what, CLOSURE_KEYS)
        loop = self._loop(fields, what, 'link_a', 'link_b')
        self.need(fields, 'point', what, '[x, y, z] in the root link')
        point = self.vector(fields, 'point', what)
        rotation = self._turn(fields, what)
        loop.type_name = 'point' if rotation is None else 'hinge'
        quat_xyzw = (0.0, 0.0, 0.0, 1.0) if rotation is None else rotation
        self._place(loop, self._pose(self.robot.root.name) @ pose_matrix(point, quat_xyzw))

    def _local(self, entry: object, what: str, pin: bool) -> None:
        fields = self.mapping(entry, what, LOCAL_KEYS)
        loop = self._loop(fields, what, 'parent', 'child')
        for frame, key in ((loop.frame_a, 'parent_xyz'), (loop.frame_b, 'child_xyz')):
            frame.position = np.array(self.vector(fields, key, what))
        rotation = self._turn(fields, what)
        if pin is (rotation is None):
            result = 'a pin without axis' if pin else 'a ball; its axis is not read'
            self.note(f'{what}: {result}; it is taken as a point')
        if pin and rotation is not None:
            loop.type_name = 'hinge'
            loop.frame_a.quat_xyzw = loop.frame_b.quat_xyzw = rotation
        else:
            loop.type_name = 'point'

    def _loop(self, fields: Mapping[str, Any], what: str, key_a: str, key_b: str) -> Loop:
        link_a, link_b = (
            self.text(self.need(fields, key, what), f'{what}: {key}') for key in (key_a, key_b)
        )
        name = f'{link_a}__{link_b}'
        if fields.get('name') is not None:
            name = self.text(fields['name'], f'{what}: name')
        loop = Loop(name, LoopFrame(link_a), LoopFrame(link_b), line=self.line)
        self.loops.append(loop)
        return loop

    def _turn(self, fields: Mapping[str, Any], what: str) -> Array | None:
        """Return the rotation that aligns z with the axis."""
        if fields.get('axis') is None:
            return None
        axis = np.array(self.numbers(fields['axis'], 3, f'{what}: axis'))
        if np.max(np.abs(axis)) < 1e-12:
            raise self.fail(f'{what}: axis: {shown(fields["axis"])} has no direction')
        return quat_between(Z, unit(axis))

    def _place(self, loop: Loop, pose: Array) -> None:
        """Set both frames of a loop to a pose with every joint at 0."""
        for frame in (loop.frame_a, loop.frame_b):
            local = pose_inverse(self._pose(frame.link)) @ pose
            frame.position, frame.quat_xyzw = pose_parts(local)


class RobotDataFile(LoopClosuresFile):
    """A reader of a robot_data.yaml."""

    dialect = 'robot_data YAML'
    top_keys = (
        *('robot_name', 'metadata', 'assemblies', 'links', 'joints', 'closing_joints'),
        'rigid_groups',
    )
    own_keys = ('closing_joints',)
    list_keys = b'closing_joints'
    motor_keys: tuple[str, ...] = ()

    def _read_loops(self, top: Mapping[str, Any]) -> None:
        for index, entry in enumerate(self.items(top, 'closing_joints')):
            self._closing(entry, f'closing_joints[{index}]')
        joints = self.mapping(top.get('joints') or {}, 'joints', ('NAME',), others=True)
        free = {
            self.text(name, 'joints')
            for name, fields in joints.items()
            if self.mapping(fields, f'joints: {name}', ('passive',), others=True).get('passive')
        }
        if free:
            fixed = {name for name, fields in joints.items() if fields.get('type') == 'fixed'}
            self.motors['joints'] = [name for name in joints if name not in free | fixed]

    def _closing(self, entry: object, what: str) -> None:
        fields = self.mapping(entry, what, ROBOT_DATA_KEYS)
        loop = self._loop(fields, what, 'parent', 'child')
        loop.type_name = self.one_of(fields.get('type'), CLOSURE_TYPES, f'{what}: type')
        xyz = self.vector(fields, 'origin_xyz_m', what)
        rpy = self.vector(fields, 'origin_rpy_rad', what, '[rad]')
        quat_xyzw = quat_from_euler(*map(exact_angle, rpy))
        rotation = self._turn(fields, what)
        if rotation is not None:
            quat_xyzw = quat_multiply(quat_xyzw, rotation)
        self._place(loop, self._pose(loop.frame_a.link) @ pose_matrix(xyz, quat_xyzw))
        if fields.get('limits'):
            self.note(
                f'{what}: its limits are not used, as a loop closure has no value; limit the '
                'joints of the loop'
            )
        if loop.type_name == 'fixed':
            self.note(
                f'{what}: fixed, which the exporter also writes for a ball and a planar joint; '
                'correct the type if it is one'
            )
