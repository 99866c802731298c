"""Moving pictures of motions: a file of a solved motion, and one for a notebook."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from ik_node.errors import OptionError, ShapeError
from ik_node.mechanism import Mechanism
from ik_node.scene.ik_roots_helper import IKRootsHelper
from ik_node.scene.look import NO_TURN
from ik_node.scene.mesh import mesh_of
from ik_node.scene.plot import axes_of, draw_shapes, picture_maker
from ik_node.scene.shapes import Shape, Sphere
from ik_node.solver.batch.batch_solution import PathSolution
from ik_node.solver.solver import Solver
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Frames per second of a file, about, and of a picture for a notebook.
RATE, FRAMES = 15.0, 10
SIDE, DPI = 4.8, 100  # [inch], [1/inch]
# Half the width of the picture and the radius of a goal, as shares of the height of the robot and
# its goals.
HALF, BALL = 0.55, 0.025
GOAL = (0.86, 0.12, 0.24, 1.0)


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
    axes = _axes('animate', (0.0, 0.03, 0.93, 0.97))
    count = max(1, round(FRAMES * seconds))
    chosen = rows[np.round(np.linspace(0, len(rows) - 1, count)).astype(int)]
    helper = IKRootsHelper(robot, layers=('links', 'closures', 'goals'), resolution=6)
    scenes = [helper.shapes(values) for values in chosen]
    corners = [mesh_of(shape)[0].reshape(-1, 3) for shapes in scenes for shape in shapes]
    ends = np.array(
        [end(part, axis=0) for part in corners if len(part) for end in (np.min, np.max)]
    )
    return MovingPicture(_gif(axes, ((shapes, ends) for shapes in scenes), FRAMES), count)


def _axes(option: str, *view: Any) -> Any:
    figure = picture_maker(option, 'picture.png')(figsize=(SIDE, SIDE), dpi=DPI)
    return axes_of(figure, *view)


def _gif(axes: Any, scenes: Iterable[tuple[Iterable[Shape], Array]], rate: float) -> bytes:
    """Return a GIF with a picture of each scene: its shapes, and the points around them."""
    from PIL import Image

    pictures, canvas = [], axes.figure.canvas
    for shapes, around in scenes:
        for artist in (*axes.collections, *axes.texts):
            artist.remove()
        draw_shapes(shapes, axes, around)
        canvas.draw()
        pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        pictures.append(
            pixels.quantize(method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        )
    written, (first, *others) = BytesIO(), pictures
    first.save(written, 'GIF', save_all=True, append_images=others, duration=1000 / rate, loop=0)
    return written.getvalue()


def check_preview(path: Path) -> None:
    """Raise an OptionError if a preview cannot be written, before anything is solved."""
    if path.suffix.lower() != '.gif':
        raise OptionError('--preview', str(path), 'a file that ends in .gif')
    picture_maker('--preview', 'picture.png')
    if find_spec('PIL') is None:
        raise OptionError('--preview', str(path), 'only with Pillow: `pip install pillow`')


def write_preview(
    path: Path,
    robot: Mechanism,
    solved: PathSolution,
    goals: Mapping[str, Array],
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """
    Draw the links of the robot and its goals as a GIF, with a camera that follows them.

    `goals` are positions (N, 3), root frame [m]; `progress` is called with the number of drawn
    pictures and their total number.
    """
    span = float(solved.times[-1] - solved.times[0])
    frames = max(1.0, (len(solved) - 1) / span) if span else 1.0  # per second
    step = max(1, round(frames / RATE))
    rows = range(0, len(solved), step)
    places = np.stack(list(goals.values()), axis=1)
    low = float(places[..., 2].min())
    size = max(float(np.ptp(places[..., 2])), float(np.ptp(places, axis=1).max()), 0.1)
    low, high = low - 0.1 * size, low + 1.1 * size
    reach = HALF * (high - low)
    helper = IKRootsHelper(robot, layers=('links', 'closures'), resolution=6)

    def scenes() -> Iterator[tuple[list[Shape], Array]]:
        for done, row in enumerate(rows):
            x, y, _ = 0.5 * (places[row].min(axis=0) + places[row].max(axis=0))
            box = np.array(((x - reach, y - reach, low), (x + reach, y + reach, high)))
            balls = [
                Sphere('goals', name, name, tuple(place), NO_TURN, GOAL, 1.0, BALL * size, 8)
                for name, place in zip(goals, places[row].tolist(), strict=True)
            ]
            yield [*helper.shapes(solved.q[row]), *balls], box
            if progress is not None:
                progress(done + 1, len(rows))

    axes = _axes('--preview', (0.0, 0.0, 1.0, 1.0), 12.0, -50.0)
    path.write_bytes(_gif(axes, scenes(), max(1, round(frames / step))))
