"""Ground and lights of the 3D view."""

from __future__ import annotations

from collections.abc import Callable
from math import log10
from typing import Any

import numpy as np

# Colour of the ground's lines: grey on a light page and on a dark one.
LINES, SECTIONS = (140, 150, 166), (120, 130, 148)
# Line widths [px]; below 1, lines are as thin as a pixel and transparent.
THIN, WIDE = 0.28, 0.45
# Distance from the robot at which the ground has faded out, as a multiple of the robot's size.
FADE = 3.0
# Darkness of shadows on the ground.
SHADOW = 0.22
# Position of the light of the shadows above the robot, as a multiple of the robot's size, and half
# the angle of its cone [rad].
LAMP, CONE = (0.8, 0.8, 4.0), 0.5
# Number of pieces along a side of a terrain, pieces per line, and the colours of both, which have
# to suit light and dark pages.
PIECES, EVERY, SOIL, RELIEF = 96, 3, (108, 103, 96), (80, 76, 70)
# Number of cells along a robot of the size of ten cells, and cells per section.
CELLS, PER_SECTION = 10.0, 5


def place_ground(scene: Any, size: float, height: float, middle: tuple[float, float]) -> Any:
    """
    Place a soft grid below a robot, which receives its shadow; return the light of the shadow.

    The grid has cells of 1, 10, 100 mm, ... for the robot's size [m] and fades out around x and y
    of the robot's middle [m].
    """
    cell = 10.0 ** round(log10(size / CELLS))
    # The middle of the grid is on a line, so that the lines are at round coordinates.
    x, y = (cell * PER_SECTION * round(index / (cell * PER_SECTION)) for index in middle)
    scene.add_grid(
        '/floor',
        width=2.0 * FADE * size,
        height=2.0 * FADE * size,
        cell_size=cell,
        cell_color=LINES,
        cell_thickness=THIN,
        section_size=PER_SECTION * cell,
        section_color=SECTIONS,
        section_thickness=WIDE,
        fade_distance=FADE * size,
        fade_from='origin',
        shadow_opacity=SHADOW,
        position=(x, y, height),
    )
    # One light that casts shadows: those of viser draw the robot three times.
    lamp = size * np.array(LAMP)
    return scene.add_light_spot(
        '/lights/shadow',
        intensity=1.2,
        angle=CONE,
        penumbra=1.0,
        decay=0.0,
        direction=tuple(-lamp),
        position=(*(middle + lamp[:2]), height + lamp[2]),
    )


def add_terrain(
    scene: Any, height: Callable[[float, float], float], x: float, y: float, half: float
) -> Any:
    """Add a surface with a height [m] at x, y [m]: a square around x, y, half its width [m]."""
    index = np.linspace(-half, half, PIECES + 1)
    xs, ys = np.meshgrid(x + index, y + index, indexing='ij')
    zs = np.array([height(*place) for place in zip(xs.flat, ys.flat, strict=True)])
    corner = (np.arange(PIECES)[:, None] * (PIECES + 1) + np.arange(PIECES)).reshape(-1, 1)
    both = np.array((0, PIECES + 1, PIECES + 2, 0, PIECES + 2, 1))
    surface = scene.add_mesh_simple(
        '/terrain',
        np.column_stack((xs.flat, ys.flat, zs)).astype(np.float32),
        (corner + both).reshape(-1, 3).astype(np.uint32),
        color=SOIL,
        side='double',
        cast_shadow=False,
    )
    # Lines along x and y, a little above the surface, show its relief.
    places = np.stack((xs, ys, zs.reshape(xs.shape) + 2e-3 * half / PIECES), axis=2)
    rows = places[::EVERY], places[:, ::EVERY].swapaxes(0, 1)
    pieces = np.concatenate([np.stack((row[:, :-1], row[:, 1:]), axis=2) for row in rows])
    scene.add_line_segments(
        '/terrain/lines',
        pieces.reshape(-1, 2, 3).astype(np.float32),
        colors=RELIEF,
        thickness=1.0,
        thickness_units='screen',
    )
    return surface


def add_lights(scene: Any) -> None:
    """Add a sky and four lights, as in the pictures of the gallery."""
    scene.configure_environment_map(None)
    scene.configure_default_lights(enabled=False)
    scene.add_light_hemisphere(
        '/lights/sky', sky_color=(232, 240, 255), ground_color=(160, 156, 150), intensity=1.9
    )
    scene.add_light_directional('/lights/sun', intensity=1.1, position=(2.1, -2.5, 4.7))
    scene.add_light_directional('/lights/top', intensity=1.8, position=(-0.2, 0.2, 1.0))
    scene.add_light_directional('/lights/below', intensity=0.4, position=(0.0, 0.0, -1.0))
    scene.add_light_directional('/lights/back', intensity=0.5, position=(-4.0, 5.0, 1.0))
