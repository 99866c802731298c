"""What the parameters say about joints, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ik_node.ros.parameters.joint_values import parse_joint_values


@dataclass(frozen=True)
class JointSettings:
    """
    Checked in themselves; whether a robot has these joints is for `JointRoles` to say.

    Attributes
    ----------
    locked : tuple of str
        Held where they are.
    actuated : tuple of str
        Joints with a motor; empty = as the description says.
    outputs : tuple of str
        Order of the hardware outputs; empty = the actuated joints.
    rest_pose, targets : mapping of str to float
        [rad or m]

    """

    locked: tuple[str, ...] = ()
    actuated: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    rest_pose: Mapping[str, float] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> JointSettings:
        """
        Read the parameters about joints out of checked values.

        Raises
        ------
        OptionError
            If a mapping of joints to values cannot be read.

        """
        return cls(
            locked=_names(values['locked_joints']),
            actuated=_names(values['actuated_joints']),
            outputs=_names(values['output.joints']),
            rest_pose=parse_joint_values('rest_pose', values['rest_pose']),
            targets=parse_joint_values('joint_targets', values['joint_targets']),
        )


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name)
