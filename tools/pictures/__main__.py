# flake8: noqa: E203
"""
Draw docs/gallery/NAME.png: `make gallery`, or some with ARGS='delta gripper'.

Each robot is in the middle of its motion. The path of its goals is red; a dot marks each closure.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
import sys

from ik_node import load_robot, Robot, Solver, SolverOptions
from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.description_path import description_path
from ik_node.gallery.gallery_item import GalleryItem
from ik_node.model.rotation import matrix_to_quat, pose_inverse, pose_matrix
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tools.pictures.solids import ball, solids_of, tube
from tools.pictures.stage import FINE, Stage

Array = NDArray[np.float64]

SIZE = (900, 720)
# Radius of a loop's dot, and half the width of a way [pixels].
DOT, LINE = 7.0, 2.8
RED, GREEN, GOLD = (0.86, 0.12, 0.24), (0.13, 0.68, 0.36), (0.98, 0.78, 0.16)


@dataclass(frozen=True)
class View:
    """
    The camera and moment of a robot's picture.

    Attributes
    ----------
    time : float
        Of the pose that is shown [s].
    begin, until : float
        Where the red line begins and ends [s].
    azimuth, elevation : float
        Of the camera [deg].
    traced : mapping of str to tuple
        Link to the point in it whose way is drawn; none = those of the goals.
    still : str
        Link that stands still in the picture; none = the root.

    """

    time: float = 2.4
    begin: float = 1.0
    until: float = 9.0
    azimuth: float = -58.0
    elevation: float = 24.0
    traced: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    still: str = ''


ORIGIN = (0.0, 0.0, 0.0)
TOP = {'platform_link': (0.0, 0.0, 0.009)}
VIEWS = {
    'hexapod': View(traced=TOP),
    'hexapod_gyrate': View(traced=TOP),
    'hexapod_rotate': View(time=3.0, traced={'platform_link': (0.03, -0.026, 0.009)}),
    'hexapod_tilt': View(
        time=3.3, traced={'base_link': (0.035, -0.063, 0.0)}, still='platform_link'
    ),
    'arm6': View(azimuth=-45.0),
    'ccd_arm': View(elevation=50.0),
    'climber': View(azimuth=-25.0),
    'chain100': View(begin=2.0, until=8.0),
    'gripper': View(time=3.6),
    'fivebar': View(azimuth=-75.0, elevation=50.0),
    'palletizer': View(azimuth=-28.0, elevation=22.0),
    'peaucellier': View(
        time=1.6, azimuth=-75.0, elevation=52.0, traced={'pen_link': (0.0, 0.0, -0.07)}
    ),
    'strandbeest': View(
        time=2.0,
        until=8.0,
        traced=dict.fromkeys(('left_front_foot_link', 'right_front_foot_link'), ORIGIN),
    ),
    'two_arms_one_box': View(azimuth=-22.0, elevation=28.0),
    'knee_leg': View(time=1.9, azimuth=52.0),
    'ankle': View(time=2.5, until=4.0, azimuth=130.0, traced={'foot_link': (0.145, 0.0, -0.048)}),
    'excavator': View(time=3.2, azimuth=-52.0, elevation=16.0),
    'rocker_bogie': View(
        time=5.4,
        until=5.4,
        azimuth=-35.0,
        elevation=28.0,
        traced=dict.fromkeys(('left_front_wheel_link', 'right_front_wheel_link'), ORIGIN),
    ),
    'six_legged_rover': View(elevation=40.0, traced={'body_link': (0.0, 0.0, 0.6)}),
    'biped': View(azimuth=-40.0, elevation=16.0),
    'humanoid': View(
        azimuth=-40.0,
        elevation=12.0,
        traced=dict.fromkeys(('left_hand_link', 'right_hand_link', 'head_link'), ORIGIN),
    ),
}


def main() -> int:
    """Draw the named robots, or all."""
    parser = argparse.ArgumentParser(prog='make gallery', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help='which; none = all')
    parser.add_argument('-o', '--folder', type=Path, default=Path('docs/gallery'))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or NAMES:
        path = args.folder / f'{name}.png'
        pixels = np.rint(255.0 * picture(gallery_item(name), VIEWS.get(name, View())))
        few_colours(Image.fromarray(pixels.astype(np.uint8))).save(path, optimize=True)
        print(path, flush=True)
    return 0


def few_colours(image: Image.Image) -> Image.Image:
    """Return a picture with a palette for a small file; colours of marks are kept."""
    marks = [round(255 * part) for rgb in (RED, GREEN, GOLD, (1.0, 1.0, 1.0)) for part in rgb]
    own = image.quantize(256 - len(marks) // 3).getpalette() or []
    palette = Image.new('P', (1, 1))
    palette.putpalette([*own[: 768 - len(marks)], *marks])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def picture(item: GalleryItem, view: View) -> Array:
    """Return the picture of an item, shape (rows, columns, 3)."""
    path = description_path(item.description)
    robot = load_robot(path)
    times = np.arange(0.0, max(view.until, view.time) + 1e-9, 0.02)
    poses = followed(robot, item, times)
    q = poses[int(np.searchsorted(times, view.time - 1e-9))]
    home = robot.forward(poses[0], view.still) if view.still else np.eye(4)

    def placed(values: Array, link: str) -> Array:
        """Return the pose of a link in the picture."""
        pose = robot.forward(values, link)
        if not view.still:
            return pose
        found: Array = home @ pose_inverse(robot.forward(values, view.still)) @ pose
        return found

    solids = [solid.moved(placed(q, solid.link)) for solid in solids_of(path)]
    # Goals that stand on the ground have no way of their own.
    moving = [link for goal, link in item.goals.items() if goal not in item.standing]
    traced = view.traced or dict.fromkeys(moving, ORIGIN)
    shown_from = int(np.searchsorted(times, view.begin)) if view.until > view.time else 0
    lines = [
        np.array([(placed(p, link) @ [*point, 1.0])[:3] for p in poses[shown_from:]])
        for link, point in traced.items()
    ]
    # The studio has a floor instead of the plates that a description calls the ground.
    ground = [solid for solid in solids if solid.link == 'ground_link']
    plates = [solid for solid in ground if np.ptp(solid.corners[..., 2]) < 0.1]
    own = [solid for solid in solids if solid.link != 'ground_link']
    corners = np.concatenate([solid.corners.reshape(-1, 3) for solid in plates or own])
    floor = float(corners[:, 2].max() if plates else corners[:, 2].min())
    shown = np.concatenate([*(solid.corners.reshape(-1, 3) for solid in own), *lines])
    stage = Stage(shown, floor, view.azimuth, view.elevation, SIZE)
    width = LINE * stage.pixel
    marks = [tube(line[:: max(1, len(line) // 160)], width, RED) for line in lines]
    for link, point in traced.items():
        pose = placed(q, link) @ pose_matrix(point, (0.0, 0.0, 0.0, 1.0))
        marks.append(ball(2.8 * width, GOLD).moved(pose))
    image = stage.picture([solid for solid in solids if solid not in plates], marks)
    loops = [robot.closures[name] for name in robot.closures]
    dots = [(placed(q, c.child.name) @ [*c.offset_position, 1.0])[:3] for c in loops]
    for column, row, _ in stage.project(np.array(dots).reshape(-1, 3)) / FINE:
        dot(image, column, row, DOT)
    return image


def followed(robot: Robot, item: GalleryItem, times: Array) -> list[Array]:
    """Return the joint values at all times of the item's motion."""
    homes = {goal: robot.forward(robot.q, link) for goal, link in item.goals.items()}
    for goal, link in item.goals.items():
        weight = item.weights.get(goal, 1.0)
        robot.add_goal(link, name=goal, dof=item.dof.get(goal), weight=weight)
    solver = Solver(robot, SolverOptions(**item.solver_options))
    path = [robot.q]
    for time in times:
        for joint, value in (item.joint_targets(time) if item.joint_targets else {}).items():
            robot.joints[joint].set_target_values(value)
        poses = item.poses(time, homes, lambda link: robot.forward(path[-1], link))
        asked = {goal: (pose[:3, 3], matrix_to_quat(pose)) for goal, pose in poses.items()}
        path.append(solver.solve_pose(asked, q0=path[-1]).q)
    return path[1:]


def dot(image: Array, column: float, row: float, radius: float) -> None:
    """Draw a green dot with a white rim over everything."""
    y, x = np.indices(image.shape[:2])
    away = np.hypot(x + 0.5 - column, y + 0.5 - row)
    for size, rgb in ((radius + 1.6, (1.0, 1.0, 1.0)), (radius, GREEN)):
        cover = np.clip(size - away + 0.5, 0.0, 1.0)[..., None]
        image[:] = image * (1.0 - cover) + np.array(rgb) * cover


if __name__ == '__main__':
    sys.exit(main())
