"""Moving pictures of motions: a file of a solved motion, GIF or MP4, and one for a notebook."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import Any

from ik_node.errors import OptionError, ShapeError
from ik_node.mechanism import Mechanism
from ik_node.scene.ik_roots_helper import IKRootsHelper
from ik_node.scene.mesh import mesh_of
from ik_node.scene.plot import axes_of, draw_shapes, picture_maker
from ik_node.solver.batch.batch_solution import PathSolution
from ik_node.solver.solver import Solver
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Pictures per second, about.
RATES = {'.gif': 15.0, '.mp4': 30.0}
SIDE, DPI = 4.8, 100  # [inch], [1/inch]
# Half the width of the picture, as a share of the height of the robot and its goals.
HALF = 0.55
GOAL = '#DB1F3D'

# Frames per second of a picture for a notebook.
FRAMES = 10


class MovingPicture:
    """
    A moving picture of a robot, which a notebook shows below the cell.

    Attributes
    ----------
    gif : bytes
        The picture as a GIF.
    frames : int
        The number of its frames.

    """

    def __init__(self, gif: bytes, frames: int) -> None:
        self.gif, self.frames = gif, frames

    def __repr__(self) -> str:
        return f'MovingPicture({self.frames} frames)'

    def _repr_html_(self) -> str:
        return f'<img src="data:image/gif;base64,{b64encode(self.gif).decode()}" width="480">'

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, which should end in .gif."""
        with whole_file(path) as part:
            Path(part).write_bytes(self.gif)


def animated(robot: Mechanism, q: Any, seconds: float) -> MovingPicture:
    """Draw a motion, see `Robot.animate`."""
    rows = Solver(robot).checked_rows(q)
    if rows is None or not len(rows):
        raise ShapeError('q', f'shape (n, {len(robot.joint_names)}), n > 0', str(np.shape(q)))
    make = picture_maker('animate', 'picture.png')
    count = max(1, round(FRAMES * seconds))
    chosen = rows[np.round(np.linspace(0, len(rows) - 1, count)).astype(int)]
    helper = IKRootsHelper(robot, layers=('links', 'closures', 'goals'), resolution=6)
    scenes = [list(helper.shapes(values)) for values in chosen]
    corners = [mesh_of(shape)[0].reshape(-1, 3) for shapes in scenes for shape in shapes]
    ends = np.array(
        [end(part, axis=0) for part in corners if len(part) for end in (np.min, np.max)]
    )
    figure = make(figsize=(SIDE, SIDE), dpi=DPI)
    axes, canvas = axes_of(figure, (0.0, 0.03, 0.93, 0.97)), figure.canvas
    # The walls stay, so they are drawn once.
    draw_shapes((), axes, ends)
    canvas.draw()
    walls = canvas.copy_from_bbox(figure.bbox)
    pictures = []
    for shapes in scenes:
        canvas.restore_region(walls)
        draw_shapes(shapes, axes, ends)
        for artist in sorted(_drawn(axes), key=lambda each: float(each.get_zorder())):
            if hasattr(artist, 'do_3d_projection'):
                artist.do_3d_projection()
            axes.draw_artist(artist)
            artist.remove()
        pictures.append(_picture(canvas))
    written = BytesIO()
    _write_gif(written, pictures, FRAMES)
    return MovingPicture(written.getvalue(), count)


def _drawn(axes: Any) -> list[Any]:
    """Return the triangles and texts on 3D axes."""
    return [*axes.collections, *axes.texts]


def _picture(canvas: Any) -> Any:
    """Return what is drawn as a picture of Pillow with at most 256 colours."""
    from PIL import Image

    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    return pixels.quantize(method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


def _write_gif(path: Path | BytesIO, pictures: Sequence[Any], rate: float) -> None:
    first, *others = pictures
    first.save(path, 'GIF', save_all=True, append_images=others, duration=1000 / rate, loop=0)


def check_preview(path: Path) -> None:
    """
    Check that a moving picture can be written, before anything is solved.

    OptionError is raised if the ending is not .gif or .mp4, or a package or program is missing.
    """
    kind = path.suffix.lower()
    if kind not in RATES:
        raise OptionError('--preview', str(path), f'a file that ends in {" or ".join(RATES)}')
    picture_maker('--preview', 'picture.png')
    if find_spec('PIL') is None:
        raise OptionError('--preview', str(path), 'only with Pillow: `pip install pillow`')
    if kind == '.mp4' and which('ffmpeg') is None:
        allowed = 'a .gif, or .mp4 with ffmpeg (apt install ffmpeg)'
        raise OptionError('--preview', str(path), allowed)


def write_preview(
    path: Path,
    robot: Mechanism,
    solved: PathSolution,
    goals: Mapping[str, Array],
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """
    Draw the links of the robot and its goals, with a camera that follows them.

    The path was accepted by `check_preview`. `goals` are positions (N, 3), root frame [m];
    `progress` is called with the number of drawn pictures and their total number.
    """
    kind = path.suffix.lower()
    span = float(solved.times[-1] - solved.times[0])
    frames = max(1.0, (len(solved) - 1) / span) if span else 1.0  # per second
    step = max(1, round(frames / RATES[kind]))
    rows = np.arange(0, len(solved), step)
    places = np.stack(list(goals.values()), axis=1)
    rate = max(1, round(frames / step))
    figure = picture_maker('--preview', 'picture.png')(figsize=(SIDE, SIDE), dpi=DPI)
    axes = axes_of(figure, (0.0, 0.0, 1.0, 1.0), 12.0, -50.0)
    helper = IKRootsHelper(robot, layers=('links', 'closures'), resolution=6)
    low, high = _heights(places)
    half = HALF * (high - low)
    pictures = []
    film = None if kind == '.gif' else _film(rate)
    with nullcontext() if film is None else film.saving(figure, str(path), DPI):
        for done, row in enumerate(rows.tolist()):
            for artist in _drawn(axes):
                artist.remove()
            draw_shapes(helper.shapes(solved.q[row]), axes)
            axes.scatter(*places[row].T, color=GOAL, s=14, depthshade=False, zorder=20)
            middle = 0.5 * (places[row].min(axis=0) + places[row].max(axis=0))
            axes.set(
                xlim=(middle[0] - half, middle[0] + half),
                ylim=(middle[1] - half, middle[1] + half),
                zlim=(low, high),
            )
            axes.set_box_aspect((2.0 * half, 2.0 * half, high - low))
            if film is not None:
                film.grab_frame()
            else:
                figure.canvas.draw()
                pictures.append(_picture(figure.canvas))
            if progress is not None:
                progress(done + 1, len(rows))
    if pictures:
        _write_gif(path, pictures, rate)


def _heights(places: Array) -> tuple[float, float]:
    """Return the lowest and highest place, with a margin [m]."""
    low, high = float(places[..., 2].min()), float(places[..., 2].max())
    size = max(high - low, float(np.ptp(places, axis=1).max()), 0.1)
    return low - 0.1 * size, low + 1.1 * size


def _film(rate: int) -> Any:
    """Return a writer of MP4."""
    from matplotlib.animation import FFMpegWriter

    return FFMpegWriter(fps=rate)
