"""
Reader of Drake's loop elements, with or without a declared prefix.

<drake:ball_constraint>, <drake:distance_constraint> and <drake:linear_bushing_rpy> in a URDF or
SDFormat file, <drake:weld_constraint> in SDFormat; in a URDF also
<frame name="..." link="..." xyz="..." rpy="..."/>, which declares the frames of bushings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, unknown
from ik_node.description.loops.loop_frames import LoopNames, read_frame
from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF

PREFIX = 'drake:'
# Elements that do not constrain poses, or that are read elsewhere.
SILENT = (
    *('collision_filter_group', 'acceleration', 'joint', 'mimic'),
    *('linear_spring_damper', 'prismatic_spring'),
)


class DrakeReader(ABC):
    """
    A reader of constraints and bushings; formats differ in how they write numbers and frames.

    The axes of a bushing with stiffness zero are free, all others are rigid.
    """

    names_are_usual = False  # an element without a name is noted

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self.result = LoopSet(document.source)
        self._document = document
        self._notes = description.notes
        self._names = LoopNames(document, description)

    @abstractmethod
    def numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        """Return the numbers of an element, as many as the default has."""

    @abstractmethod
    def frame(self, element: Element, tag: str) -> LoopFrame:
        """Return the link or frame that a child element names."""

    def read(self, element: Element) -> str:
        """Read an element if it is one of Drake's that constrain poses; return its kind."""
        tag = str(element.tag)
        kind = tag.removeprefix(PREFIX)
        if kind == tag or kind in SILENT:
            return ''
        if kind in ('ball_constraint', 'distance_constraint'):
            self._between_points(element, tag)
        elif kind == 'linear_bushing_rpy':
            self._bushing(element)
        elif kind == 'weld_constraint':
            self._add(element, [self.frame(element, which) for which in ('child', 'parent')])
        else:
            self._notes.append(f'<{tag}> is not read')
        return kind

    def _add(self, element: Element, frames: list[LoopFrame], type_name: str = 'weld') -> Loop:
        name = self._names.of(element, noted=self.names_are_usual)
        loop = Loop(name, frames[0], frames[1], type_name, line=self._document.line(element))
        self.result.loops.append(loop)
        self.result.dialect = 'Drake'
        return loop

    def _between_points(self, element: Element, tag: str) -> None:
        ends = []
        for body, point in (('body_A', 'p_AP'), ('body_B', 'p_BQ')):
            frame = self.frame(element, f'{tag}_{body}')
            place = self._document.child(element, f'{tag}_{point}')
            frame.position[:] = self.numbers(place, (0.0, 0.0, 0.0))
            ends.append(frame)
        if tag == f'{PREFIX}ball_constraint':
            self._add(element, ends, 'point')
            return
        child = self._document.child(element, f'{tag}_distance')
        distance = self.numbers(child, (0.0,))[0]
        if distance < 0.0:
            raise self._document.error(child, f'the distance {distance:g} is below 0 m')
        self._add(element, ends, 'distance').distance = distance

    def _bushing(self, element: Element) -> None:
        frames = [self.frame(element, f'{PREFIX}bushing_frame{end}') for end in 'CA']
        rigid: list[DOF] = []
        for what, first in (('force', DOF.X), ('torque', DOF.EX)):
            child = self._document.child(element, f'{PREFIX}bushing_{what}_stiffness')
            values = self.numbers(child, (0.0, 0.0, 0.0))
            if min(values) < 0.0:
                raise self._document.error(child, 'a stiffness is below 0')
            rigid += [DOF(first + axis) for axis in range(3) if values[axis] > 0.0]
        if not rigid:
            self._notes.append(f'<{element.tag}> is not used: all its stiffnesses are 0')
            return
        loop = self._add(element, frames)
        loop.dofs = None if len(rigid) == len(DOF) else tuple(rigid)
        axes = ' '.join(dof.name for dof in rigid)
        self._notes.append(
            f'bushing {loop.name!r} is taken as rigid along its axes of stiffness: {axes}'
        )


class _OfUrdf(DrakeReader):
    def __init__(self, document: XmlDocument, description: Description) -> None:
        super().__init__(document, description)
        self._description = description
        self._frames: dict[str, LoopFrame] | None = None

    def numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        self._document.attribute(element, 'value')
        return self._document.numbers(element, 'value', default)

    def frame(self, element: Element, tag: str) -> LoopFrame:
        document, child = self._document, self._document.child(element, tag)
        name = document.attribute(child, 'name')
        if '_body_' in tag:
            return LoopFrame(name)
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
            raise document.error(child, message)
        return LoopFrame(name)


def read_drake(document: XmlDocument, description: Description) -> LoopSet:
    """Read Drake's constraints and bushings in a URDF."""
    reader = _OfUrdf(document, description)
    for element in document.root:
        reader.read(element)
    return reader.result
