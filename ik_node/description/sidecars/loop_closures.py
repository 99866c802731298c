"""
Readers of the loop files of CAD exporters.

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

from collections.abc import Mapping
from typing import Any

from ik_node.description.description import Description, Loop, LoopFrame, WORLD
from ik_node.description.digits import exact_angle
from ik_node.description.loops.loop_frames import Z
from ik_node.description.sidecars.loop_file import LoopFile, Retype
from ik_node.description.tree import poses_at_zero
from ik_node.description.xml_document import Array
from ik_node.errors import shown
from ik_node.model.closure import CLOSURE_TYPES
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

MOTORS = ('independent', 'actuated_joints')
TOP_KEYS = ('closures', 'pin_loops', 'ball_loops', 'ball_upgrades', 'dependent', *MOTORS)
CLOSURE_KEYS = ('name', 'link_a', 'link_b', 'point', 'axis')
ROBOT_DATA_KEYS = (
    *('name', 'source', 'type', 'parent', 'child', 'origin_xyz_m', 'origin_rpy_rad', 'axis'),
    'limits',
)
LOCAL_KEYS = ('name', 'parent', 'child', 'parent_xyz', 'child_xyz', 'axis')


def is_loop_closures(content: object) -> bool:
    """Return True if parsed YAML has keys that only this format has."""
    if not isinstance(content, Mapping):
        return False
    if any(key in content for key in ('pin_loops', 'ball_loops', 'dependent', 'independent')):
        return True
    closures = content.get('closures')
    return isinstance(closures, list | tuple) and any(
        isinstance(entry, Mapping) and ('link_a' in entry or 'link_b' in entry)
        for entry in closures
    )


def is_robot_data(content: object) -> bool:
    """Return True if parsed YAML has the key that only this format has."""
    return isinstance(content, Mapping) and 'closing_joints' in content


class LoopClosuresFile(LoopFile):
    """A reader of a loop_closures.yaml, which computes frames in the robot's links later."""

    dialect = 'loop_closures YAML'
    top_keys = TOP_KEYS
    motor_keys: tuple[str, ...] = MOTORS
    retype_key = 'ball_upgrades'

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
        for name in self._dependent:
            joint = description.joints.get(name)
            if joint is None or not joint.couplings:
                continue
            for dof in list(joint.couplings):
                joint.uncouple(dof)
            description.notes.append(
                f'{self.source}: joint {name!r}: its <mimic> is removed, as `dependent` '
                'states that the loops move it'
            )


class RobotDataFile(LoopClosuresFile):
    """A reader of a robot_data.yaml."""

    dialect = 'robot_data YAML'
    top_keys = (
        *('robot_name', 'metadata', 'assemblies', 'links', 'joints', 'closing_joints'),
        'rigid_groups',
    )
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
