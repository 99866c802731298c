"""Wishes for joints, met as far as loops and goals leave room."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.model.revision import Revision
from ik_node.robot import Robot


class JointTargets:
    """The last wish for each joint value [rad or m]; kept when the model is replaced."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}

    def update(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take the wishes of a message; the others stay."""
        self._values.update(zip(names, positions, strict=True))

    def apply(self, robot: Robot) -> None:
        """Tell them to the joints of a robot; names that it does not have are left aside."""
        for joint in robot.joint_order:
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                if name in self._values:
                    joint.set_target_value(dof, self._values[name])

    def clear(self, robot: Robot) -> None:
        """Forget all of them."""
        self._values.clear()
        for joint in robot.joint_order:
            joint.target_set = False
        # The flag is a plain attribute: solvers are told by the counter.
        Revision.settings += 1
