"""The axis of a loop's joint where none is written, as Isaac Sim's exporter leaves it out."""

from __future__ import annotations

from itertools import islice

from ik_node.description.description import Description
from ik_node.description.loop import LoopFrame
from ik_node.description.tree import joints_above
from ik_node.model.dof import DOF
from ik_node.model.rotation import pose_matrix, quat_to_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PARALLEL = 1e-6
MOST_JOINTS = 200  # as far as this is looked up a chain


def guess_axis(
    description: Description, poses: dict[str, Array], frames: list[LoopFrame], slides: bool
) -> tuple[int, str | None]:
    """
    Return which of the x, y, z of a loop's frames the joints of the loop speak for.

    It is the z, unless with all joints at 0 another one lies along a joint between the two links
    and the z does not.

    Parameters
    ----------
    description : Description
        Its tree hangs.
    poses : dict of str to ndarray, shape (4, 4)
        Of the links, with all joints at 0.
    frames : list of LoopFrame
        The two of the loop.
    slides : bool
        Whether the axis is that of a slide: then joints that slide are looked at.

    Returns
    -------
    axis : int
        0, 1 or 2.
    joint : str or None
        A joint along it; None = there is none, z is a guess.

    """
    if any(frame.link not in poses for frame in frames):
        return 2, None
    turn = poses[frames[0].link][:3, :3] @ quat_to_matrix(frames[0].quat_xyzw)
    ways = [
        list(islice(joints_above(description.links[frame.link]), MOST_JOINTS)) for frame in frames
    ]
    shared = {id(joint) for joint in ways[0]} & {id(joint) for joint in ways[1]}
    for axis in (2, 0, 1):
        for joint in ways[0] + ways[1]:
            if id(joint) in shared or len(joint.dof) != 1 or (joint.dof[0] < DOF.EX) != slides:
                continue
            if joint.parent is None:
                continue
            base = poses[joint.parent.name] @ pose_matrix(joint.position, joint.quaternion)
            along = base[:3, joint.dof[0] % 3] @ turn[:, axis]
            if abs(along) > 1.0 - PARALLEL:
                return axis, joint.name
    return 2, None
