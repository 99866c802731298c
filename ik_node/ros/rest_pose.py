"""Where redundant joints drift to."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.model.revision import Revision
from ik_node.robot import Robot


class RestPose:
    """
    The rest pose [rad or m], of the parameter or saved, whichever came last; none at first.

    Kept when the model is replaced by one with the same joints.
    """

    def __init__(self) -> None:
        self._configured: dict[str, float] = {}
        self._values: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """Take the parameter's when it has changed; it replaces a saved one."""
        if dict(values) != self._configured:
            self._configured = dict(values)
            self._values = self._configured

    def save(self, values: Mapping[str, float]) -> None:
        """Take a configuration; it replaces the parameter's."""
        self._values = dict(values)

    def forget(self) -> None:
        """Go back from a saved one to the parameter's: the robot is another one."""
        self._values = self._configured

    def apply(self, robot: Robot) -> None:
        """Tell it to the joints of a robot; names that it does not have are left aside."""
        values = self._values
        for joint in robot.joint_order:
            joint.rest_pose_set = False
            if any(name in values for name in joint.value_names):
                for name, dof in zip(joint.value_names, joint.dof, strict=True):
                    # A joint is drawn to all of its values or to none.
                    joint.set_rest_pose_value(dof, values.get(name, joint.dof_values[dof]))
        # The flag is a plain attribute: solvers are told by the counter.
        Revision.settings += 1
