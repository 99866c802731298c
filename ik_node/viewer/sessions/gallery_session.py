"""Our own robots on the page."""

from __future__ import annotations

import dataclasses

from ik_node.gallery import gallery_item
from ik_node.gallery.description_path import description_path
from ik_node.robot import load_robot
from ik_node.viewer.sessions.library_session import LibrarySession, OPTIONS
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
        for joint, value in (item.wishes(time) if item.wishes else {}).items():
            robot.joints[joint].set_target_values(value)
            robot.joints[joint].target_set = True
        return item.poses(time, homes, lambda link: robot.forward(robot.q, link))

    options = dataclasses.replace(OPTIONS, **item.solver_options)
    return LibrarySession(robot, motion, options)
