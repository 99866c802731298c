"""The outcome of a request for inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.ros.moveit.ik_code import IkCode
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class IkAnswer:
    """
    A configuration, or the reason why there is none.

    Attributes
    ----------
    code : IkCode
    message : str
    q : ndarray, shape (nq,), or None
        [rad, m]; None unless the code is SUCCESS.

    """

    code: IkCode
    message: str
    q: NDArray[np.float64] | None = None
