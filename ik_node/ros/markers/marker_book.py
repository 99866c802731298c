"""The markers that viewers show, and the messages that update them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from ik_node.ros.markers.shape_markers import appearance, markers_of, numbers, put
from ik_node.scene import Shape
from std_msgs.msg import Header
from visualization_msgs.msg import Marker, MarkerArray

Appearance = tuple[str, tuple[type[Shape], object]]

# Largest number of markers of one shape.
_PARTS = 2
# Largest number of shapes per message whose markers are created anew, because that takes time.
AT_ONCE = 40


class MarkerBook:
    """
    The markers of every shape, kept from one message to the next.

    A layer of the scene is a namespace, so that a viewer can switch it off. A shape keeps its id,
    also while it is not shown. Every message contains all present markers and deletes all former
    ones, so that a viewer that missed a message is correct after the next one.
    """

    def __init__(self) -> None:
        # True if the last message contained all shapes; otherwise the next messages add them.
        self.complete = True
        self._markers: dict[str, list[Marker]] = {}
        self._appearances: list[Appearance] = []
        self._deletions: dict[tuple[str, int], Marker] = {}
        self._ids: dict[str, int] = {}
        self._next_id = count(0, _PARTS)
        self._header = Header()

    @property
    def is_empty(self) -> bool:
        """Return True if no marker is shown and none must be deleted."""
        return not (self._markers or self._deletions)

    def clear_deletions(self) -> None:
        """Forget the pending deletions, after viewers were told to delete everything."""
        self._deletions.clear()
        self._ids = {name: self._ids[name] for name in self._markers if name in self._ids}

    def message(self, shapes: Sequence[Shape], frame: str, stamp: Any) -> MarkerArray:
        """
        Return a message with all present markers and the deletion of all former ones.

        `shapes`: shapes with different names. `frame`: frame of their poses. `stamp`: time of
        their configuration. The caller must send the message before the next call, because
        its objects are reused.
        """
        present = [(shape.name, appearance(shape)) for shape in shapes]
        if present != self._appearances or frame != self._header.frame_id:
            return self._changed(shapes, present, frame, stamp)
        return self._array(shapes, stamp)

    def _changed(
        self, shapes: Sequence[Shape], present: list[Appearance], frame: str, stamp: Any
    ) -> MarkerArray:
        """Return a message that replaces the shown shapes by these."""
        self._header.frame_id = frame
        before, kept = dict(self._appearances), self._markers
        self._markers, self._appearances = {}, []
        shown: list[Shape] = []
        made = 0
        for shape, (name, new) in zip(shapes, present, strict=True):
            old = kept.pop(name, [])
            self._markers[name] = old
            if before.get(name) != new:
                if made == AT_ONCE:
                    continue
                made += 1
                self._markers[name] = self._new(shape)
                self._delete(old[len(self._markers[name]) :])
            shown.append(shape)
            self._appearances.append((name, new))
        for markers in kept.values():
            self._delete(markers)
        self.complete = len(shown) == len(shapes)
        return self._array(shown, stamp)

    def _array(self, shapes: Iterable[Shape], stamp: Any) -> MarkerArray:
        self._header.stamp = stamp
        array = MarkerArray(markers=list(self._deletions.values()))
        for shape in shapes:
            markers = self._markers[shape.name]
            put(markers, numbers(shape))
            array.markers += markers
        return array

    def _new(self, shape: Shape) -> list[Marker]:
        if shape.name not in self._ids:
            self._ids[shape.name] = next(self._next_id)
        markers = markers_of(shape)
        for number, marker in enumerate(markers, self._ids[shape.name]):
            marker.header, marker.ns, marker.id = self._header, shape.layer, number
            self._deletions.pop((marker.ns, marker.id), None)
        return markers

    def _delete(self, markers: Iterable[Marker]) -> None:
        for old in markers:
            marker = Marker(header=self._header, ns=old.ns, id=old.id, action=Marker.DELETE)
            self._deletions[old.ns, old.id] = marker
