"""Which links a request for inverse kinematics is about."""

from __future__ import annotations

from typing import Any

from ik_node.errors import listed, shown
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.moveit.ik_code import IkCode
from ik_node.ros.moveit.refused_ik import RefusedIkError


def read_tips(request: Any, model: LoadedModel) -> dict[str, Any]:
    """
    Return the pose asked for each link.

    Parameters
    ----------
    request : moveit_msgs/PositionIKRequest
        `pose_stamped_vector` goes before `pose_stamped`, and `ik_link_names` before
        `ik_link_name`.
    model : LoadedModel
        A request for one pose that names no link is about the link of the node's goals, when
        these have but one.

    Returns
    -------
    dict of str to geometry_msgs/PoseStamped

    Raises
    ------
    RefusedIkError
        If there are not as many links as poses, a link comes twice, or the robot has it not.

    """
    poses = list(request.pose_stamped_vector) or [request.pose_stamped]
    links = list(request.ik_link_names)
    if not links and len(poses) == 1:
        links = [request.ik_link_name or _only_goal_link(model)]
    if len(links) != len(poses):
        raise RefusedIkError(
            IkCode.INVALID_LINK_NAME,
            f'ik_link_names: {len(links)} links for {len(poses)} poses; each pose needs its own',
        )
    tips = dict(zip(links, poses, strict=True))
    if len(tips) != len(links):
        twice = next(link for link in links if links.count(link) > 1)
        raise RefusedIkError(
            IkCode.INVALID_LINK_NAME,
            f'ik_link_names: {shown(twice)} comes twice; a link can be in one place only',
        )
    known = model.robot.links
    for link in tips:
        if link not in known:
            names = listed(known)
            raise RefusedIkError(
                IkCode.INVALID_LINK_NAME,
                f'robot {shown(model.robot.name)} has no link {shown(link)}; it has {names}',
            )
    return tips


def _only_goal_link(model: LoadedModel) -> str:
    links = {goal.link for goal in model.request.goals if goal.link}
    if len(links) == 1:
        return links.pop()
    found = f'goals for {listed(sorted(links))}' if links else 'no goal'
    raise RefusedIkError(
        IkCode.INVALID_LINK_NAME,
        f'ik_link_name is empty and the node has {found}: say which link is meant',
    )
