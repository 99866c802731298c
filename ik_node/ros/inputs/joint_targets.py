"""Joint targets: values that joints are drawn to, as far as loops and goals allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import Robot


def apply_joint_values(
    robot: Robot,
    values: Mapping[str, float],
    flag: Literal['target_set', 'rest_pose_set'],
    set_value: Callable[[Joint, DOF, float], object],
) -> None:
    """
    Set joint targets or the rest pose of a robot, and remove all others of the same kind.

    Names that the robot does not have are ignored. If `values` names some of the values of a
    joint, its other values get their present value as target.

    Parameters
    ----------
    robot : Robot
        The robot whose joints are changed.
    values : mapping of str to float
        Name of a joint value to its target [rad or m].
    flag : str
        Attribute of a joint that is True if the joint has a target of this kind.
    set_value : callable
        Sets the target of one axis: (joint, axis, value); also sets the flag.

    """
    for joint in robot.joint_order:
        setattr(joint, flag, False)
        if any(name in values for name in joint.value_names):
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                # A joint has targets for all of its values or for none.
                set_value(joint, dof, values.get(name, joint.dof_values[dof]))


class JointTargets:
    """
    The last target of each joint value [rad or m]; kept when the model is replaced.

    Targets come from a parameter and from messages; for each joint the last one counts.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._received: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """
        Replace the targets of the parameter.

        If they changed, they also replace the received targets of the same joint values.
        """
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._received = {n: v for n, v in self._received.items() if n not in values}

    def update(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Use the targets of a message; the others stay."""
        self._received.update(zip(names, positions, strict=True))

    def apply(self, robot: Robot) -> None:
        """Set them on the joints of a robot; names that the robot does not have are ignored."""
        values = {**self._configured, **self._received}
        apply_joint_values(robot, values, 'target_set', Joint.set_target_value)

    def clear(self, robot: Robot) -> None:
        """Forget the targets that came in messages."""
        self._received.clear()
        self.apply(robot)
