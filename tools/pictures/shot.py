"""A robot of the gallery along its motion, before a camera."""

from __future__ import annotations

from ik_node import load_robot, Robot, Solver, SolverOptions
from ik_node.description.files import description_path
from ik_node.gallery.gallery_item import GalleryItem
from ik_node.model.rotation import matrix_to_quat, pose_inverse, pose_matrix
from ik_node.scene import IKRootsHelper, mesh_of
import numpy as np
from numpy.typing import NDArray

from tools.pictures.solids import ball, Solid, solids_of, tube
from tools.pictures.stage import FINE, Stage
from tools.pictures.views import ORIGIN, View

Array = NDArray[np.float64]

# Radius of a closure's dot, and half the width of a path [pixels in a picture of WIDTH columns].
DOT, LINE, WIDTH = 7.0, 2.8, 900
WOOD = (0.80, 0.72, 0.58)
RED, GREEN, GOLD = (0.86, 0.12, 0.24), (0.13, 0.68, 0.36), (0.98, 0.78, 0.16)
STEP = 0.02  # between two solves along the motion [s]


class Shot:
    """
    A robot of the gallery along its motion, before a camera that stands still.

    Parameters
    ----------
    item : GalleryItem
    view : View
        Its `begin`, `until` and `time` say which part of the motion is solved.
    size : (int, int)
        Columns and rows of each picture.
    times : sequence of float
        Moments at which the whole robot must be in the picture [s]; none = that of the view.

    """

    def __init__(
        self, item: GalleryItem, view: View, size: tuple[int, int], times: tuple[float, ...] = ()
    ) -> None:
        path = description_path(item.description)
        self._view, self._robot = view, load_robot(path)
        self._times = np.arange(0.0, max(view.until, view.time, *times) + 1e-9, STEP)
        self._poses = followed(self._robot, item, self._times)
        self._home = self._robot.forward(self._poses[0], view.still) if view.still else np.eye(4)
        self._solids, self._around = solids_of(path), obstacles_of(self._robot)
        # Goals that stand on the ground have no path of their own.
        moving = [link for goal, link in item.goals.items() if goal not in item.standing]
        self._traced = view.traced or dict.fromkeys(moving, ORIGIN)
        shown_from = self._index(view.begin) if view.until > view.time else 0
        shown_until = self._index(max(view.until, view.time)) + 1
        self._lines = [
            np.array(
                [
                    (self._placed(q, link) @ [*point, 1.0])[:3]
                    for q in self._poses[shown_from:shown_until]
                ]
            )
            for link, point in self._traced.items()
        ]
        shown, lowest = [*self._lines], []
        for time in times or (view.time,):
            _, own, plates = self._scene(time)
            shown += [solid.corners.reshape(-1, 3) for solid in own]
            corners = np.concatenate([solid.corners.reshape(-1, 3) for solid in plates or own])
            lowest.append(corners[:, 2].max() if plates else corners[:, 2].min())
        floor = float(min(lowest))
        self._stage = Stage(np.concatenate(shown), floor, view.azimuth, view.elevation, size)
        self._share = size[0] / WIDTH

    def picture(self, time: float) -> Array:
        """Return the picture at a time [s], shape (rows, columns, 3), from 0 to 1."""
        q = self._poses[self._index(time)]
        stage, width = self._stage, LINE * self._share * self._stage.pixel
        lines = [line[:: max(1, len(line) // 160)] for line in self._lines]
        marks = [tube(line, width, RED) for line in lines]
        for link, point in self._traced.items():
            pose = self._placed(q, link) @ pose_matrix(point, (0.0, 0.0, 0.0, 1.0))
            marks.append(ball(2.8 * width, GOLD).moved(pose))
        solids, _, plates = self._scene(time)
        image = stage.picture([solid for solid in solids if solid not in plates], marks)
        loops = [self._robot.closures[name] for name in self._robot.closures]
        dots = [(self._placed(q, c.child.name) @ [*c.offset_position, 1.0])[:3] for c in loops]
        for column, row, _ in stage.project(np.array(dots).reshape(-1, 3)) / FINE:
            dot(image, column, row, DOT * self._share)
        return image

    def _index(self, time: float) -> int:
        return int(np.searchsorted(self._times, time - 1e-9))

    def _placed(self, q: Array, link: str) -> Array:
        """Return the pose of a link in the picture."""
        pose = self._robot.forward(q, link)
        if not self._view.still:
            return pose
        moved: Array = self._home @ pose_inverse(self._robot.forward(q, self._view.still)) @ pose
        return moved

    def _scene(self, time: float) -> tuple[list[Solid], list[Solid], list[Solid]]:
        """Return all solids, those of the robot, and the plates that the floor replaces."""
        q = self._poses[self._index(time)]
        solids = [solid.moved(self._placed(q, solid.link)) for solid in self._solids]
        ground = [solid for solid in solids if solid.link == 'ground_link']
        plates = [solid for solid in ground if np.ptp(solid.corners[..., 2]) < 0.1]
        solids += self._around
        return solids, [solid for solid in solids if solid.link != 'ground_link'], plates


def obstacles_of(robot: Robot) -> list[Solid]:
    """Return the obstacles around a robot."""
    solids = []
    for shape in IKRootsHelper(robot, layers='collisions').shapes():
        if shape.of in robot.collisions.obstacles:
            corners = mesh_of(shape)[0]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals /= np.linalg.norm(normals, axis=1)[:, None]
            solids.append(Solid(corners, np.repeat(normals[:, None], 3, axis=1), WOOD))
    return solids


def followed(robot: Robot, item: GalleryItem, times: Array) -> list[Array]:
    """Return the joint values at all times of the item's motion."""
    moves = item.moves(robot)
    solver = Solver(robot, SolverOptions(**item.solver_options))
    path = [robot.q]
    for time in times:
        poses = moves(time, lambda link: robot.forward(path[-1], link))
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
