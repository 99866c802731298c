"""Names, poses and carriers of the frames in an SDFormat file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import re
from xml.etree.ElementTree import Element

from ik_node.description.description import quoted, unknown, WORLD
from ik_node.description.xml_document import Array, is_true, XmlDocument
from ik_node.errors import DescriptionError
from ik_node.model.rotation import pose_inverse, pose_matrix, quat_from_euler
import numpy as np


def choose_model(document: XmlDocument, notes: list[str]) -> tuple[Element, Element | None]:
    """
    Return the parent of the robot, <sdf> or <world>, and the robot's <model>.

    Of several models, the robot is the only one that is not static or, if there are more, the only
    one of these with joints. If the world has joints, they make one robot of all its models, and
    the model is None.
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
    """A link, joint, frame or model, or the world, which other elements can name."""

    name: str  # Name with those of the models around it: 'arm::tip'
    element: Element
    scope: SdfScope  # The model that contains it; for the world, its own scope
    inner: SdfScope | None = None  # Its own scope, for a model and for the world

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

    The element is the <model>, or its parent <world> or <sdf>; its name includes those of the
    models around it and is '' for the robot itself. `outer` is the enclosing scope, None for the
    world, and `robot` the model in the world whose names get no prefix. `frame` is the model
    itself, and `frames` has the frames by their names in this scope.
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
        seen: dict[str, dict[str, Element | None]] = {kind: {} for kind in KINDS}
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
            document.once(child, kind, name, seen[kind])
            of_kind[kind][name] = frame
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
        result = self.frames.get(name)
        if name == WORLD and (result is None or result.kind != 'link'):
            return self.world  # a reserved name, which some joints have nevertheless
        if result is not None:
            return result
        head, _, rest = name.partition('::')
        named = self.frames.get(head)
        if rest and named is not None and named.inner is not None:
            return named.inner.find(rest)
        if rest and not self.frame.name and head == self.frame.element.get('name'):
            return self.frames.get(rest)  # the robot's own name in front
        return None

    def need(self, name: str, element: Element, where: str) -> SdfFrame:
        """Return the frame that a name refers to."""
        result = self.find(name)
        if result is None:
            message = unknown('link or frame', name, list(self.frames))
            hint = include_hint(self.world.element)
            raise self._document.error(element, f'{where}: {message}{hint}')
        return result

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


NEWEST = (1, 12)


def read_version(document: XmlDocument, notes: list[str]) -> tuple[int, ...]:
    """Return the version of SDFormat, such as (1, 9)."""
    text = document.root.get('version', '').strip()
    if re.fullmatch(r'[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3})*', text):
        return tuple(map(int, text.split('.')))
    notes.append(f'version="{text[:20]}", read as SDFormat {".".join(map(str, NEWEST))}')
    return NEWEST


FORMATS = ('euler_rpy', 'quat_xyzw')


def read_pose(document: XmlDocument, element: Element | None) -> Array:
    """Return the 4x4 matrix of a <pose>; the identity if it is missing or empty."""
    if element is None:
        return np.eye(4)
    form = document.word(element, 'rotation_format', FORMATS, FORMATS[0])
    if form == 'quat_xyzw':
        numbers = document.text_numbers(element, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        return pose_matrix(numbers[:3], document.direction(element, numbers[3:], 'quaternion'))
    numbers = document.text_numbers(element, (0.0,) * 6)
    if is_true(element.get('degrees')):
        numbers[3:] = np.radians(numbers[3:]).tolist()
    return pose_matrix(numbers[:3], quat_from_euler(*numbers[3:]))


class FrameGraph:
    """
    Frames that `relative_to`, `attached_to`, `placement_frame`, `canonical_link` connect.

    `placed` has the poses of frames whose elements have none, in the model around them.
    """

    def __init__(
        self,
        document: XmlDocument,
        version: tuple[int, ...],
        placed: Mapping[SdfFrame, Array] | None = None,
    ) -> None:
        self._document = document
        self.version = version
        self._local = dict(placed or {})  # pose in the model around it
        self._global: dict[SdfFrame, Array] = {}  # pose in the world
        self._carriers: dict[SdfFrame, SdfFrame] = {}

    def pose(self, frame: SdfFrame) -> Array:
        """Return the 4x4 pose of a frame in the world, in the file's configuration."""
        result = self._global.get(frame)
        if result is None:
            world = frame.scope.world.scope
            for each in _between(frame, world):
                if each not in self._local:
                    self._resolve(each)
            result = self._global[frame] = self._in(world, frame)
        return result

    def link(self, frame: SdfFrame) -> SdfFrame:
        """Return the link that carries a frame, or the world."""
        path: dict[SdfFrame, None] = {}
        while frame.kind != 'link' and not frame.is_world:
            if frame in path:
                raise self._circle([*path], frame, 'attached to')
            path[frame] = None
            frame = self._carriers.get(frame) or self._carrier(frame)
        self._carriers.update(dict.fromkeys(path, frame))
        return frame

    def end(self, joint: SdfFrame, which: str) -> SdfFrame:
        """Return the frame that the <parent> or <child> of a joint names."""
        tag = f'drake:{which}' if joint.kind == 'drake:joint' else which
        element = self._document.child(joint.element, tag)
        name = (element.text or '').strip()
        if not name:
            message = f'its <{tag}> is empty; expected the name of a link, a frame or "{WORLD}"'
            raise self._document.error(joint.element, message)
        return joint.scope.need(name, joint.element, f'<{tag}>')

    # -- attached_to

    def _carrier(self, frame: SdfFrame) -> SdfFrame:
        """Return the link or frame that a frame is attached to."""
        if frame.is_joint:
            return self.end(frame, 'child')
        if frame.kind == 'frame':
            return self._named(frame, 'attached_to')
        scope, name = frame.inner, frame.element.get('canonical_link', '').strip()
        if scope is None:
            raise self._document.error(
                frame.element, 'this model is not read, because another one is'
            )
        if name:
            return scope.need(name, frame.element, 'canonical_link')
        own = (each for each in scope.every('link') if each.scope is scope)
        result = next(own, None) or next(scope.every('link'), None)
        if result is None:
            raise self._document.error(frame.element, 'no <link> in it; a model needs one')
        return result

    def _named(self, frame: SdfFrame, attribute: str) -> SdfFrame:
        name = frame.element.get(attribute, '').strip()
        return frame.scope.need(name, frame.element, attribute)

    # -- relative_to

    def _resolve(self, first: SdfFrame) -> None:
        """Compute the pose of a frame in its model, after the poses that it depends on."""
        path = {first: None}
        while path:
            frame = next(reversed(path))
            base, placed = self._base(frame), self._placed(frame)
            needed = _between(base, frame.scope)
            if placed is not None and frame.inner is not None:
                needed += _between(placed, frame.inner)
            missing = next((each for each in needed if each not in self._local), None)
            if missing is None:
                self._local[frame] = self._place(frame, base, placed)
                del path[frame]
            elif missing in path:
                raise self._circle([*path], missing, 'posed relative to')
            else:
                path[missing] = None

    def _base(self, frame: SdfFrame) -> SdfFrame:
        """Return the frame that the pose of a frame is relative to."""
        pose, name = frame.element.find('pose'), None
        if pose is not None:
            name = pose.get('relative_to', pose.get('frame') if self.version < (1, 7) else None)
        if name and name.strip():
            return frame.scope.need(name.strip(), frame.element, '<pose relative_to>')
        if frame.is_joint:
            return self.end(frame, 'child')
        if frame.kind == 'frame':
            return self._named(frame, 'attached_to')
        return frame.scope.frame

    def _placed(self, frame: SdfFrame) -> SdfFrame | None:
        """Return the frame inside a model that its <pose> places, if not the model's own frame."""
        name = frame.element.get('placement_frame', '').strip()
        if not name or frame.inner is None:
            return None
        return frame.inner.need(name, frame.element, 'placement_frame')

    def _place(self, frame: SdfFrame, base: SdfFrame, placed: SdfFrame | None) -> Array:
        raw = read_pose(self._document, frame.element.find('pose'))
        pose = self._in(frame.scope, base) @ raw
        if placed is not None and frame.inner is not None:
            pose = pose @ pose_inverse(self._in(frame.inner, placed))
        return pose

    def _in(self, scope: SdfScope, frame: SdfFrame) -> Array:
        """Return the pose of a frame in an enclosing model, or of the world in a model."""
        pose: Array = np.eye(4)
        for each in _between(frame, scope):
            pose = self._local[each] @ pose
        return pose_inverse(pose) if frame.is_world else pose

    def _circle(self, path: list[SdfFrame], again: SdfFrame, how: str) -> DescriptionError:
        circle = [*path[path.index(again) :], again]
        names = [each.name or '__model__' for each in circle]
        if len(names) > 8:
            names[4:-3] = ['...']
        return self._document.error(again.element, f' is {how} '.join(map(repr, names)))


def _between(frame: SdfFrame, scope: SdfScope) -> list[SdfFrame]:
    """Return a frame and its enclosing models up to a scope; for the world, those of the scope."""
    if frame.is_world:
        frame, scope = scope.frame, frame.scope
    path = []
    while frame is not scope.frame:
        path.append(frame)
        frame = frame.scope.frame
    return path
