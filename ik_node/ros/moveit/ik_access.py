"""What the service solve_ik needs of the node."""

from __future__ import annotations

from typing import Protocol

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray


class IkAccess(Protocol):
    """The node as it is at the moment of a request; read in the executor's thread only."""

    @property
    def model(self) -> LoadedModel | None:
        """Return the model that ticks; None before the first."""

    @property
    def q(self) -> NDArray[np.float64]:
        """Return the present configuration of that model, (nq,), [rad, m]."""

    @property
    def settings(self) -> Settings:
        """Return the parameters of this moment."""

    def pose_of(self, target: str, source: str) -> NDArray[np.float64]:
        """Return the pose of a frame that is not the robot's, 4x4; raises LookupError."""
