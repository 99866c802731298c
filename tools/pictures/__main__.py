"""
Draw docs/gallery/NAME.png: `tools/run python -m tools.pictures`, or some: `... delta gripper`.

Each robot is in the middle of its motion. The path of its goals is red; a dot marks each closure.
With --moving, draw one cycle of the motion as docs/gallery/NAME.webp.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
import sys

from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.gallery_item import GalleryItem
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tools.pictures.shot import GOLD, GREEN, RED, Shot
from tools.pictures.views import View, VIEWS

SIZE, MOVING_SIZE = (900, 720), (440, 352)
# Of a moving picture, which shows one cycle in FRAMES * MILLISECONDS, whatever its real duration.
FRAMES, MILLISECONDS = 48, 70
# The best of these qualities whose file is small enough.
QUALITIES, BYTES = (60, 45, 30, 20, 10), 300_000
# The motions start gently; from this time on they repeat themselves [s].
STEADY = 1.0


def main() -> int:
    """Draw the named robots, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help='which; none = all')
    parser.add_argument('-o', '--folder', type=Path, default=Path('docs/gallery'))
    parser.add_argument('--moving', action='store_true', help='moving pictures')
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    able = [name for name, view in VIEWS.items() if view.period]
    for name in args.names or (able if args.moving else NAMES):
        if args.moving and name not in able:
            parser.error(f'{name} has no moving picture; these have: {" ".join(able)}')
        draw = draw_moving if args.moving else draw_still
        print(draw(gallery_item(name), VIEWS.get(name, View()), args.folder), flush=True)
    return 0


def draw_still(item: GalleryItem, view: View, folder: Path) -> Path:
    """Draw an item at one moment, and return the file."""
    path = folder / f'{item.name}.png'
    few_colours(as_image(Shot(item, view, SIZE).picture(view.time))).save(path, optimize=True)
    return path


def draw_moving(item: GalleryItem, view: View, folder: Path) -> Path:
    """Draw one cycle of an item's motion, and return the file."""
    path = folder / f'{item.name}.webp'
    times = tuple(STEADY + view.period * k / FRAMES for k in range(FRAMES))
    cycle = replace(view, time=STEADY, begin=STEADY, until=STEADY + view.period)
    shot = Shot(item, cycle, MOVING_SIZE, times)
    first, *others = [as_image(shot.picture(time)) for time in times]
    for quality in QUALITIES:
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=MILLISECONDS,
            loop=0,
            quality=quality,
            method=6,
        )
        if path.stat().st_size <= BYTES:
            break
    return path


def as_image(pixels: NDArray[np.float64]) -> Image.Image:
    """Return a picture of numbers from 0 to 1 in 8 bits."""
    return Image.fromarray(np.rint(255.0 * pixels).astype(np.uint8))


def few_colours(image: Image.Image) -> Image.Image:
    """Return a picture with a palette for a small file; colours of marks are kept."""
    marks = [round(255 * part) for rgb in (RED, GREEN, GOLD, (1.0, 1.0, 1.0)) for part in rgb]
    own = image.quantize(256 - len(marks) // 3).getpalette() or []
    palette = Image.new('P', (1, 1))
    palette.putpalette([*own[: 768 - len(marks)], *marks])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


if __name__ == '__main__':
    sys.exit(main())
