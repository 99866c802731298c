"""Pictures of workspace maps: a slice with the robot, and a map in space as slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ik_node.analysis.reach.grid import Slice
from ik_node.analysis.reach.outline import Outline
from ik_node.analysis.reach.spread import Spread
from ik_node.analysis.reach.volume import ReachVolume, SingularCurve
from ik_node.model.constraint import Closure
from ik_node.model.joint import Joint
from ik_node.model.rotation import Array
from ik_node.model.tree import build_tree
from ik_node.robot import Robot
from ik_node.scene.look import SINGULAR
from ik_node.scene.plot import BACKGROUND, FAINT, INK, picture_maker, RULED, save_picture
from ik_node.scene.skeleton import Skeleton
from ik_node.solver.singularities import KINDS
import numpy as np


class FlatRobot:
    """
    The rods and joints of a robot, projected onto a plane at its present configuration.

    `rods` and `slides` (n, 2, 2): ends of the rods, and of the connections to passive prismatic
    joints, which often only describe a freely moving platform [m].
    """

    def __init__(self, robot: Robot, link: str, points: Slice) -> None:
        skeleton = Skeleton(build_tree(robot.roots, robot.joint_order))
        kinds: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        joints = [
            skeleton.attach_before(index)
            for index, column in enumerate(skeleton.tree.columns)
            if column.dof.is_rotation
        ]
        for owner, frame, end in skeleton.spans():
            column, pose = skeleton.carrier(owner)
            there = pose.copy()
            there[:3, 3] += pose[:3, :3] @ end
            ends = skeleton.attach(column, pose), skeleton.attach(column, there)
            kinds[_slides(frame, robot.actuated)].append(ends)
            if isinstance(frame, Closure):
                joints.append(ends[1])
        placed = points.flatten(skeleton.at(robot.q).frames[:, :3, 3])
        self.rods, self.slides = (
            placed[np.array(kinds[slide], dtype=np.int64).reshape(-1, 2)]
            for slide in (False, True)
        )
        # Positions of revolute joints and loop closures (n, 2) [m].
        self.joints: Array = placed[joints]
        # Position of the link (2,) [m].
        self.home: Array = points.flatten(robot.forward(robot.q, link)[:3, 3])

    def view(self, extent: tuple[float, ...], limit: float) -> tuple[float, float, float, float]:
        """
        Return an extent [m] that includes the robot, unless it becomes too large.

        `extent`: extent of the grid [m]. `limit`: largest factor of growth of the longer side.
        """
        left, right, low, high = extent
        size = max(right - left, high - low)
        ends = np.vstack((self.rods.reshape(-1, 2), self.joints, self.home))
        least, largest = ends.min(axis=0) - 0.05 * size, ends.max(axis=0) + 0.05 * size
        wide = (
            *(min(left, float(least[0])), max(right, float(largest[0]))),
            *(min(low, float(least[1])), max(high, float(largest[1]))),
        )
        fits = max(wide[1] - wide[0], wide[3] - wide[2]) <= limit * size
        return wide if fits else (left, right, low, high)


def _slides(frame: object, motors: list[str]) -> bool:
    """Return True for a passive prismatic joint of a robot that has motors."""
    if not isinstance(frame, Joint):
        return False
    passive = bool(motors) and frame.name not in motors
    return passive and any(not dof.is_rotation for dof in frame.dof)


# Cells of which nothing is known; the robot, and the link whose reach is drawn.
_UNKNOWN = '#D5DBE1'
_ROD, _LINK = '#26323F', '#F0502D'
_DPI = 150
# Longer side of the map, smallest other side, and space around the map [in].
_LONGEST, _LEAST, _AROUND = 6.6, 3.2, (1.95, 1.7)
# The whole robot is shown if the map grows by at most this factor.
_WIDEST = 2.0
# A larger change between neighbours, as a share of the maximum, is a jump to another posture.
_JUMP = 0.15


Draw = Callable[[Robot, str, Spread[Slice], Outline, Array, Sequence[SingularCurve]], None]


def reach_plot(path: str) -> Draw:
    """
    Return a function that draws a map to a file.

    `path`: output file; its ending selects the format. Raise OptionError if matplotlib is missing
    or does not support the format.
    """
    new_figure = picture_maker('--plot', path, hint='; -o needs none')

    def save(
        robot: Robot,
        link: str,
        result: Spread[Slice],
        outline: Outline,
        measure: Array,
        curves: Sequence[SingularCurve],
    ) -> None:
        flat = FlatRobot(robot, link, result.grid)
        left, right, low, high = view = flat.view(result.grid.extent, _WIDEST)
        scale = _LONGEST / max(right - left, high - low)
        sides = [max(_LEAST, scale * side) for side in (right - left, high - low)]
        size = (sides[0] + _AROUND[0], sides[1] + _AROUND[1])
        figure = new_figure(figsize=size, layout='constrained')
        drawing = _Drawing(figure, view, result, outline)
        drawing.reach(measure)
        _draw_curves(drawing.axes, curves, result.grid.axes[:2])
        drawing.robot(flat, link)
        drawing.words(robot.name, link)
        save_picture(figure, path, dpi=_DPI, bbox_inches='tight', pad_inches=0.2)

    return save


class _Drawing:
    """A drawing of a map on a figure."""

    def __init__(
        self, figure: Any, view: tuple[float, ...], result: Spread[Slice], outline: Outline
    ) -> None:
        self._figure, self._found, self._outline = figure, result, outline
        self.axes = figure.add_subplot()
        self.axes.set_aspect('equal')
        self.axes.set_xlim(*view[:2])
        self.axes.set_ylim(*view[2:])
        self.axes.set_autoscale_on(False)
        self.axes.set_facecolor(BACKGROUND)
        self.axes.grid(True, color=RULED, lw=1.0)
        self.axes.set_axisbelow(True)

    def reach(self, measure: Array) -> None:
        """Colour the reached region by the measure, up to the border."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import ListedColormap

        axes, points = self.axes, self._found.grid
        across, up = points.sides
        half = 0.5 * (across[1] - across[0]), 0.5 * (up[1] - up[0])
        extent = across[0] - half[0], across[-1] + half[0], up[0] - half[1], up[-1] + half[1]
        decided = self._found.decided.reshape(points.shape)
        if not decided.all():
            veil, grey = np.where(decided, np.nan, 1.0), ListedColormap([_UNKNOWN])
            axes.imshow(veil, origin='lower', extent=extent, cmap=grey, zorder=1)
        if self._outline.cells:
            self._colour(_grown(measure.reshape(points.shape)), extent, float(np.nanmax(measure)))
        border = {'colors': INK, 'lw': 1.6, 'capstyle': 'round', 'joinstyle': 'round'}
        axes.add_collection(LineCollection(self._outline.border, zorder=4, **border))

    def _colour(self, values: Array, extent: tuple[float, ...], top: float) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        axes, points = self.axes, self._found.grid
        outlines = [Path(np.vstack((cell, cell[:1])), closed=True) for cell in self._outline.cells]
        inside = PathPatch(Path.make_compound_path(*outlines), transform=axes.transData)
        scale = {'vmin': 0.0, 'vmax': top if top > 0.0 else 1.0}
        style = {'cmap': 'viridis', 'interpolation': 'bilinear', 'zorder': 2, **scale}
        shown = axes.imshow(values, origin='lower', extent=extent, **style)
        shown.set_clip_path(inside)
        bar = self._figure.colorbar(shown, cax=axes.inset_axes((1.03, 0.0, 0.032, 1.0)))
        levels = [level for level in bar.get_ticks() if 0.0 < level < 0.97 * scale['vmax']]
        if levels and top > 0.0:
            thin = {'colors': 'white', 'linewidths': 0.7, 'alpha': 0.45, 'zorder': 3}
            lines = axes.contour(*points.sides, _even(values, _JUMP * top), levels, **thin)
            lines.set_clip_path(inside)
        meaning = 'conditioning [1]:  0 singular,  1 alike in all directions'
        bar.set_label(meaning, color=INK, labelpad=8)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=9, color=FAINT, labelcolor=INK)

    def robot(self, flat: FlatRobot, link: str) -> None:
        """Draw the robot over the map."""
        from matplotlib.collections import LineCollection

        axes = self.axes
        for lines, colour, width, dashes in (
            (list(flat.slides), _ROD, 1.2, (0, (1.0, 2.2))),
            (list(flat.rods), 'white', 5.2, '-'),
            (list(flat.rods), _ROD, 2.8, '-'),
        ):
            style = {'colors': colour, 'lw': width, 'ls': dashes, 'capstyle': 'round'}
            axes.add_collection(LineCollection(lines, zorder=6, **style))
        dots = {'ls': '', 'marker': 'o', 'zorder': 7}
        axes.plot(*flat.joints.T, ms=5.5, mfc='white', mec=_ROD, mew=1.5, label='joint', **dots)
        axes.plot(*flat.home[:, None], ms=9.0, mfc=_LINK, mec='white', mew=1.8, label=link, **dots)

    def words(self, name: str, link: str) -> None:
        """Draw the title, the axis labels and the legend."""
        axes, points, result = self.axes, self._found.grid, self._found
        style: dict[str, Any] = {'loc': 'left', 'fontsize': 14.5, 'fontweight': 'bold', 'pad': 22}
        axes.set_title(f'Reach of {link}', color=INK, parse_math=False, **style)
        facts = (
            name,
            points.name,
            f'{self._outline.area:.4g} m\u00b2',
            f'{np.count_nonzero(result.reached)} of {len(result.q)} points',
        )
        place = {'xycoords': 'axes fraction', 'textcoords': 'offset points', 'parse_math': False}
        text = '  \u00b7  '.join(facts)
        axes.annotate(text, (0.0, 1.0), (0.0, 6.0), fontsize=9.5, color=FAINT, **place)
        first, second, _ = points.axes
        axes.set_xlabel(f'{"xyz"[first]} [m]', fontsize=11, color=INK)
        axes.set_ylabel(f'{"xyz"[second]} [m]', fontsize=11, color=INK)
        axes.tick_params(labelsize=9, color=FAINT, labelcolor=INK)
        axes.spines[:].set_visible(False)
        place = {'loc': 'upper right', 'bbox_to_anchor': (1.0, -0.055), 'ncols': 4, 'fontsize': 9}
        pads = {'handletextpad': 0.2, 'columnspacing': 1.2, 'borderaxespad': 0.0}
        legend = axes.legend(frameon=False, **place, **pads)
        for text in legend.get_texts():
            text.set_color(FAINT)
            text.set_parse_math(False)


def _draw_curves(axes: Any, curves: Sequence[SingularCurve], sides: Sequence[int]) -> None:
    """Draw singular curves over a map, projected onto two axes."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=4.0, foreground='white')]
    for kind, name in KINDS.items():
        parts = [curve.points[:, list(sides)] for curve in curves if curve.kind == kind]
        for label, part in zip([f'singular, {name}', *[''] * len(parts)], parts, strict=False):
            style = {'color': SINGULAR[kind], 'lw': 1.5, 'zorder': 5, 'path_effects': halo}
            if len(part) == 1:
                style |= {'marker': 'o', 'ms': 11.0, 'mfc': 'none', 'mew': 2.0, 'zorder': 8}
            axes.plot(*part.T, label=label, **style)


def _even(values: Array, limit: float) -> Array:
    """Return a field with NaN at points between which it jumps by more than `limit`."""
    jumps = np.zeros(values.shape, dtype=np.bool_)
    for axis in (0, 1):
        wide = np.abs(np.diff(values, axis=axis)) > limit
        ends = ((0, 1), (0, 0)) if axis == 0 else ((0, 0), (0, 1))
        jumps |= np.pad(wide, ends) | np.pad(wide, [pair[::-1] for pair in ends])
    return np.where(jumps, np.nan, values)


def _grown(values: Array) -> Array:
    """Return a field that is extrapolated linearly into its gaps (NaN) for a few cells."""
    rows, columns = values.shape
    for _ in range(3):
        wide = np.pad(values, 2, constant_values=np.nan)
        steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        beside, behind = (
            np.array([wide[2 + k * i :][:rows, 2 + k * j :][:, :columns] for i, j in steps])
            for k in (1, 2)
        )
        guesses = np.maximum(np.where(np.isnan(behind), beside, 2.0 * beside - behind), 0.0)
        # Linear extrapolations take precedence over constant ones.
        known = ~np.isnan(guesses)
        firm = known & ~np.isnan(behind)
        known = np.where(firm.any(axis=0), firm, known)
        count = known.sum(axis=0)
        mean = np.where(known, guesses, 0.0).sum(axis=0) / np.maximum(count, 1)
        values = np.where(np.isnan(values) & (count > 0), mean, values)
    return np.where(np.isnan(values), 0.0, values)


def volume_plot(path: str) -> Callable[[ReachVolume], None]:
    """
    Return a function that draws three slices of a map, through the middle of its reached cells.

    `path`: output file; its ending selects the format. Raise OptionError if matplotlib is missing
    or does not support the format.
    """
    new_figure = picture_maker('--plot', path, hint='; -o needs none')

    def save(result: ReachVolume) -> None:
        figure = new_figure(figsize=(12.5, 4.6), layout='constrained')
        panels = figure.subplots(1, 3)
        cells = np.argwhere(result.share > 0.0)
        number = (cells.min(axis=0) + cells.max(axis=0)) // 2 if len(cells) else np.zeros(3)
        middle = result.origin + result.cell * number
        for panel, axis in zip(panels, 'yxz', strict=True):
            along = 'xyz'.index(axis)
            first, second = (each for each in range(3) if each != along)
            sides = result.centres[first], result.centres[second]
            left, low = (side[0] - 0.5 * result.cell for side in sides)
            right, high = (side[-1] + 0.5 * result.cell for side in sides)
            shares = result.layer(axis, float(middle[along]))
            values = np.where(shares > 0.0, shares, np.nan).T
            scale = {'cmap': 'viridis', 'vmin': 0.0, 'vmax': 1.0}
            shown = panel.imshow(values, origin='lower', extent=(left, right, low, high), **scale)
            _draw_curves(panel, result.curves(axis, float(middle[along])), (first, second))
            panel.set_facecolor(BACKGROUND)
            panel.set_title(f'{axis} = {middle[along] + 0.0:.3g} m', fontsize=10.5, color=INK)
            panel.set_xlabel(f'{"xyz"[first]} [m]', color=INK)
            panel.set_ylabel(f'{"xyz"[second]} [m]', color=INK)
            panel.tick_params(labelsize=9, color=FAINT, labelcolor=INK)
            panel.spines[:].set_visible(False)
        figure.suptitle(
            f'Reach of {result.link}, {result.describe()}', color=INK, parse_math=False
        )
        if result.singularities:
            lines = {each.get_label(): each for panel in panels for each in panel.lines}
            lines = {name: each for name, each in lines.items() if name[:1] != '_'}
            figure.legend(
                lines.values(), lines, loc='outside lower center', frameon=False, ncols=2
            )
        if result.quats_xyzw is not None:
            figure.colorbar(shown, ax=panels, label='share of the orientations', shrink=0.8)
        save_picture(figure, path, dpi=_DPI)

    return save
