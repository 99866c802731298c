"""Wishes for joints, met as far as loops and goals leave room."""

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


class JointTargets:
    """
    The last wish for each joint value [rad or m]; kept when the model is replaced.

    A parameter may wish as well as messages: for each joint the last one counts.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._received: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """Take the wishes of the parameter, instead of those it had before."""
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._received = {n: v for n, v in self._received.items() if n not in values}

    def update(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take the wishes of a message; the others stay."""
        self._received.update(zip(names, positions, strict=True))

    def apply(self, robot: Robot) -> None:
        """Tell them to the joints of a robot; names that it does not have are left aside."""
        values = {**self._configured, **self._received}
        apply_joint_values(robot, values, 'target_set', Joint.set_target_value)

    def clear(self, robot: Robot) -> None:
        """Forget those of messages."""
        self._received.clear()
        self.apply(robot)
