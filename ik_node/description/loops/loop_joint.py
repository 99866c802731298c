"""
Reader of <loop_joint> elements in a URDF, in the notations of four ecosystems.

Isaac Sim, whose documentation writes <link1> twice, and old Drake, with an <axis>::

    <loop_joint name="l" type="spherical">
      <link1 link="a" xyz="0 0 0" rpy="0 0 0"/> <link2 link="b" xyz="0 0 0" rpy="0 0 0"/>
    </loop_joint>

ik_node adds the attributes `dof` (which overrides the type), `distance`, `tolerance`, `weight`,
`enabled` and `rounding` (the rounding errors of the numbers from which the file was made).

Exporters of Fusion give the axis in the parent link; the child's orientation is that at q = 0::

    <loop_joint name="l" type="revolute">
      <parent link="a"/> <child link="b"/> <parent_origin xyz="0 0 0"/> <child_origin xyz="0 0 0"/>
      <axis xyz="0 0 1" frame="parent"/>
    </loop_joint>
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import LoopFrame
from ik_node.description.loops.loop_frames import LoopReader, turn_frame, Z
from ik_node.description.tree import joints_above
from ik_node.model.constraint import CLOSURE_TYPES
from ik_node.model.rotation import matrix_to_quat, pose_matrix, quat_multiply, quat_to_matrix
import numpy as np

PARALLEL = 1e-6
AXIAL_TYPES = ('hinge', 'revolute', 'continuous', 'slider', 'prismatic', 'planar')
FOREIGN_TYPES = ('revolute', 'continuous', 'prismatic', 'planar')


class LoopJointReader(LoopReader):
    """
    A reader of <loop_joint>.

    <link1> or <parent> is frame_a, <link2> or <child> is frame_b. An <axis>, which Isaac ignores,
    becomes the z axis of both frames.
    """

    dialect = 'loop_joint'

    def read(self, element: Element) -> None:
        """Read an element if it is a <loop_joint>."""
        if element.tag != 'loop_joint':
            return
        dof_text, type_name = element.get('dof'), 'weld'
        if element.get('type') is not None or dof_text is None:
            type_name = self.document.word(element, 'type', tuple(CLOSURE_TYPES))
        name = self.name_of(element)
        if element.find('parent') is not None or element.find('child') is not None:
            frames = self._fusion_frames(element, type_name)
        else:
            frames = self._frames(element, type_name)
        if type_name in FOREIGN_TYPES and element.find('axis') is None and dof_text is None:
            axis, along = self._guess_axis(frames, type_name == 'prismatic')
            for frame in frames:
                turn_frame(frame, np.eye(3)[axis])
            if axis != 2 or along is None:
                reason = 'no joint of the loop is parallel' if along is None else f'like {along!r}'
                self.notes.append(
                    f'loop_joint {name!r}: no <axis>, taken as the {"xyz"[axis]} of its frames, '
                    f'{reason}; to choose it, add <axis xyz="..."/>'
                )
        loop = self.add(element, name, frames, type_name)
        document, loop.dofs = self.document, dof_text
        if type_name == 'distance' and element.get('distance') is not None:
            loop.distance = document.numbers(element, 'distance', (0.0,))[0]
        if element.get('tolerance') is not None:
            count = len(element.attrib['tolerance'].split())
            loop.tolerance = document.numbers(element, 'tolerance', (0.0,) * count)
        loop.rounding = document.numbers(element, 'rounding', (0.0, 0.0))
        loop.weight = document.numbers(element, 'weight', (1.0,))[0]
        words = ('true', 'false', '1', '0')
        loop.enabled = document.word(element, 'enabled', words, 'true') in ('true', '1')

    def _frames(self, element: Element, type_name: str) -> list[LoopFrame]:
        firsts, seconds = element.findall('link1'), element.findall('link2')
        ends = firsts[:1] + (seconds or firsts[1:])  # Isaac's own documentation writes link1 twice
        if len(firsts) < 1 or len(ends) != 2:
            message = 'expected <link1 link="..."/> and <link2 link="..."/>, once each'
            raise self.document.error(element, message)
        frames = [self.frame(self.document.attribute(end, 'link'), end) for end in ends]
        if type_name in AXIAL_TYPES:
            axis = self.axis(element.find('axis'), element, Z)
            for frame in frames:
                turn_frame(frame, axis)
        return frames

    def _fusion_frames(self, element: Element, type_name: str) -> list[LoopFrame]:
        parent, child = (self.end(element, tag) for tag in ('parent', 'child'))
        axis_element, origin = element.find('axis'), element.find('child_origin')
        known = parent.link in self.poses and child.link in self.poses
        if known and (origin is None or origin.get('rpy') is None):
            # Only the position is given: the orientation is that of the parent's frame at q = 0.
            turned = self.poses[child.link][:3, :3].T @ self.poses[parent.link][:3, :3]
            child.quat_xyzw = quat_multiply(matrix_to_quat(turned), parent.quat_xyzw)
        if type_name in AXIAL_TYPES:
            axis = self.axis(axis_element, element, Z)
            if axis_element is not None:  # given in the link, not in the frame
                of_child = axis_element.get('frame', 'parent') == 'child'
                axis = quat_to_matrix((child if of_child else parent).quat_xyzw).T @ axis
            turn_frame(parent, axis)
            turn_frame(child, axis)
        return [parent, child]

    def _guess_axis(self, frames: list[LoopFrame], slides: bool) -> tuple[int, str | None]:
        """
        Return the axis 0 to 2 of a loop's frames that matches a joint of the loop, and that joint.

        The axis is z, unless another one is parallel to a joint between the two links at q = 0 and
        z is not. Prismatic joints are compared if the loop slides, else revolute ones. The joint
        is None if z is a guess.
        """
        if any(frame.link not in self.poses for frame in frames):
            return 2, None
        rotation = self.poses[frames[0].link][:3, :3] @ quat_to_matrix(frames[0].quat_xyzw)
        links = [self.description.links[frame.link] for frame in frames]
        above = [list(joints_above(link)) for link in links]
        shared = {id(joint) for joint in above[0]} & {id(joint) for joint in above[1]}
        for axis in (2, 0, 1):
            for joint in above[0] + above[1]:
                if id(joint) in shared or len(joint.dof) != 1 or joint.parent is None:
                    continue
                if joint.dof[0].is_rotation == slides:
                    continue
                base = self.poses[joint.parent.name] @ pose_matrix(
                    joint.position, joint.quaternion
                )
                along = base[:3, joint.dof[0] % 3] @ rotation[:, axis]
                if abs(along) > 1.0 - PARALLEL:
                    return axis, joint.name
        return 2, None
