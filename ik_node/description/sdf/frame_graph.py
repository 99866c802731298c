# flake8: noqa: E203
"""Poses of the frames in an SDFormat file, and the links that carry them."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import WORLD
from ik_node.description.sdf.scope import SdfFrame, SdfScope
from ik_node.description.xml_document import is_true, XmlDocument
from ik_node.errors import DescriptionError, UnsupportedElementError
from ik_node.model.rotation import pose_inverse, pose_matrix, quat_from_euler, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FORMATS = ('euler_rpy', 'quat_xyzw')


def read_pose(document: XmlDocument, element: Element | None) -> NDArray[np.float64]:
    """
    Return the 4x4 matrix of a <pose>; the identity if it is missing or empty.

    Raises
    ------
    DescriptionError
        If its numbers or its rotation_format cannot be read.

    """
    if element is None:
        return np.eye(4)
    form = element.get('rotation_format', FORMATS[0])
    if form not in FORMATS:
        message = f'rotation_format="{form}" is not known; allowed: {" ".join(FORMATS)}'
        raise document.error(element, message, UnsupportedElementError)
    if form == 'quat_xyzw':
        numbers = document.text_numbers(element, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        if max(map(abs, numbers[3:])) < 1e-9:
            raise document.error(element, 'its quaternion is no rotation')
        return pose_matrix(numbers[:3], unit(numbers[3:]))
    numbers = document.text_numbers(element, (0.0,) * 6)
    if is_true(element.get('degrees')):
        numbers[3:] = np.radians(numbers[3:]).tolist()
    return pose_matrix(numbers[:3], quat_from_euler(*numbers[3:]))


class FrameGraph:
    """
    The frames that `relative_to`, `attached_to`, `placement_frame` and `canonical_link` connect.

    Parameters
    ----------
    document : XmlDocument
    version : tuple of int
        Version of the format, such as (1, 7).

    """

    def __init__(self, document: XmlDocument, version: tuple[int, ...]) -> None:
        self._document = document
        self._version = version
        self._local: dict[SdfFrame, Array] = {}  # pose in the model around it
        self._global: dict[SdfFrame, Array] = {}  # pose in the world
        self._carriers: dict[SdfFrame, SdfFrame] = {}

    def pose(self, frame: SdfFrame) -> Array:
        """
        Return the 4x4 pose of a frame in the world, in the file's configuration.

        Raises
        ------
        DescriptionError
            If a name is unknown, or poses are relative to one another in a cycle.

        """
        found = self._global.get(frame)
        if found is None:
            world = frame.scope.world.scope
            for each in _between(frame, world):
                if each not in self._local:
                    self._resolve(each)
            found = self._global[frame] = self._in(world, frame)
        return found

    def link(self, frame: SdfFrame) -> SdfFrame:
        """
        Return the link that carries a frame, or the world.

        Raises
        ------
        DescriptionError
            If a name is unknown, a model has no link, or frames are attached in a cycle.

        """
        path: dict[SdfFrame, None] = {}
        while frame.kind != 'link' and not frame.is_world:
            if frame in path:
                raise self._circle([*path], frame, 'attached to')
            path[frame] = None
            frame = self._carriers.get(frame) or self._carrier(frame)
        self._carriers.update(dict.fromkeys(path, frame))
        return frame

    def end(self, joint: SdfFrame, which: str) -> SdfFrame:
        """
        Return the frame that the <parent> or <child> of a joint names.

        Raises
        ------
        DescriptionError
            If it is missing or unknown.

        """
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
        found = next(own, None) or next(scope.every('link'), None)
        if found is None:
            raise self._document.error(frame.element, 'no <link> in it; a model needs one')
        return found

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
            name = pose.get('relative_to', pose.get('frame') if self._version < (1, 7) else None)
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
