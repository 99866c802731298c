"""Shapes of links and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ik_node.model.constraint import Constraint, Goal
from ik_node.model.frame import Frame
from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix
from ik_node.scene.look import Common, common, Look, UniqueNames
from ik_node.scene.shapes import Capsule, Cylinder, Segment, Shape, Solid, Sphere, Triad
from ik_node.scene.skeleton import Skeleton, Snapshot, z_along
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Kinds of bodies with a class of their own.
ROUND: dict[str, Callable[..., Shape]] = {
    'sphere': Sphere,
    'cylinder': Cylinder,
    'capsule': Capsule,
}


def make_solid(
    same: Common, kind: str, size: Any, look: Look, file: str = '', own: bool = False
) -> Shape:
    """Return a body of a kind and size as of a `Visual`; `same` is what all shapes have."""
    if kind in ROUND:
        return ROUND[kind](*same, *size, look.segments)
    return Solid(*same, kind, size, file, own)


class Solids:
    """The visuals of links, except of unknown links and of kind 'unread'."""

    def __init__(self, skeleton: Skeleton, seen: Iterable[Any]) -> None:
        carriers = {
            f.name: skeleton.carrier(f) for f in skeleton.tree.carrier if isinstance(f, Link)
        }
        names = UniqueNames()
        self._all: list[tuple[str, Any, int]] = []
        for each in seen:
            if each.link in carriers and each.kind != 'unread':
                column, pose = carriers[each.link]
                index = skeleton.attach(column, pose @ pose_matrix(each.position, each.quat_xyzw))
                self._all.append((names.new(each.link), each, index))

    def visuals(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a shape for each visual."""
        shapes: list[Shape] = []
        for name, seen, index in self._all:
            rgba = seen.rgba or look.rgba['visuals']
            same = common('visuals', name, seen.link, snapshot.poses[index], rgba, look)
            own = seen.rgba is None
            shapes.append(make_solid(same, seen.kind, seen.size, look, seen.file, own))
        return shapes


# Dimensions as shares of the scale.
RADIUS = 0.09
WIDTH = 0.03
TRIAD = (0.5, 0.05)

# Points closer than this are equal [m].
SAME = 1e-9
_DIGITS = 9


class Bodies:
    """
    Rods between adjacent frames, and the frames themselves.

    `reach` is the longest path along rods from a root to a tip in any configuration [m].
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.reach = _reach(skeleton)
        self._rods: list[tuple[str, str, int, float]] = []  # name, link, place, length
        names = UniqueNames()
        seen = set()
        for owner, frame, end in skeleton.spans():
            column, pose = skeleton.carrier(owner)
            ends = sorted([_rounded(pose[:3, 3]), _rounded(pose[:3, :3] @ end + pose[:3, 3])])
            key = (column, *ends)
            length = _length(end)
            if length < SAME or key in seen:
                continue
            seen.add(key)
            link = owner if isinstance(owner, Link) else frame
            index = skeleton.attach(column, pose @ z_along(0.5 * end, end))
            self._rods.append((names.new(f'{link.name}/{frame.name}'), link.name, index, length))
        self.rod_lengths: Array = np.array([length for _, _, _, length in self._rods])
        self._frames: list[tuple[str, str, int]] = []  # name, frame, place
        for frame in _frames_apart(skeleton):
            index = skeleton.attach(*skeleton.carrier(frame))
            self._frames.append((names.new(frame.name), frame.name, index))

    def links(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a capsule for every rod."""
        rgba, radius = look.rgba['links'], RADIUS * look.scale
        return [
            Capsule(
                *common('links', name, of, snapshot.poses[index], rgba, look),
                radius,
                length,
                look.segments,
            )
            for name, of, index, length in self._rods
        ]

    def frames(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a triad for every frame, and lines between them if links are not drawn."""
        rgba, poses = look.rgba['frames'], snapshot.poses
        white = (1.0, 1.0, 1.0, rgba[3])
        long, wide = (share * look.scale for share in TRIAD)
        shapes: list[Shape] = [
            Triad(*common('frames', name, of, poses[index], white, look), long, wide)
            for name, of, index in self._frames
        ]
        if 'links' not in look.layers:
            width = WIDTH * look.scale
            shapes += [
                Segment(*common('frames', name, of, poses[index], rgba, look), length, width)
                for name, of, index, length in self._rods
            ]
        return shapes


def _frames_apart(skeleton: Skeleton) -> list[Frame]:
    """Return links, then other frames, without frames that always coincide with another one."""
    kept: dict[tuple[int, tuple[float, ...]], Frame] = {}
    frames = [frame for frame in skeleton.tree.carrier if not isinstance(frame, Constraint)]
    for frame in sorted(frames, key=lambda each: not isinstance(each, Link)):
        column, pose = skeleton.carrier(frame)
        kept.setdefault((column, _rounded(pose[:3].ravel())), frame)
    return list(kept.values())


def _reach(skeleton: Skeleton) -> float:
    """Return the longest path from a root to a frame at q = 0 [m]."""
    ways: dict[Frame, float] = {}
    for frame in skeleton.tree.carrier:  # parents come first
        if frame.parent is not None and not isinstance(frame, Goal):
            ways[frame] = ways.get(frame.parent, 0.0) + _length(frame.matrix[:3, 3])
    return max(ways.values(), default=0.0)


def _length(delta: Array) -> float:
    return float(np.sqrt(delta @ delta))


def _rounded(values: Array) -> tuple[float, ...]:
    # Adding zero makes -0.0 the same as 0.0.
    return tuple((np.round(values, _DIGITS) + 0.0).tolist())
