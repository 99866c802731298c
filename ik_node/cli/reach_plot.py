"""Pictures of workspace maps: a slice with the robot, and a map in space as slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ik_node.analysis.reach.grid import Slice
from ik_node.analysis.reach.outline import Outline
from ik_node.analysis.reach.spread import Spread
from ik_node.analysis.reach.volume import ReachVolume, SingularCurve
from ik_node.model.rotation import Array
from ik_node.robot import Robot
from ik_node.scene import IKRootsHelper, mesh_of
from ik_node.scene.look import SINGULAR
from ik_node.scene.plot import BACKGROUND, FAINT, INK, picture_maker, RULED, save_picture
from ik_node.solver.singularities import KINDS
import numpy as np
from scipy.ndimage import distance_transform_edt


def _triangles(robot: Robot) -> Array:
    """Return the triangles (n, 3, 3) of the links of a robot, root frame [m]."""
    # Passive prismatic joints often only describe a platform that moves freely.
    free = {
        joint.name
        for joint in robot.joint_order
        if robot.actuated and joint.name not in robot.actuated and min(joint.dof, default=3) < 3
    }
    helper = IKRootsHelper(robot, layers='links', resolution=8)
    shapes = helper.set_joint_scale(THIN * helper.joint_scale).shapes(robot.q)
    rods = [shape for shape in shapes if shape.name.rpartition('/')[2] not in free]
    return np.concatenate([np.zeros((0, 3, 3)), *(mesh_of(rod)[0] for rod in rods)])


def _wide(extent: tuple[float, ...], points: Array) -> tuple[float, ...]:
    """Return an extent [m] with the points (n, 2) of a robot, unless it becomes too large."""
    left, right, low, high = extent
    size = max(right - left, high - low)
    x, y = (points.min(axis=0) - 0.03 * size).tolist()
    far_x, far_y = (points.max(axis=0) + 0.03 * size).tolist()
    wide = min(left, x), max(right, far_x), min(low, y), max(high, far_y)
    return wide if max(wide[1] - wide[0], wide[3] - wide[2]) <= _WIDEST * size else extent


# Cells of which nothing is known; the robot, and the link whose reach is drawn.
_UNKNOWN = '#D5DBE1'
_ROD, _LINK = '#26323F', '#F0502D'
# Width of the rods, as a share of that in other pictures.
THIN = 0.5
_DPI = 150
# Longer side of the map, smallest other side, and space around the map [in].
_LONGEST, _LEAST, _AROUND = 6.6, 3.2, (1.95, 1.7)
# The whole robot is shown if the map grows by at most this factor.
_WIDEST = 2.0


Draw = Callable[[Robot, str, Spread[Slice], Outline, Array, Sequence[SingularCurve]], None]


def reach_plot(path: str) -> Draw:
    """Return a function that draws a map to a file, see `picture_maker`."""
    new_figure = picture_maker('--plot', path, hint='; -o needs none')

    def save(
        robot: Robot,
        link: str,
        result: Spread[Slice],
        outline: Outline,
        measure: Array,
        curves: Sequence[SingularCurve],
    ) -> None:
        flat = result.grid.flatten(_triangles(robot))
        home = result.grid.flatten(robot.forward(robot.q, link)[:3, 3])
        left, right, low, high = view = _wide(
            result.grid.extent, np.vstack((flat.reshape(-1, 2), home))
        )
        scale = _LONGEST / max(right - left, high - low)
        sides = [max(_LEAST, scale * side) for side in (right - left, high - low)]
        size = (sides[0] + _AROUND[0], sides[1] + _AROUND[1])
        figure = new_figure(figsize=size, layout='constrained')
        axes = figure.add_subplot(aspect='equal', xlim=view[:2], ylim=view[2:])
        axes.set(facecolor=BACKGROUND, axisbelow=True, autoscale_on=False)
        axes.grid(True, color=RULED, lw=1.0)
        _draw_reach(axes, result, outline, measure)
        _draw_curves(axes, curves, result.grid.axes[:2])
        _draw_robot(axes, flat, link, home)
        _write_words(axes, result, outline, robot.name, link)
        save_picture(figure, path, dpi=_DPI, bbox_inches='tight', pad_inches=0.2)

    return save


def _draw_reach(axes: Any, result: Spread[Slice], outline: Outline, measure: Array) -> None:
    """Colour the reached region by the measure, up to the border."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    across, up = result.grid.sides
    half = 0.5 * (across[1] - across[0]), 0.5 * (up[1] - up[0])
    extent = across[0] - half[0], across[-1] + half[0], up[0] - half[1], up[-1] + half[1]
    decided = result.decided.reshape(result.grid.shape)
    if not decided.all():
        veil, grey = np.where(decided, np.nan, 1.0), ListedColormap([_UNKNOWN])
        axes.imshow(veil, origin='lower', extent=extent, cmap=grey, zorder=1)
    border = {'colors': INK, 'lw': 1.6, 'capstyle': 'round', 'joinstyle': 'round'}
    axes.add_collection(LineCollection(outline.border, zorder=4, **border))
    if not outline.cells:
        return
    outlines = [Path(np.vstack((cell, cell[:1])), closed=True) for cell in outline.cells]
    inside = PathPatch(Path.make_compound_path(*outlines), transform=axes.transData)
    values, top = _grown(measure.reshape(result.grid.shape)), float(np.nanmax(measure))
    scale = {'vmin': 0.0, 'vmax': top if top > 0.0 else 1.0}
    style = {'cmap': 'viridis', 'interpolation': 'bilinear', 'zorder': 2, **scale}
    shown = axes.imshow(values, origin='lower', extent=extent, **style)
    shown.set_clip_path(inside)
    bar = axes.figure.colorbar(shown, cax=axes.inset_axes((1.03, 0.0, 0.032, 1.0)))
    meaning = 'conditioning [1]:  0 singular,  1 alike in all directions'
    bar.set_label(meaning, color=INK, labelpad=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=9, color=FAINT, labelcolor=INK)


def _draw_robot(axes: Any, flat: Array, link: str, home: Array) -> None:
    """Draw the triangles of the robot over the map, and where its link is."""
    from matplotlib.collections import PolyCollection

    for colour, width in (('white', 2.4), (_ROD, 0.6)):
        style: dict[str, Any] = {'facecolors': colour, 'edgecolors': colour, 'lw': width}
        axes.add_collection(PolyCollection(list(flat), zorder=6, **style))
    dot = {'ls': '', 'marker': 'o', 'zorder': 7, 'mfc': _LINK, 'mec': 'white', 'mew': 1.8}
    axes.plot(*home[:, None], ms=9.0, label=link, **dot)


def _write_words(axes: Any, result: Spread[Slice], outline: Outline, name: str, link: str) -> None:
    """Draw the title, the axis labels and the legend."""
    style: dict[str, Any] = {'loc': 'left', 'fontsize': 14.5, 'fontweight': 'bold', 'pad': 22}
    axes.set_title(f'Reach of {link}', color=INK, parse_math=False, **style)
    facts = (
        name,
        result.grid.name,
        f'{outline.area:.4g} m\u00b2',
        f'{np.count_nonzero(result.reached)} of {len(result.q)} points',
    )
    place = {'xycoords': 'axes fraction', 'textcoords': 'offset points', 'parse_math': False}
    text = '  \u00b7  '.join(facts)
    axes.annotate(text, (0.0, 1.0), (0.0, 6.0), fontsize=9.5, color=FAINT, **place)
    first, second, _ = result.grid.axes
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


def _grown(values: Array) -> Array:
    """Return a field whose gaps (NaN) have the nearest value."""
    nearest = distance_transform_edt(np.isnan(values), return_distances=False, return_indices=True)
    return np.asarray(values[tuple(nearest)])


def volume_plot(path: str) -> Callable[[ReachVolume], None]:
    """Return a function that draws three slices of a map, through the middle of its cells."""
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
        labelled = [panel.get_legend_handles_labels() for panel in panels]
        lines = {name: each for pair in labelled for each, name in zip(*pair, strict=True)}
        if lines:
            place = {'loc': 'outside lower center', 'ncols': 2}
            figure.legend(lines.values(), lines, frameon=False, **place)
        if result.quats_xyzw is not None:
            figure.colorbar(shown, ax=panels, label='share of the orientations', shrink=0.8)
        save_picture(figure, path, dpi=_DPI)

    return save
