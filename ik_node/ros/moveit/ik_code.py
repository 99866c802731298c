"""What MoveIt calls the outcome of a request for inverse kinematics."""

from __future__ import annotations

from enum import IntEnum


class IkCode(IntEnum):
    """The values of moveit_msgs/MoveItErrorCodes that this node answers with."""

    SUCCESS = 1
    TIMED_OUT = -6
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    FRAME_TRANSFORM_FAILURE = -21
    NO_IK_SOLUTION = -31
    FAILURE = 99999
