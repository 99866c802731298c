"""Where redundant joints drift to."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.inputs.joint_wishes import tell_wishes


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
        tell_wishes(robot, self._values, 'rest_pose_set', Joint.set_rest_pose_value)
