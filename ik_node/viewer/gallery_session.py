"""Our own robots on the page."""

from __future__ import annotations

from ik_node.gallery import gallery_item
from ik_node.gallery.description_path import description_path
from ik_node.model.rotation import pose_matrix
from ik_node.robot import load_robot
from ik_node.viewer.library_session import LibrarySession
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gallery_session(name: str) -> LibrarySession:
    """
    Return a session of a robot of the gallery, with its goals and its motion.

    Raises
    ------
    UnknownFrameError
        If there is none of that name.

    """
    item = gallery_item(name)
    robot = load_robot(description_path(item.description))
    for goal, link in item.goals.items():
        robot.add_goal(link, name=goal, dof=item.dof.get(goal))
    homes = {goal: robot.forward(robot.q, link) for goal, link in item.goals.items()}

    def motion(time: float) -> dict[str, Array]:
        poses = {}
        for goal, pose in item.motion(time).items():
            step, home = pose_matrix(*pose), homes[goal]
            wanted = home.copy()
            wanted[:3, :3] = home[:3, :3] @ step[:3, :3]
            wanted[:3, 3] += step[:3, 3]
            poses[goal] = wanted
        return poses

    return LibrarySession(robot, motion)
