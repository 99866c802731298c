"""Wishes for joints, met as far as loops and goals leave room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.inputs.joint_wishes import tell_wishes


class JointTargets:
    """
    The last wish for each joint value [rad or m]; kept when the model is replaced.

    A parameter may wish as well as messages: for each joint the last one counts.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._asked: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """Take the wishes of the parameter, instead of those it had before."""
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._asked = {n: v for n, v in self._asked.items() if n not in values}

    def update(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take the wishes of a message; the others stay."""
        self._asked.update(zip(names, positions, strict=True))

    def apply(self, robot: Robot) -> None:
        """Tell them to the joints of a robot; names that it does not have are left aside."""
        values = {**self._configured, **self._asked}
        tell_wishes(robot, values, 'target_set', Joint.set_target_value)

    def clear(self, robot: Robot) -> None:
        """Forget those of messages."""
        self._asked.clear()
        self.apply(robot)
