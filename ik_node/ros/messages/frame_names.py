"""Names of frames in messages, and the frame of a goal message in the root frame."""

from __future__ import annotations

from collections.abc import Callable, Container

from ik_node.description.description import WORLD
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import Robot
from ik_node.ros.messages.convert import Pose, pose_from_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The first that is no link of the robot's.
_WORLD = (WORLD, 'map', 'odom', 'ik_node_world')


def root_frame(robot: Robot) -> str:
    """Return the frame that poses count in: the root link, or the world that it is in."""
    root = robot.description.root
    if isinstance(root, Link) and _at_origin(root):
        return root.name
    if any(each.name == WORLD for each in robot.description.roots):
        # That link is the world, and stands still.
        return WORLD
    return next((name for name in _WORLD if name not in robot.links), root.name)


def base_poses(robot: Robot, q: NDArray[np.float64]) -> dict[str, Pose]:
    """
    Return where the bases are that float, or stand elsewhere than at the origin.

    Parameters
    ----------
    robot : Robot
        With a floating root, or without.
    q : ndarray, shape (nq,)
        [rad or m]

    Returns
    -------
    dict of str to (position, quat_xyzw)
        Link to its pose in `root_frame`; empty for a robot that is fixed at the origin.

    """
    poses = {}
    for root in robot.description.roots:
        link = root.child if isinstance(root, Joint) else root
        if isinstance(link, Link) and (link is not root or not _at_origin(link)):
            poses[link.name] = pose_from_matrix(robot.forward(q, link.name))
    return poses


def _at_origin(root: Link) -> bool:
    """Say whether a root link's frame is the root frame; SDFormat can have it elsewhere."""
    return bool(np.allclose(root.matrix, np.eye(4), atol=1e-12))


def prefix_of(frame_prefix: str, base_frame: str, links: Container[str]) -> str:
    """
    Return what stands before the names of a robot's links in messages and on /tf.

    Parameters
    ----------
    frame_prefix : str
        The parameter, as robot_state_publisher's.
    base_frame : str
        The parameter; without a `frame_prefix` one such as left/base_link, whose last part is a
        link of the robot, says the prefix as well.
    links : container of str
        Names of the robot's links.

    """
    if frame_prefix:
        return frame_prefix.lstrip('/')
    before, slash, link = base_frame.lstrip('/').rpartition('/')
    return before + slash if link in links and before + slash + link not in links else ''


def own_name(frame_id: str, prefix: str, links: Container[str]) -> str:
    """Return the name of a link for its frame; any other frame's as it is, without leading /."""
    name = frame_id.lstrip('/')
    own = name.removeprefix(prefix)
    return own if own in links else name


def frame_name(name: str, prefix: str, links: Container[str]) -> str:
    """Return the frame of a link; any other name as it is."""
    return prefix + name if name in links else name


def frame_in_root(
    frame_id: str,
    base_frame: str,
    robot: Robot,
    q: Array,
    lookup: Callable[[str, str], Array],
    frame_prefix: str = '',
) -> Array | None:
    """
    Return the pose of a goal's frame, 4x4.

    Parameters
    ----------
    frame_id : str
        Of the message; '' stands for `base_frame`, and that one's '' for the root frame.
    base_frame : str
        The parameter.
    robot : Robot
        Knows its own links.
    q : ndarray, shape (nq,)
        Where the robot's links are at present.
    lookup : callable
        (target, source) -> pose of a frame that is not the robot's; raises LookupError.
    frame_prefix : str
        The parameter; links are known by their plain names as well.

    Returns
    -------
    ndarray or None
        None when it is the root frame itself.

    Raises
    ------
    LookupError
        If nobody knows the frame.

    """
    prefix = prefix_of(frame_prefix, base_frame, robot.links)
    name = own_name(frame_id or base_frame, prefix, robot.links)
    root = root_frame(robot)
    if name in ('', root):
        return None
    if name in robot.links:
        pose: Array = robot.forward(q, name)
        return pose
    return lookup(frame_name(root, prefix, robot.links), name)
