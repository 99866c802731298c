"""Wishes for joints, met as far as loops and goals leave room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_node.model.revision import Revision
from ik_node.robot import Robot


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
        for joint in robot.joint_order:
            joint.target_set = False
            if any(name in values for name in joint.value_names):
                for name, dof in zip(joint.value_names, joint.dof, strict=True):
                    # A joint is drawn to all of its values or to none.
                    joint.set_target_value(dof, values.get(name, joint.dof_values[dof]))
        # The flag is a plain attribute: solvers are told by the counter.
        Revision.settings += 1

    def clear(self, robot: Robot) -> None:
        """Forget those of messages."""
        self._asked.clear()
        self.apply(robot)
