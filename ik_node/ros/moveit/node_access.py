"""Access of the service ~/solve_ik to the node's state."""

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
    """The state of the node at the time of a request; read in the executor's thread only."""

    @property
    def model(self) -> LoadedModel | None:
        """Return the present model; None before the first one."""

    @property
    def q(self) -> NDArray[np.float64]:
        """Return the present configuration, (nq,) [rad or m]."""

    @property
    def settings(self) -> Settings:
        """Return the present parameters."""

    def pose_of(self, target: str, source: str) -> NDArray[np.float64]:
        """Return the pose (4, 4) of a frame outside the robot; raise LookupError if unknown."""


class NodeAccess:
    """
    The `IkAccess` of a running node.

    Parameters
    ----------
    motion : Motion
        Holds the model and its configuration.
    settings : callable
        Returns the present parameters.
    lookup : TransformLookup
        Source of frames that do not belong to the robot.

    """

    def __init__(
        self, motion: Motion, settings: Callable[[], Settings], lookup: TransformLookup
    ) -> None:
        self._motion = motion
        self._settings = settings
        self._lookup = lookup

    @property
    def model(self) -> LoadedModel | None:
        """Return the present model; None before the first one."""
        return self._motion.model

    @property
    def q(self) -> NDArray[np.float64]:
        """Return the present configuration, (nq,) [rad or m]."""
        tracker = self._motion.tracker
        return np.zeros(0) if tracker is None else tracker.q

    @property
    def settings(self) -> Settings:
        """Return the present parameters."""
        return self._settings()

    def pose_of(self, target: str, source: str) -> NDArray[np.float64]:
        """Return the pose of a frame in another one, as `TransformLookup.pose` does."""
        return self._lookup.pose(target, source)
