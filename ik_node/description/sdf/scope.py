"""The names that one model of an SDFormat file gives."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ik_node.description.description import WORLD
from ik_node.description.sdf.flag import is_true
from ik_node.description.sdf.frame import SdfFrame
from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import XmlDocument

# where two share a name, the kind that comes first is meant
KINDS = ('link', 'frame', 'joint', 'drake:joint', 'model')
MODEL = '__model__'
_INCLUDE_HINT = '; what an <include> brings is not read: write it out, `gz sdf -p FILE` does that'


class SdfScope:
    """
    A model, or the world around models, and the names in it.

    Parameters
    ----------
    document : XmlDocument
    element : Element
        The <model>, or what stands around it: <world> or <sdf>.
    name : str
        Of the model, with the names of those around it; '' of the robot itself.
    outer : SdfScope, optional
        What stands around it; None of the world.
    robot : Element, optional
        Of the models in the world the one that is read: its names get no prefix.

    Attributes
    ----------
    frame : SdfFrame
        The model itself.
    frames : dict of str to SdfFrame
        By their names in here.

    Raises
    ------
    DescriptionError
        If a name is missing, or two of a kind share one.

    """

    def __init__(
        self,
        document: XmlDocument,
        element: Element,
        name: str = '',
        outer: SdfScope | None = None,
        robot: Element | None = None,
    ) -> None:
        self.frame = SdfFrame(name, element, outer or self, self)
        self.frames: dict[str, SdfFrame] = {}
        self._document = document
        self._all: list[SdfFrame] = []
        includes = element.findall('include')
        self._merges = any(is_true(each.get('merge')) for each in includes)
        self._includes = {each.findtext('name', '').strip() for each in includes}
        self._includes |= {_last(each.findtext('uri', '')) for each in includes}
        prefix = f'{name}::' if name else ''
        of_kind: dict[str, dict[str, SdfFrame]] = {kind: {} for kind in KINDS}
        for child in element:
            kind = str(child.tag)
            if kind not in KINDS:
                continue
            if child is robot:
                name = child.get('name', '')
                frame = SdfScope(document, child, '', self).frame
            else:
                name = document.attribute(child, 'name')
                frame = SdfFrame(prefix + name, child, self)
            if kind == 'model' and robot is None:
                frame = SdfScope(document, child, prefix + name, self).frame
            first = of_kind[kind].setdefault(name, frame)
            if first is not frame:
                line = document.line(first.element)
                raise document.error(child, f'a {kind} of that name is declared on line {line}')
            self._all.append(frame)
        for kind in reversed(KINDS):
            self.frames.update(of_kind[kind])

    def every(self, *kinds: str) -> Iterator[SdfFrame]:
        """Give all of some kinds, in the order of the file, those in nested models included."""
        for frame in self._all:
            if frame.kind in kinds:
                yield frame
            if frame.inner is not None:
                yield from frame.inner.every(*kinds)

    def find(self, name: str) -> SdfFrame | None:
        """Return what a name means in here: 'tip', 'arm::tip', '__model__', 'world'."""
        if name in ('', MODEL):
            return self.frame
        found = self.frames.get(name)
        if name == WORLD and (found is None or found.kind != 'link'):
            return self.world  # reserved, yet joints are called so
        if found is not None:
            return found
        head, _, rest = name.partition('::')
        named = self.frames.get(head)
        if rest and named is not None and named.inner is not None:
            return named.inner.find(rest)
        if rest and not self.frame.name and head == self.frame.element.get('name'):
            return self.frames.get(rest)  # the robot's own name in front
        return None

    def need(self, name: str, element: Element, where: str) -> SdfFrame:
        """
        Return what a name means in here.

        Raises
        ------
        DescriptionError
            If it means nothing; `where` in which element says where it stands.

        """
        found = self.find(name)
        if found is None:
            message = unknown('link or frame', name, list(self.frames))
            message += include_hint(self.world.element)
            raise self._document.error(element, f'{where}: {message}')
        return found

    def is_included(self, name: str) -> bool:
        """Say whether a name is of something that an <include> in here brings; none is read."""
        head, _, rest = name.partition('::')
        named = self.frames.get(head)
        if rest and named is not None and named.inner is not None:
            return named.inner.is_included(rest)
        brought = self._merges or head in self._includes
        return brought and self.find(name) is None

    @property
    def world(self) -> SdfFrame:
        """Return the world around it."""
        frame = self.frame
        while not frame.is_world:
            frame = frame.scope.frame
        return frame


def include_hint(around: Element) -> str:
    """Return what to add to a message that something is missing: an <include> may bring it."""
    return '' if next(around.iter('include'), None) is None else _INCLUDE_HINT


def _last(uri: str) -> str:
    """Return what a model is called that an <include> without a <name> brings."""
    return uri.strip().rstrip('/').rpartition('/')[2]
