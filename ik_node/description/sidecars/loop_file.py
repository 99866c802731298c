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
from collections.abc import Iterable, Mapping
import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement

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
from ik_node.description.xml_document import Array, XmlDocument
from ik_node.description.yaml_document import Checked, line_of
from ik_node.errors import shown
from ik_node.model.constraint import CLOSURE_TYPES
from ik_node.model.rotation import (
    pose_inverse,
    pose_matrix,
    pose_parts,
    quat_between,
    quat_from_euler,
    quat_multiply,
    unit,
)
import numpy as np

AXES = {'X': '1 0 0', 'Y': '0 1 0', 'Z': '0 0 1'}
LOST = ('axis', 'mimic', 'limit', 'calibration', 'safety_controller')


class Retype:
    """A document whose joints get other types; the notes say which elements were removed."""

    def __init__(self, document: XmlDocument, file: LoopFile) -> None:
        root = document.root
        self._root = root
        self._file = file
        self._what = file.retype_key
        self.joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
        self._retyped: set[str] = set()
        self._after: dict[Element, list[Element]] = {}
        self._names = {(element.tag, element.get('name')) for element in root}

    @property
    def is_urdf(self) -> bool:
        """Return True if joints can be retyped."""
        return self._root.tag == 'robot'

    def find(self, name: str) -> Element:
        """Return the joint of a name, without the elements that describe its motion."""
        if not self.is_urdf:
            raise self._file.fail(
                f'{self._what} is for the joints of a URDF <robot>; this is a <{self._root.tag}>'
            )
        if name not in self.joints:
            message = unknown('joint', name, list(self.joints))
            raise self._file.fail(f'{self._what}: {message}')
        joint = self.joints[name]
        self._retyped.add(name)
        for tag in LOST:
            self._lose(name, joint, tag)
        return joint

    def universal(self, name: str, first: str, second: str) -> None:
        """
        Replace a joint by two: NAME_A about the first axis and NAME_B about the second.

        A and B are the names of the axes. The new link between the two joints is NAME_A as well.
        """
        new = [f'{name}_{axis}' for axis in (first, second)]
        taken = [each for each in new if ('joint', each) in self._names]
        if taken:
            raise self._file.fail(
                f'{self._what}: {name!r} becomes {new[0]!r} and {new[1]!r}; {taken[0]!r} is taken'
            )
        links = {link for tag, link in self._names if tag == 'link' and link}
        between = free_name(new[0], links)
        self._names |= {('link', between), *(('joint', each) for each in new)}
        joint = self.find(name)
        outer = Element('joint', {'name': new[1], 'type': 'continuous'})
        SubElement(outer, 'parent', {'link': between})
        outer.extend(_taken(joint, 'child'))
        SubElement(outer, 'axis', {'xyz': AXES[second]})
        joint.attrib.update(name=new[0], type='continuous')
        SubElement(joint, 'child', {'link': between})
        SubElement(joint, 'axis', {'xyz': AXES[first]})
        self._after[joint] = [Element('link', {'name': between}), outer]

    def finish(self) -> None:
        """Insert the new joints, and remove mimics of retyped joints."""
        for name, joint in self.joints.items():
            mimic = joint.find('mimic')
            if mimic is not None and mimic.get('joint') in self._retyped:
                self._lose(name, joint, 'mimic')
        if self._after:
            root = self._root
            root[:] = [new for each in root for new in (each, *self._after.pop(each, ()))]

    def _lose(self, name: str, joint: Element, tag: str) -> None:
        """Remove what describes the motion of a joint; note a mimic or limits."""
        for each in _taken(joint, tag):
            if tag == 'mimic' or {'lower', 'upper'} & set(each.keys()):
                self._file.note(
                    f'joint {name!r}: its <{tag}> is removed, as {self._what} changes joint types',
                    False,
                )


def _taken(element: Element, tag: str) -> Iterable[Element]:
    """Remove and return the children with a given tag."""
    result = element.findall(tag)
    for child in result:
        element.remove(child)
    return result


class Sidecar:
    """The content of a file of loops; here, of loops that are read without the robot."""

    def __init__(self, loop_set: LoopSet) -> None:
        self._loop_set = loop_set

    def rewrite(self, document: XmlDocument) -> None:
        """Change the parsed description before it is read, if the file changes joint types."""

    def loop_set(self, description: Description) -> LoopSet:
        """Return the declared loops, given a description whose links and joints are read."""
        return self._loop_set


class LoopFile(Checked, Sidecar, ABC):
    """A reader of loops, motors and joint types, which are matched with the robot later."""

    dialect: str  # Name of the format, for the log
    top_keys: tuple[str, ...]  # The known keys; others are noted
    motor_keys: tuple[str, ...] = ()  # The keys that list joints with motors
    retype_key: str  # The key that lists joints with a new type
    list_keys: bytes  # The keys that begin its list of loops

    @classmethod
    @abstractmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML is of this format."""

    def __init__(self, content: object, source: str, *, must_fit: bool = False) -> None:
        """
        Read the parsed YAML.

        If it `must_fit`, it is used only if it connects links or joints of the description.
        """
        super().__init__(source)
        self.loops: list[Loop] = []
        self.motors: dict[str, list[str]] = {}
        self._notes: list[str] = []
        top = self.mapping(content, 'the file', self.top_keys, others=True)
        for key in top:
            if key not in self.top_keys:
                self.note(f'the key {shown(key)} is not read')
        self._read_loops(top)
        for key in self.motor_keys:
            if top.get(key) is not None:
                self.motors[key] = self.names(top, key)
        self._read_types(top)
        self._ends = [loop.ends for loop in self.loops]
        self._fits = not must_fit or not self._ends

    def note(self, text: str, named: bool = True) -> None:
        """Add a note, which names the file if `named`."""
        self._notes.append(f'{self.source}: {text}' if named else text)

    @abstractmethod
    def _read_loops(self, top: Mapping[str, Any]) -> None:
        """Read the loops and append them to `loops`."""

    @abstractmethod
    def _read_types(self, top: Mapping[str, Any]) -> None:
        """Read which joints get which type."""

    @abstractmethod
    def _retype(self, joints: Retype) -> None:
        """Change the types of the joints in the document."""

    @abstractmethod
    def _fit_to(self, description: Description) -> None:
        """Match `loops` with the robot's links, and remove couplings that they replace."""

    def rewrite(self, document: XmlDocument) -> None:
        """Change the types of joints in the parsed description."""
        named = (each for each in document.root.iter() if each.tag in ('link', 'joint', 'body'))
        known = {WORLD, *(each.get('name') for each in named)}
        self._fits = self._fits or any(known.issuperset(pair) for pair in self._ends)
        if self._fits:
            joints = Retype(document, self)
            self._retype(joints)
            joints.finish()

    def loop_set(self, description: Description) -> LoopSet:
        """Return the loops, with other names if theirs are taken, and the motors."""
        if not self._fits:
            description.notes.append(
                f'{self.source}: it is not used, as none of its loops connects two links of this '
                'robot'
            )
            return LoopSet(self.source)
        self._fit_to(description)
        declared = (loop.name for loop_set in description.loops for loop in loop_set.loops)
        names = Names([*description.closures, *declared])
        for loop in self.loops:
            loop.name = names.unique(loop.name)
        result = LoopSet(self.source, self.dialect, self.loops, notes=self._notes)
        for key, motors in self.motors.items():
            known = [name for name in motors if self._is_motor(name, key, description)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *known]))
        return result

    def _is_motor(self, name: str, key: str, description: Description) -> bool:
        """
        Return True if a name is that of a movable joint; otherwise add a note.

        The programs that write these files ignore such names, too, because joints may be fixed or
        merged after the file was written.
        """
        joint = description.joints.get(name)
        if joint is not None and joint.dof:
            return True
        why = 'there is no such joint' if joint is None else 'it is fixed'
        description.notes.append(f'{self.source}: {key}: {name!r} has no motor, as {why}')
        return False


UNIVERSAL = re.compile('ujoint_?([xyz])([xyz])')
PAIRS = ('xy', 'yz', 'zx', 'zy', 'yx', 'xz')
JOINT_TYPES = (
    'spherical',
    'fixed',
    *(f'ujoint{mark}{axes}' for mark in ('_', '') for axes in PAIRS),
)


class GepettoFile(LoopFile):
    """A reader of a robot.yaml, which looks up names of links and joints in the robot later."""

    dialect = 'Gepetto YAML'
    top_keys = ('closed_loop', 'type', 'name_mot', 'joint_name', 'joint_type')
    list_keys = b'closed_loop'
    motor_keys = ('name_mot',)
    retype_key = 'joint_name'

    @classmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML has the keys of this format."""
        return isinstance(content.get('closed_loop'), list | tuple) or 'name_mot' in content

    def _read_types(self, top: Mapping[str, Any]) -> None:
        self._types: dict[str, str] = {}
        joints = self.items(top, 'joint_name')
        types = self.items(top, 'joint_type')
        self._types_line = self.line
        if len(joints) != len(types):
            raise self.fail(
                f'joint_name has {len(joints)} names, joint_type {len(types)} types; '
                'write one type per name'
            )
        for index, (name, type_name) in enumerate(zip(joints, types, strict=True)):
            joint = self.text(name, f'joint_name[{index}]')
            if joint in self._types:
                raise self.fail(f'joint_name: {joint!r} occurs twice')
            self._types[joint] = self.one_of(type_name, JOINT_TYPES, f'joint_type[{index}]:')

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

    def _retype(self, joints: Retype) -> None:
        self.line = self._types_line
        for name, type_name in self._types.items():
            axes = UNIVERSAL.fullmatch(type_name)
            if name not in joints.joints and joints.is_urdf:
                # One of Gepetto's files has this, and its loader continues.
                missing = unknown('joint', name, list(joints.joints))
                self.note(f'{self.retype_key}: {missing}; it is not retyped')
            elif axes is not None:
                joints.universal(name, axes[1].upper(), axes[2].upper())
            else:
                joints.find(name).set('type', type_name)

    def _fit_to(self, description: Description) -> None:
        for loop in self.loops:
            self.line = loop.line
            for frame in (loop.frame_a, loop.frame_b):
                frame.link = self._link(frame.link, description)

    def _link(self, name: str, description: Description) -> str:
        """Return the link of a name, which may be the name of a link or of the joint above it."""
        axes = UNIVERSAL.fullmatch(self._types.get(name, ''))
        joint = description.joints.get(name if axes is None else f'{name}_{axes[2].upper()}')
        child = None if joint is None or joint.child is None else joint.child.name
        if name in description.links:
            if child not in (None, name):
                self.note(
                    f'closed_loop: {name!r} is both a link and a joint above {child!r}; taken as '
                    'the link'
                )
            return name
        if child is None and name != WORLD:
            known = list(dict.fromkeys([*description.links, *description.joints]))
            raise self.fail(f'closed_loop: {unknown("link or joint", name, known)}')
        return child or name


MOTORS = ('independent', 'actuated_joints')
CLOSURE_KEYS = ('name', 'link_a', 'link_b', 'point', 'axis')
ROBOT_DATA_KEYS = (
    *('name', 'source', 'type', 'parent', 'child', 'origin_xyz_m', 'origin_rpy_rad', 'axis'),
    'limits',
)
LOCAL_KEYS = ('name', 'parent', 'child', 'parent_xyz', 'child_xyz', 'axis')


class LoopClosuresFile(LoopFile):
    """A reader of a loop_closures.yaml, which computes frames in the robot's links later."""

    dialect = 'loop_closures YAML'
    top_keys: tuple[str, ...] = (
        'closures',
        'pin_loops',
        'ball_loops',
        'ball_upgrades',
        'dependent',
        *MOTORS,
    )
    list_keys = b'closures|pin_loops|ball_loops'
    motor_keys: tuple[str, ...] = MOTORS
    retype_key = 'ball_upgrades'

    @classmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML has keys that only this format has."""
        if any(key in content for key in ('pin_loops', 'ball_loops', 'dependent', 'independent')):
            return True
        closures = content.get('closures')
        return isinstance(closures, list | tuple) and any(
            isinstance(entry, Mapping) and ('link_a' in entry or 'link_b' in entry)
            for entry in closures
        )

    def __init__(self, content: object, source: str, *, must_fit: bool = False) -> None:
        # Loop, the link that its frame is given in (None = the root), and the frame
        self._at_zero: list[tuple[Loop, str | None, Array]] = []
        self._dependent: list[str] = []
        super().__init__(content, source, must_fit=must_fit)

    def _read_loops(self, top: Mapping[str, Any]) -> None:
        for index, entry in enumerate(self.items(top, 'closures')):
            self._closure(entry, f'closures[{index}]')
        for key in ('pin_loops', 'ball_loops'):
            for index, entry in enumerate(self.items(top, key)):
                self._local(entry, f'{key}[{index}]', key == 'pin_loops')
        self._dependent = self.names(top, 'dependent')

    def _read_types(self, top: Mapping[str, Any]) -> None:
        self._balls = self.names(top, 'ball_upgrades')
        self._balls_line = self.line

    def _closure(self, entry: object, what: str) -> None:
        fields = self.mapping(entry, what, CLOSURE_KEYS)
        loop = self._loop(fields, what, 'link_a', 'link_b')
        self.need(fields, 'point', what, '[x, y, z] in the root link')
        point = self.vector(fields, 'point', what)
        rotation = self._turn(fields, what)
        loop.type_name = 'point' if rotation is None else 'hinge'
        quat_xyzw = (0.0, 0.0, 0.0, 1.0) if rotation is None else rotation
        self._at_zero.append((loop, None, pose_matrix(point, quat_xyzw)))

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

    def _retype(self, joints: Retype) -> None:
        self.line = self._balls_line
        for name in self._balls:
            joints.find(name).set('type', 'spherical')

    def _fit_to(self, description: Description) -> None:
        self._uncouple_dependent(description)
        if not self._at_zero:
            return
        poses = poses_at_zero(description)
        root = poses.get(description.root.name, np.eye(4))
        for loop, link, given in self._at_zero:
            frame_in_root = given
            if link is not None:
                frame_in_root = pose_inverse(root) @ poses.get(link, root) @ given
            for frame in (loop.frame_a, loop.frame_b):
                pose = np.eye(4) if frame.link == WORLD else root
                local = pose_inverse(poses.get(frame.link, pose)) @ root @ frame_in_root
                frame.position, frame.quat_xyzw = pose_parts(local)

    def _uncouple_dependent(self, description: Description) -> None:
        for loop_set in description.loops:
            for rule in [each for each in loop_set.couplings if each.joint in self._dependent]:
                loop_set.couplings.remove(rule)
                description.notes.append(
                    f'{self.source}: joint {rule.joint!r}: its <mimic> is removed, as `dependent` '
                    'states that the loops move it'
                )


class RobotDataFile(LoopClosuresFile):
    """A reader of a robot_data.yaml."""

    dialect = 'robot_data YAML'
    top_keys = (
        *('robot_name', 'metadata', 'assemblies', 'links', 'joints', 'closing_joints'),
        'rigid_groups',
    )
    list_keys = b'closing_joints'
    motor_keys: tuple[str, ...] = ()

    @classmethod
    def recognises(cls, content: Mapping[str, Any]) -> bool:
        """Return True if parsed YAML has the key that only this format has."""
        return 'closing_joints' in content

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
        self._at_zero.append((loop, loop.frame_a.link, pose_matrix(xyz, quat_xyzw)))
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
