"""The names of joints, closures and goals, beside them."""

from __future__ import annotations

from ik_node.errors import plain
from ik_node.scene.look import Look
from ik_node.scene.name_book import NameBook
from ik_node.scene.shapes import Shape, Text
from ik_node.scene.skeleton import Moment, Skeleton

# Shares of the scale.
HEIGHT = 0.3
RAISED = 0.35
LINE = 0.36

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


class NameTags:
    """
    The names of joint values, one above the other where joints sit in one place.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        names = NameBook()
        self._tags: list[tuple[str, str, int, int]] = []  # name, value's name, place, line
        lines: list[int] = []
        for at, column in enumerate(skeleton.tree.columns):
            here = column.parent >= 0 and not column.offset[:3, 3].any()
            lines.append(lines[column.parent] + 1 if here else 0)
            of = skeleton.owner[at]
            self._tags.append(
                (names.new(f'labels/{of}'), of, skeleton.place_before(at), lines[at])
            )

    def labels(self, moment: Moment, look: Look) -> list[Shape]:
        """Return all of them."""
        rgba, through, height = look.rgba['labels'], look.draw_through, HEIGHT * look.scale
        shapes: list[Shape] = []
        for name, of, at, line in self._tags:
            (x, y, z), _ = moment.poses[at]
            raised = z + (RAISED + LINE * line) * look.scale
            shapes.append(
                Text(name, 'labels', of, (x, y, raised), UPRIGHT, rgba, through, plain(of), height)
            )
        return shapes
