"""Telling a robot's joints where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import Robot


def tell_wishes(
    robot: Robot,
    values: Mapping[str, float],
    flag: Literal['target_set', 'rest_pose_set'],
    tell: Callable[[Joint, DOF, float], object],
) -> None:
    """
    Have these wishes, and no others of their kind; names that the robot does not have are left.

    Parameters
    ----------
    robot : Robot
        Whose joints are told.
    values : mapping of str to float
        Name of a value to where it is wanted [rad or m].
    flag : str
        Attribute of a joint that says whether it has a wish of this kind.
    tell : callable
        Takes a joint, one of its axes and the value wanted of it; raises the flag.

    """
    for joint in robot.joint_order:
        setattr(joint, flag, False)
        if any(name in values for name in joint.value_names):
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                # A joint is drawn to all of its values or to none.
                tell(joint, dof, values.get(name, joint.dof_values[dof]))
        # The flag is a plain attribute: solvers are told by the counter.
        joint.revision.count_setting()
