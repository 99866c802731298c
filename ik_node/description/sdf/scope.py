"""Scopes of names in an SDFormat file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ik_node.description.description import WORLD
from ik_node.description.unknown_name import quoted, unknown
from ik_node.description.xml_document import is_true, XmlDocument


def choose_model(document: XmlDocument, notes: list[str]) -> tuple[Element, Element | None]:
    """
    Return the parent of the robot, <sdf> or <world>, and the robot's <model>.

    Of several models, the robot is the only one that is not static or, if there are more, the only
    one of these with joints. If the world has joints, they make one robot of all its models, and
    the model is None.

    Raises
    ------
    DescriptionError
        If there is no model, or the choice is ambiguous.

    """
    root = document.root
    around = [root, *root.findall('world')]
    models = [(each, model) for each in around for model in each.findall('model')]
    if not models:
        raise document.error(root, 'no <model> in it' + include_hint(root))
    if len(models) == 1:
        return models[0]
    world = models[0][0]
    if world.find('joint') is not None and all(each is world for each, _ in models):
        return world, None
    loose = [each for each in models if not is_true(each[1].findtext('static'))]
    moving = [each for each in loose if _moves(each[1])] or loose
    if len(moving) != 1:
        message = (
            f'several models: {_names(moving or models)}; which one is the robot? Keep only that '
            'one in the file'
        )
        raise document.error(root, message)
    others = [each for each in models if each is not moving[0]]
    notes.append(f'of several models {_names(moving)} is read, not {_names(others)}')
    return moving[0]


def _moves(model: Element) -> bool:
    return any(joint.get('type') != 'fixed' for joint in model.iter('joint'))


def _names(models: Sequence[tuple[Element, Element]]) -> str:
    return quoted([model.get('name', '') for _, model in models])


@dataclass(eq=False)
class SdfFrame:
    """
    A link, joint, frame or model, or the world, which other elements can name.

    Attributes
    ----------
    name : str
        Name with those of the models around it: 'arm::tip'.
    element : Element
    scope : SdfScope
        The model that contains it; for the world, its own scope.
    inner : SdfScope or None
        Its own scope, for a model and for the world.

    """

    name: str
    element: Element
    scope: SdfScope
    inner: SdfScope | None = None

    @property
    def kind(self) -> str:
        """Return the tag."""
        return str(self.element.tag)

    @property
    def is_joint(self) -> bool:
        """Return True if it is a joint, including <drake:joint>."""
        return self.kind in ('joint', 'drake:joint')

    @property
    def link_name(self) -> str:
        """Return the name of the link, or of the world, in the model graph."""
        return WORLD if self.is_world else self.name

    @property
    def is_world(self) -> bool:
        """Return True if it is the outermost scope."""
        return self.scope.frame is self


# If two elements share a name, the kind that comes first is meant.
KINDS = ('link', 'frame', 'joint', 'drake:joint', 'model')
MODEL = '__model__'
_INCLUDE_HINT = '; an <include> is not read: expand it with `gz sdf -p FILE`'


class SdfScope:
    """
    The names in a model, or in the world around models.

    Parameters
    ----------
    document : XmlDocument
    element : Element
        The <model>, or its parent <world> or <sdf>.
    name : str
        Name of the model with those of the models around it; '' for the robot itself.
    outer : SdfScope, optional
        The enclosing scope; None for the world.
    robot : Element, optional
        The model in the world that is the robot: its names get no prefix.

    Attributes
    ----------
    frame : SdfFrame
        The model itself.
    frames : dict of str to SdfFrame
        The frames by their names in this scope.

    Raises
    ------
    DescriptionError
        If a name is missing, or two elements of one kind share a name.

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
        """Yield all frames of some kinds in the file's order, including those in nested models."""
        for frame in self._all:
            if frame.kind in kinds:
                yield frame
            if frame.inner is not None:
                yield from frame.inner.every(*kinds)

    def find(self, name: str) -> SdfFrame | None:
        """Return the frame that a name refers to: 'tip', 'arm::tip', '__model__' or 'world'."""
        if name in ('', MODEL):
            return self.frame
        found = self.frames.get(name)
        if name == WORLD and (found is None or found.kind != 'link'):
            return self.world  # a reserved name, which some joints have nevertheless
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
        Return the frame that a name refers to.

        Raises
        ------
        DescriptionError
            If there is none; the message begins with `where`, the place of the name in the
            element.

        """
        found = self.find(name)
        if found is None:
            message = unknown('link or frame', name, list(self.frames))
            message += include_hint(self.world.element)
            raise self._document.error(element, f'{where}: {message}')
        return found

    def is_included(self, name: str) -> bool:
        """Return True if a name belongs to an <include> in this scope, which is not read."""
        head, _, rest = name.partition('::')
        named = self.frames.get(head)
        if rest and named is not None and named.inner is not None:
            return named.inner.is_included(rest)
        brought = self._merges or head in self._includes
        return brought and self.find(name) is None

    @property
    def world(self) -> SdfFrame:
        """Return the world that contains the scope."""
        frame = self.frame
        while not frame.is_world:
            frame = frame.scope.frame
        return frame


def include_hint(around: Element) -> str:
    """Return a hint for a message about a missing element if the file has an <include>."""
    return '' if next(around.iter('include'), None) is None else _INCLUDE_HINT


def _last(uri: str) -> str:
    """Return the name of a model from the URI of an <include> without a <name>."""
    return uri.strip().rstrip('/').rpartition('/')[2]
