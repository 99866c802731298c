"""Links as their description draws them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix
from ik_node.scene.look import Look
from ik_node.scene.name_book import NameBook
from ik_node.scene.shapes import Capsule, Cylinder, Rgba, Shape, Solid, Sphere
from ik_node.scene.skeleton import Moment, Skeleton


class Seen(Protocol):
    """What a description says of how a link looks; see `ik_node.description.visual.Visual`."""

    @property
    def link(self) -> str:
        """Whose it is."""

    @property
    def position(self) -> tuple[float, ...]:
        """Return where it is in its link [m]."""

    @property
    def quat_xyzw(self) -> tuple[float, ...]:
        """Return how it is turned there."""

    @property
    def kind(self) -> str:
        """Say what it is."""

    @property
    def size(self) -> tuple[float, ...]:
        """Return how large it is [m]."""

    @property
    def file(self) -> str:
        """Return where a mesh is."""

    @property
    def rgba(self) -> Rgba | None:
        """Return its colour; None = not said."""


class Solids:
    """
    What is seen of links, moved with them.

    Parameters
    ----------
    skeleton : Skeleton
    seen : iterable of Seen
        Those of links that there are not are left out, and what is not read.

    """

    def __init__(self, skeleton: Skeleton, seen: Iterable[Seen]) -> None:
        seats = {f.name: skeleton.seat(f) for f in skeleton.tree.seat if isinstance(f, Link)}
        names = NameBook()
        self._all: list[tuple[str, Seen, int]] = []
        for each in seen:
            if each.link in seats and each.kind != 'unread':
                column, pose = seats[each.link]
                at = skeleton.place(column, pose @ pose_matrix(each.position, each.quat_xyzw))
                self._all.append((names.new(each.link), each, at))

    def visuals(self, moment: Moment, look: Look) -> list[Shape]:
        """Return a shape for each."""
        shapes: list[Shape] = []
        for name, seen, at in self._all:
            rgba = seen.rgba or look.rgba['visuals']
            common = (f'visuals/{name}', 'visuals', seen.link, *moment.poses[at], rgba)
            through, size = look.draw_through, seen.size
            if seen.kind == 'sphere':
                shapes.append(Sphere(*common, through, size[0], look.segments))
            elif seen.kind == 'cylinder':
                shapes.append(Cylinder(*common, through, size[0], size[1], look.segments))
            elif seen.kind == 'capsule':
                shapes.append(Capsule(*common, through, size[0], size[1], look.segments))
            else:
                own = seen.rgba is None
                shapes.append(Solid(*common, through, seen.kind, size, seen.file, own))
        return shapes
