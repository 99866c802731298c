"""Layout of the picture of a robot's graph: positions of links, joints and loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ik_node.cli.report.words import polynomial, values_of_joints

ROW_HEIGHT, BOX_HEIGHT, STEP = 0.33, 0.235, 0.46
LEFT, TOP, BOTTOM, LEAST_WIDTH = 0.3, 1.05, 0.75, 7.2
LONGEST = 48


@dataclass
class Row:
    """
    A link and the joint that carries it; lengths in inches.

    Attributes
    ----------
    fact : dict
        Its entry in the tree.
    parent : Row or None
    x, y : float
        Left edge of the link's box, and middle of the row.
    box_text, label : str
        Text in the box, and label of the joint.
    box_width, label_width : float
    has_motor : bool

    """

    fact: dict[str, Any]
    parent: Row | None
    x: float
    y: float
    box_text: str
    box_width: float
    label: str
    label_width: float
    has_motor: bool

    @property
    def edge_x(self) -> float:
        """Return the x coordinate of the line to the parent."""
        return (self.x if self.parent is None else self.parent.x) + 0.12

    @property
    def symbol_x(self) -> float:
        """Return the x coordinate of the middle of the joint's symbol."""
        return self.x - 0.17

    @property
    def label_x(self) -> float:
        """Return the x coordinate at which the joint's label begins."""
        return self.x + self.box_width + 0.1

    @property
    def end(self) -> float:
        """Return the x coordinate at which the row ends."""
        return self.label_x + self.label_width + (0.06 if self.label else 0.0)


@dataclass
class Arc:
    """
    A loop between two rows; lengths in inches.

    Attributes
    ----------
    points : list of (float, float)
        Control points of a cubic Bezier curve.
    label : str
    label_x, label_y : float

    """

    points: list[tuple[float, float]]
    label: str
    label_x: float = 0.0
    label_y: float = 0.0

    @property
    def reach(self) -> float:
        """Return the largest x coordinate of the curve."""
        a, b, c, d = (x for x, _ in self.points)
        steps = [at / 16.0 for at in range(17)]
        return max(
            (1.0 - t) ** 3 * a
            + 3.0 * t * (1.0 - t) ** 2 * b
            + 3.0 * t**2 * (1.0 - t) * c
            + t**3 * d
            for t in steps
        )

    @property
    def apex(self) -> tuple[float, float]:
        """Return the middle of the curve."""
        a, b, c, d = self.points
        return (
            (a[0] + 3.0 * b[0] + 3.0 * c[0] + d[0]) / 8.0,
            (a[1] + 3.0 * b[1] + 3.0 * c[1] + d[1]) / 8.0,
        )


class GraphLayout:
    """
    A layout with one row per link, indented by depth, and loops as arcs on the right.

    Parameters
    ----------
    found : dict
        See `facts_of`.

    Attributes
    ----------
    rows : list of Row
    arcs : list of Arc
        One per closure.
    width, height, box_height : float
        [in]

    """

    def __init__(self, found: dict[str, Any]) -> None:
        self.box_height = BOX_HEIGHT
        self.rows = self._rows(found)
        self.arcs = self._arcs(found)
        self._spread_labels()
        right = max((row.end for row in self.rows), default=0.0)
        right = max([right, *(arc.label_x + text_width(arc.label, 8.6) for arc in self.arcs)])
        title = text_width(found['name'], 16.0) + 2.0 * LEFT
        self.width = max(right + LEFT, title, LEAST_WIDTH)
        self.height = TOP + ROW_HEIGHT * len(self.rows) + BOTTOM

    def _rows(self, found: dict[str, Any]) -> list[Row]:
        rows: list[Row] = []
        last: dict[int, Row] = {}
        values = values_of_joints(found)
        for at, fact in enumerate(found['tree']):
            depth, own = fact['depth'], values.get(fact['joint'], [])
            # A tree that begins with a joint is connected to the world, which is not a link.
            parent = last.get(depth - 1)
            text = _short(fact['link'] or 'the world')
            label = '' if fact['joint'] is None else _short(fact['joint'])
            if label and fact['type'] not in ('revolute', 'continuous', 'prismatic'):
                label += f'  ({fact["type"]})'
            follows = [value['follows'] for value in own if value['follows'] is not None]
            if follows:
                label += f'  = {_short(polynomial(follows[0]))}'
            row = Row(
                fact,
                parent,
                LEFT + STEP * depth,
                TOP + ROW_HEIGHT * (at + 0.5),
                text,
                text_width(text, 9.0) + 0.16,
                label,
                text_width(label, 8.5),
                any(value['actuated'] for value in own),
            )
            last[depth] = row
            rows.append(row)
        return rows

    def _arcs(self, found: dict[str, Any]) -> list[Arc]:
        by_link = {row.fact['link']: row for row in self.rows}
        ends: dict[str, int] = {}
        arcs = []
        for loop in found['closures']:
            row_a, row_b = by_link[loop['link_a']], by_link[loop['link_b']]
            rows = sorted((row_a, row_b), key=lambda row: row.y)
            between = [row.end for row in self.rows if rows[0].y <= row.y <= rows[1].y]
            reach = max(between) + 0.25 + 0.1 * (rows[1].y - rows[0].y)
            starts = []
            for row in rows:
                # Several loops on one link start side by side.
                count = ends.get(row.box_text, 0)
                ends[row.box_text] = count + 1
                starts.append((row.end + 0.05, row.y + 0.035 * ((count + 1) // 2) * (-1) ** count))
            bulge = (8.0 * reach - starts[0][0] - starts[1][0]) / 6.0
            points = [starts[0], (bulge, starts[0][1]), (bulge, starts[1][1]), starts[1]]
            arcs.append(Arc(points, _loop_label(loop)))
        return arcs

    def _spread_labels(self) -> None:
        """Place the labels to the right of the curves without overlap."""
        lowest = 0.0
        right = max((arc.reach for arc in self.arcs), default=0.0) + 0.2
        for arc in sorted(self.arcs, key=lambda arc: arc.apex[1]):
            arc.label_y = max(arc.apex[1], lowest + 0.19)
            lowest = arc.label_y
            arc.label_x = right


def text_width(text: str, size: float) -> float:
    """Return the width of a text [in] at a font size in points."""
    if not text.strip():
        return 0.0
    from matplotlib.textpath import TextPath

    # A dollar sign would start a formula.
    plain = text.replace('$', 'S').rstrip()
    return float(TextPath((0.0, 0.0), plain, size=size).get_extents().x1) / 72.0


def _loop_label(loop: dict[str, Any]) -> str:
    kind = loop['type'] or loop['dof'] or 'nothing'
    if loop['distance'] is not None:
        kind = f'{loop["distance"]:g} m apart'
    label = f'{_short(loop["name"])}  ({kind})'
    if not loop['enabled']:
        return f'{label}, not in use'
    if loop['open']:
        return f'{label}, open {loop["position"]:.2g} m, {loop["orientation"]:.2g} rad'
    return label


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f'{text[: LONGEST - 1]}\u2026'
