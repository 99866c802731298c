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

from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet
from ik_node.description.loops.loop_frames import (
    LoopNames,
    note_limit,
    read_axis,
    read_end,
    read_frame,
    read_type,
    turn_frame,
    Z,
)
from ik_node.description.tree import joints_above, poses_at_zero
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import IkError
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.rotation import matrix_to_quat, pose_matrix, quat_multiply, quat_to_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PARALLEL = 1e-6
MOST_JOINTS = 200  # `guess_axis` looks at no more joints above a link


def guess_axis(
    description: Description, poses: dict[str, Array], frames: list[LoopFrame], slides: bool
) -> tuple[int, str | None]:
    """
    Return the axis 0 to 2 of a loop's frames that matches a joint of the loop, and that joint.

    The axis is z, unless another one is parallel to a joint between the two links at q = 0 and z
    is not. Prismatic joints are compared if the loop slides, else revolute ones. The joint is None
    if z is a guess.
    """
    if any(frame.link not in poses for frame in frames):
        return 2, None
    rotation = poses[frames[0].link][:3, :3] @ quat_to_matrix(frames[0].quat_xyzw)
    ways = [
        list(islice(joints_above(description.links[frame.link]), MOST_JOINTS)) for frame in frames
    ]
    shared = {id(joint) for joint in ways[0]} & {id(joint) for joint in ways[1]}
    for axis in (2, 0, 1):
        for joint in ways[0] + ways[1]:
            if id(joint) in shared or len(joint.dof) != 1 or (joint.dof[0] < DOF.EX) != slides:
                continue
            if joint.parent is None:
                continue
            base = poses[joint.parent.name] @ pose_matrix(joint.position, joint.quaternion)
            along = base[:3, joint.dof[0] % 3] @ rotation[:, axis]
            if abs(along) > 1.0 - PARALLEL:
                return axis, joint.name
    return 2, None


Poses = Callable[[], dict[str, NDArray[np.float64]]]

AXIAL_TYPES = ('hinge', 'revolute', 'continuous', 'slider', 'prismatic', 'planar')
FOREIGN_TYPES = ('revolute', 'continuous', 'prismatic', 'planar')


def read_loop_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <loop_joint> below the root element.

    <link1> or <parent> is frame_a, <link2> or <child> is frame_b. An <axis>, which Isaac ignores,
    becomes the z axis of both frames.
    """
    elements = document.root.findall('loop_joint')
    names = LoopNames(document, description)
    poses: Poses = cache(partial(poses_at_zero, description))
    loops = [_read_loop(document, element, description, names, poses) for element in elements]
    return LoopSet(document.source, 'loop_joint' if loops else '', loops)


def _read_loop(
    document: XmlDocument,
    element: Element,
    description: Description,
    names: LoopNames,
    poses: Poses,
) -> Loop:
    dof_text = element.get('dof')
    if element.get('type') is None and dof_text is not None:
        type_name = 'weld'
    else:
        type_name = read_type(document, element, tuple(CLOSURE_TYPES))
    name = names.of(element)
    if element.find('parent') is not None or element.find('child') is not None:
        frames = _fusion_frames(document, element, type_name, poses)
    else:
        frames = _frames(document, element, type_name)
    if type_name in FOREIGN_TYPES and element.find('axis') is None and dof_text is None:
        axis, along = guess_axis(description, poses(), frames, type_name == 'prismatic')
        for frame in frames:
            turn_frame(frame, np.eye(3)[axis])
        if axis != 2 or along is None:
            reason = 'no joint of the loop is parallel' if along is None else f'like {along!r}'
            description.notes.append(
                f'loop_joint {name!r}: no <axis>, taken as the {"xyz"[axis]} of its frames, '
                f'{reason}; to choose it, add <axis xyz="..."/>'
            )
    note_limit(element, name, description.notes)
    loop = Loop(name, frames[0], frames[1], type_name, line=document.line(element))
    if dof_text is not None:
        _read_dofs(document, element, loop, dof_text)
    _read_own_attributes(document, element, loop)
    return loop


def _frames(document: XmlDocument, element: Element, type_name: str) -> list[LoopFrame]:
    firsts, seconds = element.findall('link1'), element.findall('link2')
    ends = firsts[:1] + (seconds or firsts[1:])  # Isaac's own documentation writes link1 twice
    if len(firsts) < 1 or len(ends) != 2:
        raise document.error(
            element, 'expected <link1 link="..."/> and <link2 link="..."/>, once each'
        )
    frames = [read_frame(document, document.attribute(end, 'link'), end) for end in ends]
    if type_name in AXIAL_TYPES:
        axis = read_axis(document, element.find('axis'), element, Z)
        for frame in frames:
            turn_frame(frame, axis)
    return frames


def _fusion_frames(
    document: XmlDocument, element: Element, type_name: str, poses: Poses
) -> list[LoopFrame]:
    frames = [read_end(document, element, tag) for tag in ('parent', 'child')]
    parent, child = frames
    axis_element = element.find('axis')
    of_child = axis_element is not None and axis_element.get('frame', 'parent') == 'child'
    origin = element.find('child_origin')
    known = parent.link in poses() and child.link in poses()
    if known and (origin is None or origin.get('rpy') is None):
        # Only the position is given: the orientation is that of the parent's frame at q = 0.
        turned = poses()[child.link][:3, :3].T @ poses()[parent.link][:3, :3]
        child.quat_xyzw = quat_multiply(matrix_to_quat(turned), parent.quat_xyzw)
    if type_name in AXIAL_TYPES:
        axis = read_axis(document, axis_element, element, Z)
        if axis_element is not None:  # given in the link, not in the frame
            link_frame = child if of_child else parent
            axis = quat_to_matrix(link_frame.quat_xyzw).T @ axis
        for frame in frames:
            turn_frame(frame, axis)
    return frames


def _read_dofs(document: XmlDocument, element: Element, loop: Loop, text: str) -> None:
    if Closure.rows_of_type(loop.type_name)[0] != 'frame':
        raise document.error(
            element, f'dof="{text}" cannot go with type="{loop.type_name}"; leave one out'
        )
    try:
        loop.dofs = parse_dofs(text)
    except IkError as error:
        raise document.error(element, str(error)) from None


def _read_own_attributes(document: XmlDocument, element: Element, loop: Loop) -> None:
    if loop.type_name == 'distance' and element.get('distance') is None:
        raise document.error(element, 'type="distance" needs the attribute distance="..." in [m]')
    loop.distance = document.numbers(element, 'distance', (0.0,))[0]
    tolerance = element.get('tolerance')
    if tolerance is not None:
        count = len(tolerance.split())
        if count not in (1, *loop.tolerance_counts):
            what = 'one number, or two: [m] and [rad], or one for each axis'
            raise document.error(element, f'tolerance: expected {what}')
        loop.tolerance = document.numbers(element, 'tolerance', np.zeros(count).tolist())
    loop.rounding = document.numbers(element, 'rounding', (0.0, 0.0))
    loop.weight = document.numbers(element, 'weight', (1.0,))[0]
    if min(loop.distance, loop.weight, *(loop.tolerance or ()), *loop.rounding) < 0.0:
        what = 'distance, tolerance, rounding and weight'
        raise document.error(element, f'{what} must be 0 or more')
    if loop.tolerance and len(loop.tolerance) == 1:
        loop.tolerance *= 2
    enabled = element.get('enabled', 'true').strip().lower()
    if enabled not in ('true', 'false', '1', '0'):
        raise document.error(element, f'enabled="{enabled}": expected true or false')
    loop.enabled = enabled in ('true', '1')
