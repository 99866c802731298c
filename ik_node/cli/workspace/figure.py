"""The robot of a reach map, seen along the normal of the plane."""

from __future__ import annotations

from ik_node.cli.workspace.slice import Slice
from ik_node.model.closure import Closure
from ik_node.model.joint import Joint
from ik_node.model.tree import build_tree
from ik_node.robot import Robot
from ik_node.scene.skeleton import Skeleton
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FlatRobot:
    """
    Rods and joints on a plane, the robot as it is.

    Parameters
    ----------
    robot : Robot
    link : str
    points : Slice

    Attributes
    ----------
    rods, slides : ndarray, shape (n, 2, 2)
        Ends of what is rigid, and of what leads to a slide without a motor, which is often but a
        way to write that a platform moves freely [m].
    joints : ndarray, shape (n, 2)
        Where joints turn and loops close [m].
    home : ndarray, shape (2,)
        Where the link is [m].

    """

    def __init__(self, robot: Robot, link: str, points: Slice) -> None:
        skeleton = Skeleton(build_tree(robot.roots, robot.joint_order))
        kinds: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        joints = [
            skeleton.place_before(at)
            for at, column in enumerate(skeleton.tree.columns)
            if column.dof.is_rotation
        ]
        for owner, frame, end in skeleton.spans():
            column, pose = skeleton.seat(owner)
            there = pose.copy()
            there[:3, 3] += pose[:3, :3] @ end
            ends = skeleton.place(column, pose), skeleton.place(column, there)
            kinds[_slides(frame, robot.actuated)].append(ends)
            if isinstance(frame, Closure):
                joints.append(ends[1])
        placed = points.flatten(skeleton.at(robot.q).frames[:, :3, 3])
        self.rods, self.slides = (
            placed[np.array(kinds[slide], dtype=np.int64).reshape(-1, 2)]
            for slide in (False, True)
        )
        self.joints: Array = placed[joints]
        self.home: Array = points.flatten(robot.forward(robot.q, link)[:3, 3])

    def view(self, extent: tuple[float, ...], most: float) -> tuple[float, float, float, float]:
        """
        Return an extent [m] that has the robot in it, too, as far as that is sensible.

        Parameters
        ----------
        extent : (float, float, float, float)
            That of the grid [m].
        most : float
            How many times as long its longer side may become.

        """
        left, right, low, high = extent
        size = max(right - left, high - low)
        ends = np.vstack((self.rods.reshape(-1, 2), self.joints, self.home))
        least, largest = ends.min(axis=0) - 0.05 * size, ends.max(axis=0) + 0.05 * size
        wide = (
            *(min(left, float(least[0])), max(right, float(largest[0]))),
            *(min(low, float(least[1])), max(high, float(largest[1]))),
        )
        fits = max(wide[1] - wide[0], wide[3] - wide[2]) <= most * size
        return wide if fits else (left, right, low, high)


def _slides(frame: object, motors: list[str]) -> bool:
    """Return whether a frame is a joint that slides and has no motor, where some have."""
    if not isinstance(frame, Joint):
        return False
    passive = bool(motors) and frame.name not in motors
    return passive and any(not dof.is_rotation for dof in frame.dof)
