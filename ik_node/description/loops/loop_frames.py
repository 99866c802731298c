"""Base of the readers of loop elements, and readers of frames and axes that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet
from ik_node.description.tree import poses_at_zero
from ik_node.description.xml_document import Array, read_origin, XmlDocument
from ik_node.model.rotation import quat_between, quat_multiply
from numpy.typing import ArrayLike

# Elements below <robot> that declare loops or couplings, beside Drake's. The reader of unknown
# elements leaves them alone, and the writer does not copy them beside its own <loop_joint>.
LOOP_ELEMENTS = ('loop_joint', 'loop', 'coupling', 'constraint', 'joint_coupling')
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class LoopReader:
    """A reader of the loop elements of one notation, whose loops `result` collects."""

    dialect = ''
    notes_names = True  # whether an element without a name is noted

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self.document = document
        self.description = description
        self.notes = description.notes
        self.result = LoopSet(document.source, self.dialect)
        self._taken = {element.get('name') for element in document.root.iter()}
        self._taken |= {loop.name for each in description.loops for loop in each.loops}
        self._numbers: defaultdict[str, count[int]] = defaultdict(lambda: count(1))

    @cached_property
    def poses(self) -> dict[str, Array]:
        """Return the 4x4 pose of every link with all joints at 0."""
        return poses_at_zero(self.description)

    @classmethod
    def read_all(cls, document: XmlDocument, description: Description) -> LoopSet:
        """Read the elements of the notation below the root element."""
        reader = cls(document, description)
        for element in document.root:
            reader.read(element)
        reader.finish()
        return reader.result

    def read(self, element: Element) -> object:
        """Read an element if it is one of the notation."""

    def finish(self) -> None:
        """Conclude from all elements."""

    def name_of(self, element: Element) -> str:
        """Return the element's own name, or a new name made of its tag and a number."""
        name = element.get('name')
        if name is not None and name.strip():
            return name
        made = self.new_name(str(element.tag).rpartition(':')[2])
        if self.notes_names:
            self.notes.append(f'<{element.tag}> without a name is called {made!r}')
        return made

    def new_name(self, base: str) -> str:
        """Return the first unused name of base_1, base_2, ..."""
        names = (f'{base}_{number}' for number in self._numbers[base])
        name = next(each for each in names if each not in self._taken)
        self._taken.add(name)
        return name

    def add(
        self, element: Element, name: str, frames: Sequence[LoopFrame], type_name: str = 'weld'
    ) -> Loop:
        """Add a loop between frame_a and frame_b."""
        if element.find('limit') is not None:
            self.notes.append(
                f'{element.tag} {name!r}: its <limit> is not used, as a loop closure has no '
                'value; limit the joints of the loop'
            )
        frame_a, frame_b = frames
        loop = Loop(name, frame_a, frame_b, type_name, line=self.document.line(element))
        self.result.loops.append(loop)
        return loop

    def frame(self, link: str, pose: Element | None) -> LoopFrame:
        """Return a frame of a link; its pose is in the attributes xyz and rpy or quat_xyzw."""
        return LoopFrame(link, *read_origin(self.document, pose))

    def end(self, element: Element, tag: str) -> LoopFrame:
        """Return a frame of the link in <TAG link="...">; its pose is in <TAG_origin>."""
        link = self.document.attribute(self.document.child(element, tag), 'link')
        return self.frame(link, element.find(f'{tag}_origin'))

    def axis(self, axis: Element | None, owner: Element, default: Sequence[float]) -> Array:
        """Return the unit vector of an axis element's xyz; an error names the element `owner`."""
        return self.document.direction(owner, self.document.numbers(axis, 'xyz', default))


def turn_frame(frame: LoopFrame, axis: ArrayLike, onto: Sequence[float] = Z) -> None:
    """Rotate a frame in place so that its z axis (or the axis `onto`) has a given direction."""
    frame.quat_xyzw = quat_multiply(frame.quat_xyzw, quat_between(onto, axis))
