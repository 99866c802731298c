"""The node as the service ~/solve_ik sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ik_node.ros.control.motion import Motion
from ik_node.ros.inputs.transform_lookup import TransformLookup
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


class NodeAccess:
    """
    An `IkAccess`: model, configuration and parameters of the moment.

    Parameters
    ----------
    motion : Motion
    settings : callable
        Returns the present parameters.
    lookup : TransformLookup
        Where goals find frames that are not the robot's.

    """

    def __init__(
        self, motion: Motion, settings: Callable[[], Settings], lookup: TransformLookup
    ) -> None:
        self._motion = motion
        self._settings = settings
        self._lookup = lookup

    @property
    def model(self) -> LoadedModel | None:
        """Return the model that ticks; None before the first."""
        return self._motion.model

    @property
    def q(self) -> NDArray[np.float64]:
        """Return the present configuration of that model, (nq,), [rad, m]."""
        tracker = self._motion.tracker
        return np.zeros(0) if tracker is None else tracker.q

    @property
    def settings(self) -> Settings:
        """Return the parameters of this moment."""
        return self._settings()

    def pose_of(self, target: str, source: str) -> NDArray[np.float64]:
        """Return the pose of a frame in another one, see `TransformLookup.pose`."""
        return self._lookup.pose(target, source)
