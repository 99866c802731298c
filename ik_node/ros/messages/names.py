"""Names of topics, parameters and frames."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
import re

from ik_node.description.description import WORLD
from ik_node.errors import OptionError
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import Array, pose_from_matrix
from ik_node.robot import Robot
from ik_node.ros.messages.convert import Pose
import numpy as np

_OUTSIDE = re.compile(r'[^A-Za-z0-9_]')


def topic_part(name: str) -> str:
    """
    Return a name as one part of a topic name.

    Characters outside [A-Za-z0-9_] become `_`; a leading digit gets an `n` before it.
    """
    part = _OUTSIDE.sub('_', name)
    return f'n{part}' if part[:1].isdigit() else part


def topic_parts(names: Iterable[str], kind: str) -> dict[str, str]:
    """Map each name to its part of a topic name; raise OptionError if two have the same."""
    owners: dict[str, str] = {}
    for name in names:
        part = topic_part(name)
        if part in owners:
            other = owners[part]
            raise OptionError(
                f'{kind} names',
                [other, name],
                f'names that give different topic names; both become {part!r}',
            )
        owners[part] = name
    return {name: part for part, name in owners.items()}


def check_parameter_part(parameter: str, name: str) -> str:
    """Return a name; raise OptionError if a parameter's name cannot have it as a part."""
    if any(character in './' or character.isspace() for character in name):
        raise OptionError(parameter, name, 'names without dots, slashes and spaces')
    return name


# Candidates for the name of the world frame; the first that is not a link is used.
_WORLD = (WORLD, 'map', 'odom', 'ik_node_world')


def root_frame(robot: Robot) -> str:
    """Return the name of the root frame: the root link, or the world if the root moves."""
    root = robot.description.root
    if isinstance(root, Link) and _at_origin(root):
        return root.name
    if any(each.name == WORLD for each in robot.description.roots):
        # The description has a link that represents the world.
        return WORLD
    return next((name for name in _WORLD if name not in robot.links), root.name)


def base_poses(robot: Robot, q: Array) -> dict[str, Pose]:
    """Return the poses in `root_frame` of bases that float or are not at the origin."""
    poses = {}
    for root in robot.description.roots:
        link = root.child if isinstance(root, Joint) else root
        if isinstance(link, Link) and (link is not root or not _at_origin(link)):
            poses[link.name] = pose_from_matrix(robot.forward(q, link.name))
    return poses


def _at_origin(root: Link) -> bool:
    """Return True if a root link is at the root frame; in SDFormat it may be elsewhere."""
    return bool(np.allclose(root.matrix, np.eye(4), atol=1e-12))


def prefix_of(frame_prefix: str, base_frame: str, links: Container[str]) -> str:
    """
    Return the prefix of a robot's link names in messages and on /tf.

    `frame_prefix`: parameter `frame_prefix`, as of robot_state_publisher. `base_frame`: parameter
    `base_frame`. Without a `frame_prefix`, a base frame such as left/base_link, whose last part is
    a link of the robot, defines the prefix.
    """
    if frame_prefix:
        return frame_prefix
    before, slash, link = base_frame.lstrip('/').rpartition('/')
    return before + slash if link in links and before + slash + link not in links else ''


def own_name(frame_id: str, prefix: str, links: Container[str]) -> str:
    """Return the link name of a frame; any other frame name without a leading slash."""
    name = frame_id.lstrip('/')
    own = name.removeprefix(prefix)
    return own if own in links else name


def frame_name(name: str, prefix: str, links: Container[str]) -> str:
    """Return the frame name of a link; any other name unchanged."""
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
    Return the pose (4, 4) of a goal message's frame in the root frame.

    `frame_id`: frame of the message. '' stands for `base_frame`; if that is '' too, for the root
    frame. `robot`: the robot, whose links are known frames. `lookup` looks up other frames:
    (target, source) -> pose (4, 4); raises LookupError. `frame_prefix`: parameter `frame_prefix`;
    links are also known by their names without it. Return None if the frame is the root frame.
    Raise LookupError if the frame is unknown.
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
