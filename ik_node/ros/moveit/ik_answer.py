"""Result of a request for inverse kinematics, and its error codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ik_node.errors import IkError
import numpy as np
from numpy.typing import NDArray


class RefusedIkError(IkError):
    """
    A request that is answered with an error code and without a solve.

    Attributes
    ----------
    code : IkCode
        The error code of the answer.

    """

    def __init__(self, code: IkCode, message: str) -> None:
        self.code = code
        super().__init__(message)


class IkCode(IntEnum):
    """The values of moveit_msgs/MoveItErrorCodes that this node returns."""

    SUCCESS = 1
    TIMED_OUT = -6
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    FRAME_TRANSFORM_FAILURE = -21
    NO_IK_SOLUTION = -31
    FAILURE = 99999


@dataclass(frozen=True)
class IkAnswer:
    """
    A configuration, or the reason why there is none.

    Attributes
    ----------
    code : IkCode
        Result code.
    message : str
        Description of the result.
    q : ndarray, shape (nq,), or None
        Configuration [rad or m]; None unless the code is SUCCESS.

    """

    code: IkCode
    message: str
    q: NDArray[np.float64] | None = None
