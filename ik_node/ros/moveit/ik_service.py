"""The service ~/solve_ik: inverse kinematics for MoveIt's service plugin, and others."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from functools import partial
import threading
import time
from typing import Any, TypeVar

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.refusals import Refusals
from ik_node.ros.moveit.ik_answer import IkAnswer, IkCode, RefusedIkError
from ik_node.ros.moveit.ik_copy import IkCopy
from ik_node.ros.moveit.ik_seed import IkRequest
from ik_node.ros.moveit.node_access import IkAccess
from ik_node.ros.moveit.solve_ik import fill_response, read_request
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.task import Future

T = TypeVar('T')


class BackgroundWork:
    """
    Let a coroutine callback wait for a thread, also where the executor has only one of its own.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # An executor that sleeps sees that a future is done when something wakes it.
        self._wake_condition = node.create_guard_condition(_do_nothing, ReentrantCallbackGroup())

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, or raise what it raises."""
        future: Any = Future()

        def attempt() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001
                future.set_exception(error)  # raised again where it is waited for
            else:
                future.set_result(result)
            with contextlib.suppress(InvalidHandle):  # the node is gone, nobody waits
                self._wake_condition.trigger()

        threading.Thread(target=attempt, name='background work', daemon=True).start()
        result: T = await future
        return result

    def close(self) -> None:
        """Take the bell away; work under way is not waited for any more."""
        self._node.destroy_guard_condition(self._wake_condition)


def _do_nothing() -> None:
    """Answer the bell: to be awake is all."""


SERVICE = '~/solve_ik'


def add_ik_service(node: Node, access: IkAccess) -> IkService | None:
    """
    Offer ~/solve_ik where moveit_msgs is installed; else say once what is missing.

    Parameters
    ----------
    node : rclpy.node.Node
        Offers the service.
    access : IkAccess
        The node's model, configuration and parameters.

    """
    try:
        from moveit_msgs.srv import GetPositionIK
    except ImportError:
        node.get_logger().info(
            f'no service {SERVICE}: moveit_msgs is not installed; with it MoveIt, through its '
            f'srv_kinematics_plugin, could ask this node for inverse kinematics'
        )
        return None
    return IkService(node, access, GetPositionIK)


class IkService:
    """
    Answer moveit_msgs/GetPositionIK.

    A request is read in the executor, solved in a thread on a robot of its own, and answered in
    the executor again, which does other things meanwhile. Requests are answered one after the
    other: the callback group is the service's own.

    Parameters
    ----------
    node : rclpy.node.Node
    access : IkAccess
    service_type : type
        moveit_msgs.srv.GetPositionIK.

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
        """Take the service away."""
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
            # A client waits, and the node ticks on: a defect of ours must not end either.
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
        """Tell of requests that could not be worked on; that a pose is out of reach is no news."""
        if answer.code in (IkCode.SUCCESS, IkCode.NO_IK_SOLUTION, IkCode.TIMED_OUT):
            return
        kind = f'{SERVICE}: {answer.code.name}'
        if self._refusals.add(kind, answer.message, time.monotonic()):
            self._node.get_logger().warning(f'{kind}: {answer.message}')
