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
from ik_node.description.loops.drake import DrakeReader
from ik_node.description.sdf.frames import FrameGraph, SdfFrame, SdfScope
from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF
from ik_node.model.rotation import pose_inverse, pose_parts

PIN = (DOF.X, DOF.Y, DOF.EX, DOF.EY)


class DrakeLoops(DrakeReader):
    """A reader of Drake's loop elements in SDFormat: `result` declared and `guessed` loops."""

    notes_names = True

    def __init__(self, document: XmlDocument, graph: FrameGraph, description: Description) -> None:
        super().__init__(document, description)
        self.guessed = LoopSet(document.source)
        self._graph = graph

    def read_model(self, scope: SdfScope) -> None:
        """Read Drake's elements in one model."""
        self._scope = scope
        kinds = [self.read(element) for element in scope.frame.element]
        if 'linear_bushing_rpy' not in kinds:
            self._guess_bushings(scope)

    def numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        """Return the numbers in the text of an element."""
        self.document.text(element)
        return self.document.text_numbers(element, default)

    def frame_in(self, element: Element, tag: str) -> LoopFrame:
        """Return the frame that a child element names."""
        child = self.document.child(element, tag)
        name = self.document.text(child)
        return self._placed(self._scope.need(name, element, f'<{tag}>'))

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
            name = self.new_name('bushing')
            line = self.document.line(first.element)
            self.guessed.loops.append(Loop(name, ends[0], ends[1], dofs=PIN, line=line))
            self.guessed.dialect = CLOSING_FRAMES
            self.notes.append(
                f'the frames {first.name!r} and {ready[partner].name!r} are taken '
                f"as the ends of a bushing that Drake's user adds in code: closure {name!r}, "
                'free along and about their z; closures given beside the description replace it'
            )

    def _placed(self, frame: SdfFrame) -> LoopFrame:
        """Return a frame as its pose in the link that carries it."""
        link = self._graph.link(frame)
        pose = pose_inverse(self._graph.pose(link)) @ self._graph.pose(frame)
        return LoopFrame(link.link_name, *pose_parts(pose))


def _stem(name: str) -> str:
    """Return a frame's name without the word bushing; '' if it does not contain the word."""
    low = name.lower()
    return low.replace('bushing', '').strip('_- ') if 'bushing' in low else ''
