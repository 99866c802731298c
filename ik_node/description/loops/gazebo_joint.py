"""
<gazebo><joint>: a joint of SDF that Gazebo adds after it has converted a URDF.

It holds in the pose in which all joints are 0; that is where its frames are taken.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import Description, WORLD
from ik_node.description.joint_part import JointPart
from ik_node.description.loop import Loop, LoopSet
from ik_node.description.loops.element_text import text_limit, text_of
from ik_node.description.loops.loop_frames import read_type, turn_frame
from ik_node.description.loops.loop_names import LoopNames
from ik_node.description.plant import add_joint
from ik_node.description.tree import poses_at_zero
from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_quat, pose_inverse, pose_matrix, quat_from_euler, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TYPES = (
    *('revolute', 'continuous', 'prismatic', 'ball', 'fixed', 'universal', 'revolute2'),
    'gearbox',
)
TWO_AXES = ('universal', 'revolute2')
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def read_gazebo_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <gazebo><joint>.

    One that carries a tree of its own becomes a joint of the robot, every other one a loop; if it
    has limits, it stays a joint whose end is welded to the link.

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    reader = _JointReader(document, description)
    for gazebo in document.root.findall('gazebo'):
        for element in gazebo.findall('joint'):
            reader.read(element)
    return reader.found


class _JointReader:
    """Adds one joint after another to a description."""

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self.found = LoopSet(document.source)
        self._document = document
        self._description = description
        self._names = LoopNames(document, description)
        self._poses: dict[str, Array] | None = None

    def read(self, element: Element) -> None:
        """Read one joint."""
        document, description = self._document, self._description
        type_name = read_type(document, element, TYPES)
        if type_name == 'gearbox':
            ratio = element.findtext('gearbox_ratio', '1').strip()
            description.notes.append(
                f'gazebo joint {element.get("name", "")!r}: a gearbox (ratio {ratio[:30]}) is not '
                'read; say it in a closures file: couplings: [{joint: ..., of: ..., coefficients: '
                '[0, -ratio]}]'
            )
            return
        parent, child = self._link(element, 'parent'), self._link(element, 'child')
        name = self._names.of(element)
        if parent == WORLD and WORLD not in description.links:
            if description.links[child] in description.roots and type_name == 'fixed':
                description.notes.append(
                    f'gazebo joint {name!r} fixes the root link in the world, where it is anyway'
                )
                return
            description.links[WORLD] = Link(WORLD)
            description.roots.append(description.links[WORLD])
            self._poses = None
        if parent == child:
            raise document.error(element, f'its parent and its child are the same link {child!r}')
        pose = self._pose(element, child)
        self.found.dialect = 'gazebo joint'
        if type_name in TWO_AXES:
            self.found.loops.append(self._two_axes(element, name, (parent, child), pose))
            return
        part = self._part(element, JointPart(name, type_name, parent, child), pose)
        loop = add_joint(description, part)  # moves no link, with all joints at 0
        if loop is not None:
            self.found.loops.append(loop)

    def _zero(self) -> dict[str, Array]:
        if self._poses is None:
            self._poses = poses_at_zero(self._description)
        return self._poses

    def _link(self, element: Element, tag: str) -> str:
        """Return the name of an end; `robot::link` is that link."""
        child = self._document.child(element, tag)
        name = child.get('link') or text_of(self._document, child)
        known = self._description.links
        if name not in known and '::' in name:
            name = name.rpartition('::')[2]
        if name not in known and not (name == WORLD and tag == 'parent'):
            message = unknown('link', name, list(known))
            raise self._document.error(element, f'<{tag}>: {message}')
        return name

    def _pose(self, element: Element, child: str) -> Array:
        """Return the joint's pose in the root frame, with all joints at 0."""
        pose = element.find('pose')
        if pose is None:
            return self._zero()[child]
        if pose.get('rotation_format', 'euler_rpy') == 'quat_xyzw':
            numbers = self._document.text_numbers(pose, (0.0,) * 6 + (1.0,))
            if max(map(abs, numbers[3:])) < 1e-9:
                raise self._document.error(pose, 'its quaternion is no rotation')
            quat = unit(numbers[3:])
        else:
            numbers = self._document.text_numbers(pose, (0.0,) * 6)
            angles = np.array(numbers[3:])
            if pose.get('degrees', 'false').strip() in ('true', '1'):
                angles = np.radians(angles)
            quat = quat_from_euler(*angles)
        base = self._frame(pose, pose.get('relative_to') or pose.get('frame') or child)
        return np.asarray(base @ pose_matrix(numbers[:3], quat))

    def _frame(self, element: Element, name: str) -> Array:
        if name == '__model__':
            return np.eye(4)
        if name not in self._zero():
            message = unknown('link', name, [*self._description.links, '__model__'])
            raise self._document.error(element, message)
        return self._zero()[name]

    def _part(self, element: Element, part: JointPart, pose: Array) -> JointPart:
        parent = pose_inverse(self._zero()[part.parent]) @ pose
        child = pose_inverse(pose) @ self._zero()[part.child]
        part.position, part.quat_xyzw = parent[:3, 3], matrix_to_quat(parent[:3, :3])
        part.child_position, part.child_quat_xyzw = child[:3, 3], matrix_to_quat(child[:3, :3])
        part.line = self._document.line(element)
        if part.type_name in ('ball', 'fixed'):
            return part
        axis = element.find('axis')
        if axis is None:
            self._description.notes.append(
                f'gazebo joint {part.name!r}: no <axis>, taken as 0 0 1'
            )
            part.axis = np.array((0.0, 0.0, 1.0))
            return part
        part.axis = self._axis(axis, pose)
        limit = axis.find('limit')
        if limit is not None and part.type_name != 'continuous':
            part.lower = text_limit(self._document, limit.find('lower'), -np.inf)
            part.upper = text_limit(self._document, limit.find('upper'), np.inf)
            if part.lower > part.upper:
                raise self._document.error(element, 'its lower limit is above the upper one')
        if limit is not None:
            velocity = text_limit(self._document, limit.find('velocity'), np.inf)
            part.velocity = velocity if velocity > 0.0 else np.inf
        return part

    def _axis(self, element: Element, pose: Array) -> Array:
        """Return a unit vector in the joint frame."""
        xyz = element.find('xyz')
        numbers = self._document.text_numbers(xyz, (0.0, 0.0, 1.0))
        if max(map(abs, numbers)) < 1e-12:
            raise self._document.error(element, 'the axis has no direction')
        axis = unit(numbers)
        flag = element.findtext('use_parent_model_frame', '0').strip().lower()
        frame = None if xyz is None else xyz.get('expressed_in')
        if flag in ('1', 'true'):
            frame = '__model__'
        if frame:
            axis = unit(pose[:3, :3].T @ (self._frame(element, frame)[:3, :3] @ axis))
        return axis

    def _two_axes(self, element: Element, name: str, ends: tuple[str, str], pose: Array) -> Loop:
        document = self._document
        axes = [self._axis(document.child(element, tag), pose) for tag in ('axis', 'axis2')]
        if abs(axes[0] @ axes[1]) > 1e-6:
            raise document.error(
                element,
                'its two axes are not at right angles; allowed are such that are',
                UnsupportedElementError,
            )
        part = JointPart(name, 'ball', ends[0], ends[1], line=document.line(element))
        parent = pose_inverse(self._zero()[ends[0]]) @ pose
        child = pose_inverse(pose) @ self._zero()[ends[1]]
        part.position, part.quat_xyzw = parent[:3, 3], matrix_to_quat(parent[:3, :3])
        part.child_position, part.child_quat_xyzw = child[:3, 3], matrix_to_quat(child[:3, :3])
        loop = part.loop()
        loop.type_name = 'universal'
        turn_frame(loop.frame_b, axes[0], X)
        turn_frame(loop.frame_a, axes[1], Y)
        return loop
