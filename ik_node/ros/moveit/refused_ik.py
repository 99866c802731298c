"""The exception for a request for inverse kinematics that cannot be worked on."""

from __future__ import annotations

from ik_node.errors import IkError
from ik_node.ros.moveit.ik_code import IkCode


class RefusedIkError(IkError):
    """
    A request is answered with an error code, without a solve.

    Attributes
    ----------
    code : IkCode

    """

    def __init__(self, code: IkCode, message: str) -> None:
        self.code = code
        super().__init__(message)
