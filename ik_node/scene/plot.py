"""Pictures of scenes with matplotlib."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
import warnings

from ik_node.errors import IkError, OptionError
from ik_node.mechanism import Mechanism
from ik_node.scene.ik_roots_helper import IKRootsHelper
from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import Rgba, Shape, Text
from ik_node.solver.pose import Values
from ik_node.solver.solver import Solver
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Text, secondary text, background and lines of every picture.
INK, FAINT, BACKGROUND, RULED = '#1C2733', '#66717D', '#F2F4F7', '#FFFFFF'
# A palette of curves for the colour-blind (Okabe & Ito 2008).
CURVES = ('#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#56B4E9', '#000000')


def picture_maker(option: str, path: str | Path, *, hint: str = '') -> Callable[..., Any]:
    """
    Return a function that creates figures for a file, with the arguments of matplotlib's Figure.

    The ending of the path selects the format. OptionError about `option` is raised if matplotlib
    is missing, with a `hint` at an alternative, or does not support the format.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            option,
            str(path),
            f"only with matplotlib: `pip install 'ik_node[plot]'` or python3-matplotlib{hint}",
        ) from None
    kinds = FigureCanvasAgg.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in kinds:
        raise OptionError(option, str(path), 'a file that ends in .' + ', .'.join(sorted(kinds)))

    def make(**settings: Any) -> Any:
        figure = Figure(**settings)
        FigureCanvasAgg(figure)
        return figure

    return make


def save_picture(figure: Any, path: str | Path | BytesIO, **settings: Any) -> None:
    """Write a figure to a file without warnings about characters that no font has."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)  # a name may have characters no font has
        if isinstance(path, BytesIO):
            figure.savefig(path, **settings)
            return
        with whole_file(path) as part:
            figure.savefig(part, **settings)


# Direction of the light, root frame, and brightness without light.
_LIGHT = np.array((0.35, -0.5, 0.8)) / np.linalg.norm((0.35, -0.5, 0.8))
_SHADE = 0.65
# Margin around the scene, and smallest depth of its box, as shares of its size.
_MARGIN, _FLAT = 0.04, 0.3
# Share of the picture that the scene fills, and range of readable font sizes [pt].
_FILLED, _LETTERS = 0.6, (6.0, 14.0)
_DPI = 100
# Ground under a robot, walls and shadows.
_GROUND, _WALL, _DARK = '#E9EDF2', '#F5F7F9', '#D3DAE2'
# Place of the axes in the picture: left, bottom, width, height.
_PLACE = (0.02, 0.05, 0.96, 0.84)
# Usual viewing direction [deg].
ELEVATION, AZIMUTH = 25.0, -55.0


def axes_of(
    figure: Any,
    place: tuple[float, ...] | None = None,
    elevation: float = ELEVATION,
    azimuth: float = AZIMUTH,
) -> Any:
    """Return new 3D axes of a figure, at a place in it or on all of it; see `plot_shapes`."""
    add = figure.add_subplot if place is None else partial(figure.add_axes, place)
    axes = add(projection='3d', proj_type='ortho')
    axes.view_init(elev=elevation, azim=azimuth)
    return axes


def plot_shapes(
    shapes: Iterable[Shape],
    path: str | Path,
    *,
    elevation: float = ELEVATION,
    azimuth: float = AZIMUTH,
    size: tuple[float, float] = (9.0, 9.0),
    title: str = '',
    legend: Mapping[str, Rgba] | None = None,
) -> None:
    """
    Draw shapes to a file, with the same scale for all three axes.

    Parameters
    ----------
    shapes : iterable of Shape
        Result of `IKRootsHelper.shapes`. Shapes with fewer sides (`set_resolution`) are drawn
        faster.
    path : str or Path
        Output file; its ending selects the format: .png, .svg, .pdf and so on.
    elevation, azimuth : float
        Viewing direction [deg]: above the xy plane, and about z from x.
    size : (float, float)
        Size of the picture in hundreds of pixels.
    title : str
        Title of the picture; its first line is bold.
    legend : mapping of str to tuple of float, optional
        Colours, by their meanings.

    Raises
    ------
    OptionError
        If matplotlib is missing, does not support the format, or cannot write the file.

    Examples
    --------
    >>> import ik_node as ik, os, tempfile
    >>> helper = ik.scene.IKRootsHelper(ik.load_robot('arm6'), resolution=6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ik.scene.plot_shapes(helper.shapes(), f'{folder}/arm6.svg', title='arm6')
    ...     print(os.listdir(folder))
    ['arm6.svg']

    """
    figure = picture_maker('plot', path)(figsize=size)
    axes = axes_of(figure, _PLACE, elevation, azimuth)
    _write(figure, title, legend or {})
    draw_shapes(shapes, axes)
    try:
        save_picture(figure, path, dpi=_DPI)
    except OSError as error:
        raise OptionError('plot', str(path), f'a file that can be written ({error})') from None


def plot(robot: Mechanism, axes: Any = None, *, q: Values | None = None) -> Any:
    """
    Draw links, joints, limits, closures and goals of a robot with matplotlib.

    Parameters
    ----------
    robot : Robot
        The robot.
    axes : matplotlib Axes3D, optional
        Axes to draw on, with projection='3d'; None = those of a new figure.
    q : array_like, shape (nq,), or mapping of str to float, optional
        Joint values [rad or m], as in `Robot.forward`; None = the present ones.

    Returns
    -------
    Axes3D
        The axes, with the same scale in all directions.

    Raises
    ------
    IkError
        If matplotlib is not installed.
    OptionError
        If the axes are not three-dimensional.
    ShapeError, UnknownFrameError
        If q cannot be used.

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.plot(ik.load_robot('arm6'), q={'j1': 0.5}).name
    '3d'

    """
    values = None if q is None else Solver(robot).checked_q(q)
    return draw_shapes(IKRootsHelper(robot, resolution=8).shapes(values), axes)


def html_picture(robot: Mechanism) -> str:
    """Return a picture of a robot for a notebook; '' without matplotlib."""
    try:
        figure = picture_maker('plot', 'picture.png')(figsize=(6.0, 6.0), layout='constrained')
    except IkError:
        return ''
    draw_shapes(IKRootsHelper(robot, resolution=8).shapes(), axes_of(figure))
    written = BytesIO()
    save_picture(figure, written, format='png', dpi=_DPI)
    picture = b64encode(written.getvalue()).decode()
    return f'<img src="data:image/png;base64,{picture}" width="480">'


def draw_shapes(shapes: Iterable[Shape], axes: Any = None, around: Array | None = None) -> Any:
    """
    Draw shapes on 3D axes, with the same scale in all directions, and return the axes.

    The axes show the points `around` (n, 3), or else the shapes. Without axes, those of a new
    figure of pyplot are used. IkError is raised if matplotlib is not installed, OptionError if the
    axes are not three-dimensional.
    """
    if axes is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise IkError(
                "matplotlib is not installed: `pip install 'ik_node[plot]'`, or `pip install "
                'matplotlib`'
            ) from None
        axes = axes_of(pyplot.figure(layout='constrained'))
    if not hasattr(axes, 'set_zlim'):
        raise OptionError('axes', axes, "3D axes: figure.add_subplot(projection='3d')")
    axes.set(xlabel='x [m]', ylabel='y [m]', zlabel='z [m]')
    _draw(axes, list(shapes), around)
    return axes


def _write(figure: Any, title: str, legend: Mapping[str, Rgba]) -> None:
    """Write the title into the upper left corner, and the legend below the scene."""
    inch = 1.0 / figure.get_size_inches()[1]
    first, *others = title.split('\n')
    top = 1.0 - 0.25 * inch
    figure.text(0.04, top, first, size=14, weight='bold', color=INK, va='top')
    below = '\n'.join(others)
    figure.text(0.04, top - 0.33 * inch, below, size=10, color=FAINT, va='top', linespacing=1.4)
    if legend:
        from matplotlib.lines import Line2D

        dot: dict[str, Any] = {
            'marker': 'o',
            'linestyle': '',
            'markersize': 9,
            'markeredgecolor': 'none',
        }
        figure.legend(
            [Line2D([], [], color=rgba, **dot) for rgba in legend.values()],
            list(legend),
            loc='lower center',
            ncols=min(len(legend), 6),
            frameon=False,
            labelcolor=FAINT,
            handletextpad=0.1,
            columnspacing=1.4,
        )


def _furnish(axes: Any) -> None:
    """Draw the walls and the ground like the ground of `reach`."""
    for axis, colour in ((axes.xaxis, _WALL), (axes.yaxis, _WALL), (axes.zaxis, _GROUND)):
        axis.set_pane_color(colour)
        axis.pane.set_edgecolor(RULED)
        axis.line.set_color((0.0, 0.0, 0.0, 0.0))
        axis.label.set_color(INK)
        axis._axinfo['grid'].update(color=RULED, linewidth=1.1)
        axis._axinfo['tick'].update(inward_factor=0.0, outward_factor=0.0)
    axes.tick_params(colors=FAINT, labelsize=9)


def _draw(axes: Any, shapes: list[Shape], around: Array | None) -> None:
    # All triangles are in one collection, because matplotlib sorts by depth only within a
    # collection.
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.computed_zorder = False
    _furnish(axes)
    solid = [mesh_of(shape) for shape in shapes]
    triangles = np.concatenate([np.zeros((0, 3, 3)), *(result for result, _ in solid)])
    colours = np.concatenate([np.zeros((0, 4)), *(result for _, result in solid)])
    if len(triangles):
        axes.add_collection3d(Poly3DCollection(triangles, facecolors=_lit(triangles, colours)))
    through = np.repeat([shape.draw_through for shape in shapes], [len(each) for each, _ in solid])
    if through.any():
        over, faint = triangles[through > 0.0], colours[through > 0.0]
        faint[:, 3] *= through[through > 0.0]
        axes.add_collection3d(Poly3DCollection(over, facecolors=_lit(over, faint), zorder=5))
    texts = [shape for shape in shapes if isinstance(shape, Text)]
    places = np.array([text.position for text in texts]).reshape(-1, 3)
    points = np.concatenate([triangles.reshape(-1, 3), places]) if around is None else around
    shown = _equal(axes, points)
    firm = [
        result
        for (result, _), shape in zip(solid, shapes, strict=True)
        if shape.layer == 'links' and shape.rgba[3] == 1.0
    ]
    if firm:
        shadow = np.concatenate(firm)
        shadow[:, :, 2] = axes.get_zlim()[0]
        axes.add_collection3d(Poly3DCollection(shadow, facecolors=_DARK, zorder=0.5))
    points_per_metre = _FILLED * 72.0 * min(axes.figure.get_size_inches()) / shown
    for text in texts:
        axes.text(
            *text.position,
            text.text,
            color=text.rgba,
            fontsize=float(np.clip(text.height * points_per_metre, *_LETTERS)),
            ha='center',
            va='bottom',
            zorder=10,
            bbox={'facecolor': 'white', 'alpha': 0.7, 'edgecolor': 'none', 'pad': 0.8},
        )


def _equal(axes: Any, points: Array) -> float:
    """Set equal scales that show all points; return the longest side [m]."""
    if not len(points):
        points = np.zeros((1, 3))
    low, high = points.min(axis=0), points.max(axis=0)
    longest = float((high - low).max()) or 1.0
    middle, half = 0.5 * (low + high), 0.5 * np.maximum(high - low, _FLAT * longest)
    low, high = middle - half - _MARGIN * longest, middle + half + _MARGIN * longest
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=0.9)
    axes.locator_params(nbins=6)
    return float((high - low).max())


def _lit(triangles: Array, colours: Array) -> Array:
    """Return colours (n, 4), darker for triangles that do not face the light."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lit = _SHADE + (1.0 - _SHADE) * np.abs(normals @ _LIGHT)
    shaded = colours.copy()
    shaded[:, :3] *= lit[:, None]
    return shaded
