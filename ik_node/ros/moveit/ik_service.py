"""The service ~/solve_ik: inverse kinematics for MoveIt's service plugin, and others."""

from __future__ import annotations

from functools import partial
import time
from typing import Any

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.refusals import Refusals
from ik_node.ros.moveit.ik_answer import IkAnswer, IkCode, RefusedIkError
from ik_node.ros.moveit.ik_copy import IkCopy
from ik_node.ros.moveit.ik_seed import IkRequest
from ik_node.ros.moveit.node_access import IkAccess
from ik_node.ros.moveit.solve_ik import fill_response, read_request
from ik_node.ros.process.background_work import BackgroundWork
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

SERVICE = '~/solve_ik'


def add_ik_service(node: Node, access: IkAccess) -> IkService | None:
    """
    Create ~/solve_ik if moveit_msgs is installed; otherwise log once what is missing.

    Parameters
    ----------
    node : rclpy.node.Node
        The node that offers the service.
    access : IkAccess
        The node's model, configuration and parameters.

    """
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

    Parameters
    ----------
    node : rclpy.node.Node
        The node that offers the service.
    access : IkAccess
        The node's model, configuration and parameters.
    service_type : type
        The class moveit_msgs.srv.GetPositionIK.

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
