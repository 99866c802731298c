"""Services that pause, reset and switch goals and closures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ik_node.errors import MOST_TEXT, plain
from ik_node.ros.control.motion import Motion
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process import NamedEntities
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger


class Services:
    """The services of the node, except ~/solve_ik; refusals are answered with the reason."""

    def __init__(self, node: Node, motion: Motion, settings: Callable[[], Settings]) -> None:
        self._node = node
        self._motion = motion
        self._settings = settings
        # One service `~/goals/<name>/enable` or `~/closures/<name>/enable` for each name.
        self.goals = self._switches('goal', self._on_goal)
        self.closures = self._switches('closure', self._on_closure)
        node.create_service(SetBool, '~/enable', self._on_enable)
        self._offer('reset', motion.reset, 'the robot is at its start configuration')
        saved = 'the present configuration was saved as the rest pose'
        self._offer('save_rest_pose', motion.save_rest_pose, saved)

    def _offer(self, name: str, act: Callable[[Tracker], None], done: str) -> None:
        """Create a service std_srvs/Trigger that acts on the present robot."""

        def answer(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            tracker = self._motion.tracker
            response.success, response.message = tracker is not None, 'no robot yet'
            if tracker is not None:
                act(tracker)
                response.message = done
            return response

        self._node.create_service(Trigger, f'~/{name}', answer)

    def _switches(self, kind: str, answer: Callable[..., Any]) -> NamedEntities:
        def create(name: str, service: str) -> Any:
            return self._node.create_service(SetBool, service, partial(answer, name))

        return NamedEntities(self._node, 'service', kind, f'~/{kind}s/{{}}/enable', create)

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._motion.paused = not request.data
        response.success = True
        response.message = 'running' if request.data else 'paused'
        self._node.get_logger().info(response.message)
        return response

    def _on_goal(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        enabled = Parameter(f'goals.{name}.enabled', value=request.data)
        result = self._node.set_parameters([enabled])[0]
        response.success = result.successful
        done = f'goal {name} is enabled' if request.data else f'goal {name} is disabled'
        response.message = result.reason or done
        return response

    def _on_closure(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        response.success, text = self._set_closure(name, request.data)
        response.message = plain(text, MOST_TEXT)
        self._node.get_logger().info(text)
        return response

    def _set_closure(self, name: str, closed: bool) -> tuple[bool, str]:
        tracker, closures = self._motion.tracker, self._motion.closures
        if tracker is None or name not in tracker.model.robot.closures:
            return False, f'the robot has no closure {name}'
        if not closed:
            closures.release(tracker.model, name)
            return True, f'closure {name} is released'
        # Parameters that changed since the last tick count as well.
        settings = self._settings()
        self._motion.apply(settings)
        reason = self._motion.make_closure(tracker, name, settings)
        if name in closures.closing:
            return not reason, f'closure {name} is being closed'
        return not reason, reason or f'closure {name} is closed'
