"""
Reader of Drake's loop elements in an SDFormat file, with or without a declared prefix.

<drake:ball_constraint>, <drake:distance_constraint>, <drake:weld_constraint> and
<drake:linear_bushing_rpy>, in any model; and pairs of frames that are meant for a bushing.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet
from ik_node.description.loops.closing_frames import DIALECT as CLOSING_FRAMES
from ik_node.description.loops.drake import PREFIX, stiff_axes
from ik_node.description.loops.loop_frames import LoopNames
from ik_node.description.sdf.frames import FrameGraph, SdfFrame, SdfScope
from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF
from ik_node.model.rotation import pose_inverse, pose_parts

# Elements that do not constrain poses, or that are read elsewhere.
SILENT = ('collision_filter_group', 'joint', 'linear_spring_damper', 'prismatic_spring')
PIN = (DOF.X, DOF.Y, DOF.EX, DOF.EY)


class DrakeLoops:
    """
    A reader of Drake's loop elements.

    Parameters
    ----------
    document : XmlDocument
    graph : FrameGraph
    description : Description
        The links are declared. Notes are appended to it.

    Attributes
    ----------
    found : list of LoopSet
        The declared loops, and the guessed ones.

    """

    def __init__(self, document: XmlDocument, graph: FrameGraph, description: Description) -> None:
        self._declared = LoopSet(document.source)
        self._guessed = LoopSet(document.source)
        self.found = [self._declared, self._guessed]
        self._document = document
        self._graph = graph
        self._notes = description.notes
        self._names = LoopNames(document, description)

    def read(self, scope: SdfScope) -> None:
        """Read Drake's elements in one model."""
        bushings = 0
        for element in scope.frame.element:
            tag = str(element.tag)
            kind = tag.removeprefix(PREFIX)
            if kind == tag or kind in SILENT:
                continue
            if kind in ('ball_constraint', 'distance_constraint'):
                self._between_points(scope, element, kind)
            elif kind == 'linear_bushing_rpy':
                self._bushing(scope, element)
                bushings += 1
            elif kind == 'weld_constraint':
                frames = [self._frame(scope, element, which) for which in ('child', 'parent')]
                self._add(element, frames, 'weld')
            else:
                self._notes.append(f'<{tag}> is not read')
        if not bushings:
            self._guess_bushings(scope)

    def _add(self, element: Element, frames: list[LoopFrame], type_name: str) -> Loop:
        loop = Loop(self._names.of(element), frames[0], frames[1], type_name)
        loop.line = self._document.line(element)
        self._declared.loops.append(loop)
        self._declared.dialect = 'Drake'
        return loop

    def _between_points(self, scope: SdfScope, element: Element, kind: str) -> None:
        ends = []
        for body, point in (('body_A', 'p_AP'), ('body_B', 'p_BQ')):
            frame = self._frame(scope, element, f'{PREFIX}{kind}_{body}')
            place = self._document.child(element, f'{PREFIX}{kind}_{point}')
            frame.position[:] = self._numbers(place, (0.0, 0.0, 0.0))
            ends.append(frame)
        loop = self._add(element, ends, 'point' if kind == 'ball_constraint' else 'distance')
        if kind == 'distance_constraint':
            length = self._document.child(element, f'{PREFIX}{kind}_distance')
            loop.distance = self._numbers(length, (0.0,))[0]
            if loop.distance < 0.0:
                raise self._document.error(length, f'the distance {loop.distance:g} is below 0 m')

    def _bushing(self, scope: SdfScope, element: Element) -> None:
        frames = [self._frame(scope, element, f'{PREFIX}bushing_frame{end}') for end in 'CA']
        rigid = stiff_axes(self._document, element, self._numbers)
        if not rigid:
            self._notes.append(f'<{element.tag}> is not used: all its stiffnesses are 0')
            return
        loop = self._add(element, frames, 'weld')
        loop.dofs = None if len(rigid) == len(DOF) else rigid
        axes = ' '.join(dof.name for dof in rigid)
        self._notes.append(
            f'bushing {loop.name!r} is taken as rigid along its axes of stiffness: {axes}'
        )

    def _numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        self._document.text(element)
        return self._document.text_numbers(element, default)

    def _guess_bushings(self, scope: SdfScope) -> None:
        """Add loops between frames such as Bc_bushing and Cb_bushing in Drake's example."""
        frames = {name: frame for name, frame in scope.frames.items() if frame.kind == 'frame'}
        ready = {_stem(name): frame for name, frame in frames.items() if _stem(name)}
        done: set[str] = set()
        for stem, first in ready.items():
            reversed_stems = (stem[::-1], '_'.join(reversed(stem.split('_'))))
            partner = next(
                (each for each in reversed_stems if each in ready and each != stem), None
            )
            if partner is None or stem in done:
                continue
            done |= {stem, partner}
            ends = [self._placed(ready[partner]), self._placed(first)]
            if ends[0].link == ends[1].link:
                continue
            name = self._names.new('bushing')
            loop = Loop(name, ends[0], ends[1], line=self._document.line(first.element))
            loop.dofs = PIN
            self._guessed.loops.append(loop)
            self._guessed.dialect = CLOSING_FRAMES
            self._notes.append(
                f'the frames {first.name!r} and {ready[partner].name!r} are taken '
                f"as the ends of a bushing that Drake's user adds in code: closure {name!r}, "
                'free along and about their z; closures given beside the description replace it'
            )

    def _placed(self, frame: SdfFrame) -> LoopFrame:
        """Return a frame as its pose in the link that carries it."""
        link = self._graph.link(frame)
        pose = pose_inverse(self._graph.pose(link)) @ self._graph.pose(frame)
        return LoopFrame(link.link_name, *pose_parts(pose))

    def _frame(self, scope: SdfScope, element: Element, tag: str) -> LoopFrame:
        """Return the frame that a child element names."""
        child = self._document.child(element, tag)
        return self._placed(scope.need(self._document.text(child), element, f'<{tag}>'))


def _stem(name: str) -> str:
    """Return a frame's name without the word bushing; '' if it does not contain the word."""
    low = name.lower()
    return low.replace('bushing', '').strip('_- ') if 'bushing' in low else ''
