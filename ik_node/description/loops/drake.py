"""
Reader of Drake's loop elements in a URDF, with or without a declared prefix.

<drake:ball_constraint>, <drake:distance_constraint>, <drake:linear_bushing_rpy> between frames
that <frame name="..." link="..." xyz="..." rpy="..."/> declares, and <drake:mimic> in a joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import (
    CouplingRule,
    Description,
    Loop,
    LoopFrame,
    LoopSet,
    unknown,
)
from ik_node.description.loops.loop_frames import LoopNames, read_frame
from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF


def stiff_axes(
    document: XmlDocument,
    bushing: Element,
    numbers: Callable[[Element, Sequence[float]], list[float]],
) -> tuple[DOF, ...]:
    """
    Return the axes of a <drake:linear_bushing_rpy> whose stiffness is not zero.

    Parameters
    ----------
    document : XmlDocument
        The document, for error messages.
    bushing : Element
        An element of the document.
    numbers : callable
        Returns the numbers of an element, as many as its second argument has. URDF and SDFormat
        write them in different places.

    """
    stiff: list[DOF] = []
    for what, first in (('force', DOF.X), ('torque', DOF.EX)):
        child = document.child(bushing, f'drake:bushing_{what}_stiffness')
        values = numbers(child, (0.0, 0.0, 0.0))
        if min(values) < 0.0:
            raise document.error(child, 'a stiffness is below 0')
        stiff += [DOF(first + axis) for axis in range(3) if values[axis] > 0.0]
    return tuple(stiff)


PREFIX = 'drake:'
SILENT = ('drake:collision_filter_group', 'drake:acceleration', 'drake:joint')


def read_drake(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read Drake's constraints, bushings and mimic rules.

    The axes of a bushing with stiffness zero are free, all others are rigid.
    """
    found = LoopSet(document.source)
    reader = _DrakeReader(document, description, found)
    for element in document.root:
        tag = str(element.tag)
        if tag == 'drake:ball_constraint':
            reader.read_ball(element)
        elif tag == 'drake:distance_constraint':
            reader.read_distance(element)
        elif tag == 'drake:linear_bushing_rpy':
            reader.read_bushing(element)
        elif tag == 'joint' and element.find('drake:mimic') is not None:
            reader.read_mimic(element)
        elif tag.startswith(PREFIX) and tag not in SILENT:
            description.notes.append(f'<{tag}> is not read')
    if found.loops or found.couplings:
        found.dialect = 'Drake'
    return found


class _DrakeReader:
    """A reader that adds elements to a LoopSet."""

    def __init__(self, document: XmlDocument, description: Description, found: LoopSet) -> None:
        self._document = document
        self._description = description
        self._found = found
        self._names = LoopNames(document, description)
        self._frames: dict[str, LoopFrame] | None = None

    def read_ball(self, element: Element) -> None:
        """Read two points that must coincide."""
        self._found.loops.append(self._between_points(element, 'point'))

    def read_distance(self, element: Element) -> None:
        """Read two points at a fixed distance."""
        loop = self._between_points(element, 'distance')
        child = self._document.child(element, f'{element.tag}_distance')
        loop.distance = self._numbers(child, (0.0,))[0]
        if loop.distance < 0.0:
            raise self._document.error(element, f'the distance {loop.distance:g} is below 0 m')
        self._found.loops.append(loop)

    def _between_points(self, element: Element, kind: str) -> Loop:
        ends = []
        for body, point in (('body_A', 'p_AP'), ('body_B', 'p_BQ')):
            link = self._document.child(element, f'{element.tag}_{body}')
            frame = LoopFrame(self._document.attribute(link, 'name'))
            place = self._document.child(element, f'{element.tag}_{point}')
            frame.position[:] = self._numbers(place, (0.0, 0.0, 0.0))
            ends.append(frame)
        line = self._document.line(element)
        return Loop(self._names.of(element, noted=False), ends[0], ends[1], kind, line=line)

    def read_bushing(self, element: Element) -> None:
        """Read a bushing as a closure of its stiff axes."""
        name = self._names.of(element, noted=False)
        frames = []
        for tag in ('drake:bushing_frameC', 'drake:bushing_frameA'):
            child = self._document.child(element, tag)
            frames.append(self._frame(self._document.attribute(child, 'name'), child))
        rigid = stiff_axes(self._document, element, self._numbers)
        notes = self._description.notes
        if not rigid:
            notes.append(f'bushing {name!r} is not used: all its stiffnesses are 0')
            return
        axes = ' '.join(dof.name for dof in rigid)
        notes.append(f'bushing {name!r} is taken as rigid along its axes of stiffness: {axes}')
        loop = Loop(name, frames[0], frames[1], line=self._document.line(element))
        loop.dofs = None if len(rigid) == len(DOF) else rigid
        self._found.loops.append(loop)

    def _numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        self._document.attribute(element, 'value')
        return self._document.numbers(element, 'value', default)

    def _frame(self, name: str, element: Element) -> LoopFrame:
        """Return a copy of a declared frame, or the frame of a link."""
        document = self._document
        if self._frames is None:
            self._frames = {
                document.attribute(each, 'name'): read_frame(
                    document, document.attribute(each, 'link'), each
                )
                for each in document.root.findall('frame')
            }
        known = self._frames.get(name)
        if known is not None:
            return LoopFrame(known.link, known.position.copy(), known.quat_xyzw.copy())
        if name not in self._description.links:
            message = unknown('frame', name, [*self._frames, *self._description.links])
            raise document.error(element, message)
        return LoopFrame(name)

    def read_mimic(self, joint: Element) -> None:
        """Read a <drake:mimic> of a joint without <mimic>."""
        mimic = self._document.child(joint, 'drake:mimic')
        follower = self._description.joints.get(joint.get('name', ''))
        leader = self._description.joints.get(mimic.get('joint', ''))
        if follower is None or follower.couplings:
            return  # URDF's own <mimic> takes precedence
        if leader is None or len(leader.dof) != 1 or len(follower.dof) != 1:
            self._description.notes.append(
                f'joint {joint.get("name")!r}: its <drake:mimic> is not read: it names '
                'no joint of one DoF'
            )
            return
        multiplier = self._document.numbers(mimic, 'multiplier', (1.0,))
        offset = self._document.numbers(mimic, 'offset', (0.0,))
        line = self._document.line(mimic)
        rule = CouplingRule(follower.name, leader.name, offset + multiplier, line)
        self._found.couplings.append(rule)
