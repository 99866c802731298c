"""
Reader of Drake's loop elements, with or without a declared prefix.

<drake:ball_constraint>, <drake:distance_constraint> and <drake:linear_bushing_rpy> in a URDF or
SDFormat file, <drake:weld_constraint> in SDFormat; in a URDF also
<frame name="..." link="..." xyz="..." rpy="..."/>, which declares the frames of bushings.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import LoopFrame
from ik_node.description.loops.loop_frames import LoopReader
from ik_node.model.dof import DOF

PREFIX = 'drake:'
# Elements that do not constrain poses, or that are read elsewhere.
SILENT = (
    *('collision_filter_group', 'acceleration', 'joint', 'mimic'),
    *('linear_spring_damper', 'prismatic_spring'),
)


class DrakeReader(LoopReader):
    """
    A reader of constraints and bushings.

    The axes of a bushing with stiffness zero are free, all others are rigid.
    """

    dialect = 'Drake'
    notes_names = False

    def numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        """Return the numbers in `value` or the text of an element, as many as the default has."""
        if element.get('value') is not None:
            return self.document.numbers(element, 'value', default)
        self.document.text(element)
        return self.document.text_numbers(element, default)

    def frame_in(self, element: Element, tag: str) -> LoopFrame:
        """Return the link or frame that a child element names."""
        child = self.document.child(element, tag)
        return self.located(child.get('name') or self.document.text(child), element, tag)

    def located(self, name: str, element: Element, tag: str) -> LoopFrame:
        """Return the <frame> of a name, else the link."""
        for each in self.document.root.findall('frame'):
            if each.get('name') == name:
                return self.frame(self.document.attribute(each, 'link'), each)
        return LoopFrame(name)

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
            frames = [self.frame_in(element, which) for which in ('child', 'parent')]
            self.add(element, self.name_of(element), frames)
        else:
            self.notes.append(f'<{tag}> is not read')
        return kind

    def _between_points(self, element: Element, tag: str) -> None:
        ends = []
        for body, point in (('body_A', 'p_AP'), ('body_B', 'p_BQ')):
            frame = self.frame_in(element, f'{tag}_{body}')
            place = self.document.child(element, f'{tag}_{point}')
            frame.position[:] = self.numbers(place, (0.0, 0.0, 0.0))
            ends.append(frame)
        name = self.name_of(element)
        if tag == f'{PREFIX}ball_constraint':
            self.add(element, name, ends, 'point')
            return
        distance = self.numbers(self.document.child(element, f'{tag}_distance'), (0.0,))[0]
        self.add(element, name, ends, 'distance').distance = distance

    def _bushing(self, element: Element) -> None:
        frames = [self.frame_in(element, f'{PREFIX}bushing_frame{end}') for end in 'CA']
        rigid: list[DOF] = []
        for what, first in (('force', DOF.X), ('torque', DOF.EX)):
            child = self.document.child(element, f'{PREFIX}bushing_{what}_stiffness')
            values = self.numbers(child, (0.0, 0.0, 0.0))
            if min(values) < 0.0:
                raise self.document.error(child, 'a stiffness is below 0')
            rigid += [DOF(first + axis) for axis in range(3) if values[axis] > 0.0]
        if not rigid:
            self.notes.append(f'<{element.tag}> is not used: all its stiffnesses are 0')
            return
        loop = self.add(element, self.name_of(element), frames)
        loop.dofs = None if len(rigid) == len(DOF) else tuple(rigid)
        axes = ' '.join(dof.name for dof in rigid)
        self.notes.append(
            f'bushing {loop.name!r} is taken as rigid along its axes of stiffness: {axes}'
        )
