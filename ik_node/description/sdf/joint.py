"""A <joint> of SDFormat as joints of one kind of motion each."""

from __future__ import annotations

from dataclasses import dataclass, field

from ik_node.description.joint_spec import JointPart
from ik_node.description.sdf.axis import SdfAxis
from ik_node.description.sdf.flag import is_true
from ik_node.description.sdf.frame import SdfFrame
from ik_node.description.sdf.frame_graph import FrameGraph
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown, UnsupportedElementError
from ik_node.model.rotation import pose_inverse
import numpy as np

ONE_AXIS = ('revolute', 'continuous', 'prismatic', 'screw')
TWO_AXES = ('universal', 'revolute2')
TYPES = (*ONE_AXIS, *TWO_AXES, 'ball', 'fixed', 'gearbox')
MUST_CLOSE = 'physics/simbody/must_be_loop_joint'
APART = 1e-6  # [m]
DRAKE_TYPES = ('planar',)


@dataclass
class SdfJoint:
    """
    A joint as the file has it, and what becomes of it.

    Attributes
    ----------
    frame : SdfFrame
    type_name : str
    parts : list of JointPart
        One, or two in a row: of a universal or revolute2 joint NAME about <axis> and NAME_axis2
        about <axis2>; of a screw NAME, which turns, and NAME_slide, which follows it. None of a
        gearbox, which only ties two others.
    axes : dict of str to SdfAxis
        By tag: 'axis', 'axis2'.

    """

    frame: SdfFrame
    type_name: str
    parts: list[JointPart] = field(default_factory=list)
    axes: dict[str, SdfAxis] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return its scoped name."""
        return self.frame.name

    def part_of(self, tag: str) -> JointPart | None:
        """Return what moves about its <axis> or <axis2>, if one joint value does."""
        if tag not in self.axes or not self.parts:
            return None
        return self.parts[list(self.axes).index(tag)]


def read_joint(
    document: XmlDocument,
    graph: FrameGraph,
    version: tuple[int, ...],
    frame: SdfFrame,
    notes: list[str],
) -> SdfJoint:
    """
    Read one joint; it holds at the poses in which the links are written.

    Raises
    ------
    DescriptionError
        If its type, an end or an axis cannot be read.

    """
    element = frame.element
    type_name = document.attribute(element, 'type').strip().lower().removeprefix('drake:')
    allowed = DRAKE_TYPES if frame.kind == 'drake:joint' else TYPES
    if type_name not in allowed:
        message = f'type="{type_name}" is not known; allowed: {" ".join(allowed)}'
        raise document.error(element, message, UnsupportedElementError)
    joint = SdfJoint(frame, type_name)
    tags = ('axis', 'axis2') if type_name in (*TWO_AXES, 'gearbox') else ('axis',)
    if type_name in (*ONE_AXIS, *TWO_AXES, 'gearbox'):
        for tag in tags:
            joint.axes[tag] = SdfAxis(document, graph, version, frame, tag, notes)
    if type_name != 'gearbox':
        _divide(document, graph, joint, notes)
    return joint


def _divide(document: XmlDocument, graph: FrameGraph, joint: SdfJoint, notes: list[str]) -> None:
    """Make the parts of a joint."""
    held = graph.end(joint.frame, 'parent')
    parent, child = (graph.link(each) for each in (held, graph.end(joint.frame, 'child')))
    if parent is child:
        message = (
            f'its parent and its child are the same link {shown(child.link_name)}; it joins two'
        )
        raise document.error(joint.frame.element, message)
    here = graph.pose(joint.frame)
    away = float(np.max(np.abs(graph.pose(held)[:3, 3] - here[:3, 3])))
    if held.kind == 'frame' and away > APART:
        notes.append(
            f'joint {shown(joint.name)}: its parent frame {shown(held.name)} is '
            f'{away:.3g} m away from it '
            'where the links are written; SDFormat holds the links as written, it does not bring '
            'the frames together'
        )
    first = JointPart(joint.name, joint.type_name, parent.link_name, child.link_name)
    first.line = document.line(joint.frame.element)
    first.place(pose_inverse(graph.pose(parent)) @ here)
    last = first
    if joint.type_name in ('screw', *TWO_AXES):
        kind, name = 'revolute', f'{joint.name}_axis2'
        if joint.type_name == 'screw':
            kind, name = 'prismatic', f'{joint.name}_slide'
        between = f'{joint.name}__between'
        last = JointPart(name, kind, between, first.child, line=first.line)
        first.child, first.type_name = between, 'revolute'
    last.place(child=pose_inverse(here) @ graph.pose(child))
    joint.parts = [first] if last is first else [first, last]
    last.must_close = is_true(joint.frame.element.findtext(MUST_CLOSE))
    if joint.type_name == 'planar':
        first.axis = np.array((0.0, 0.0, 1.0))
    for part, axis in zip(joint.parts, joint.axes.values(), strict=False):
        part.axis, part.velocity = axis.direction, axis.velocity
        if joint.type_name != 'continuous':
            part.lower, part.upper = axis.lower, axis.upper
    if joint.type_name == 'screw':
        last.axis = first.axis
