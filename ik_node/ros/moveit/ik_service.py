"""The service ~/solve_ik: inverse kinematics for MoveIt's service plugin, and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import time
from typing import Any, Protocol

from ik_node.ros.control.motion import Motion
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Refusals
from ik_node.ros.moveit.ik_copy import IkCopy
from ik_node.ros.moveit.ik_seed import IkAnswer, IkCode, IkRequest, RefusedIkError
from ik_node.ros.moveit.solve_ik import fill_response, read_request
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process.background_work import BackgroundWork
import numpy as np
from numpy.typing import NDArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node


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
    """The `IkAccess` of a running node."""

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


SERVICE = '~/solve_ik'


def add_ik_service(node: Node, access: IkAccess) -> IkService | None:
    """Create ~/solve_ik if moveit_msgs is installed; otherwise log once what is missing."""
    try:
        from moveit_msgs.srv import GetPositionIK
    except ImportError:
        node.get_logger().info(
            f'no service {SERVICE}: moveit_msgs is not installed; with it MoveIt can '
            f'request inverse kinematics from this node, through its srv_kinematics_plugin'
        )
        return None
    return IkService(node, access, GetPositionIK)


class IkService:
    """
    The service ~/solve_ik, moveit_msgs/GetPositionIK.

    A request is read in the executor, solved in a thread on a copy of the robot, and answered in
    the executor, which runs other callbacks meanwhile. Requests are answered one after the other,
    because the service has its own callback group.
    """

    def __init__(self, node: Node, access: IkAccess, service_type: Any) -> None:
        self._node = node
        self._access = access
        self._refusals = Refusals()
        self._ik_copy: IkCopy | None = None
        self._work = BackgroundWork(node)
        self._service = node.create_service(
            service_type,
            SERVICE,
            self._on_request,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    def close(self) -> None:
        """Remove the service."""
        self._node.destroy_service(self._service)
        self._work.close()

    async def _on_request(self, request: Any, response: Any) -> Any:
        model = self._access.model
        ik_request: IkRequest | None = None
        try:
            if model is None:
                raise RefusedIkError(IkCode.FAILURE, 'the node has no robot yet')
            access = self._access
            ik_request = read_request(
                request.ik_request, model, access.q, access.settings, access.pose_of
            )
            answer = await self._work.run(partial(self._solve, ik_request, model))
        except RefusedIkError as error:
            answer = IkAnswer(error.code, str(error))
        except Exception as error:  # noqa: BLE001
            # A defect of this package must neither leave the client without answer nor end the
            # node.
            what = f'internal error, please report: {type(error).__name__}: {error}'
            answer = IkAnswer(IkCode.FAILURE, what)
        self._log(answer)
        fill_response(response, answer, ik_request, model, self._node.get_name())
        return response

    def _solve(self, ik_request: IkRequest, model: LoadedModel) -> IkAnswer:
        ik_copy = self._ik_copy
        if ik_copy is None or ik_copy.model is not model:
            ik_copy = self._ik_copy = IkCopy(model)
        return ik_copy.answer(ik_request)

    def _log(self, answer: IkAnswer) -> None:
        """Log a request that could not be processed; an unreachable pose is not logged."""
        if answer.code in (IkCode.SUCCESS, IkCode.NO_IK_SOLUTION, IkCode.TIMED_OUT):
            return
        kind = f'{SERVICE}: {answer.code.name}'
        if self._refusals.add(kind, answer.message, time.monotonic()):
            self._node.get_logger().warning(f'{kind}: {answer.message}')
