"""Readers of loop names, frames and axes that several URDF notations share."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, LoopFrame
from ik_node.description.xml_document import read_origin, XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_between, quat_multiply
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


# Elements below <robot> that declare loops or couplings, beside Drake's. The reader of unknown
# elements leaves them alone, and the writer does not copy them beside its own <loop_joint>.
LOOP_ELEMENTS = ('loop_joint', 'loop', 'coupling', 'constraint', 'joint_coupling')


class LoopNames:
    """A source of unique names for loop elements."""

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self._taken = {element.get('name') for element in document.root.iter()}
        self._taken |= {loop.name for each in description.loops for loop in each.loops}
        self._notes = description.notes
        self._counts: dict[str, int] = {}

    def of(self, element: Element, *, noted: bool = True) -> str:
        """Return the element's own name, or a new name made of its tag and a number."""
        name = element.get('name')
        if name is not None and name.strip():
            return name
        tag = str(element.tag).rpartition(':')[2]
        made = self.new(tag)
        if noted:
            self._notes.append(f'<{element.tag}> without a name is called {made!r}')
        return made

    def new(self, base: str) -> str:
        """Return the first unused name of base_1, base_2, ..."""
        while True:
            self._counts[base] = self._counts.get(base, 0) + 1
            made = f'{base}_{self._counts[base]}'
            if made not in self._taken:
                self._taken.add(made)
                return made


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def read_frame(document: XmlDocument, link: str, pose: Element | None) -> LoopFrame:
    """Return a frame of a link; its pose is in the attributes xyz and rpy or quat_xyzw."""
    return LoopFrame(link, *read_origin(document, pose))


def read_end(document: XmlDocument, element: Element, tag: str) -> LoopFrame:
    """Return a frame of the link in <TAG link="...">; its pose is in <TAG_origin>."""
    link = document.attribute(document.child(element, tag), 'link')
    return read_frame(document, link, element.find(f'{tag}_origin'))


def read_axis(
    document: XmlDocument, element: Element | None, owner: Element, default: Sequence[float]
) -> Array:
    """Return the unit vector of an axis element's xyz; an error names the element `owner`."""
    return document.direction(owner, document.numbers(element, 'xyz', default))


def turn_frame(frame: LoopFrame, axis: ArrayLike, onto: Sequence[float] = Z) -> None:
    """Rotate a frame in place so that its z axis (or the axis `onto`) has a given direction."""
    frame.quat_xyzw = quat_multiply(frame.quat_xyzw, quat_between(onto, axis))


def note_limit(element: Element, name: str, notes: list[str]) -> None:
    """Note that the <limit> of a loop element is not used, because a closure has no value."""
    if element.find('limit') is not None:
        notes.append(
            f'{element.tag} {name!r}: its <limit> is not used, as a loop closure has no '
            'value; limit the joints of the loop'
        )


def read_type(document: XmlDocument, element: Element, types: Sequence[str]) -> str:
    """Return the type in lower case; raise UnsupportedElementError if it is not allowed."""
    written = document.attribute(element, 'type')
    if written.strip().lower() not in types:
        message = f'type="{written[:60]}" is not known; allowed: {" ".join(types)}'
        raise document.error(element, message, UnsupportedElementError)
    return written.strip().lower()
