"""Services that pause, reset and switch goals and closures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ik_node.errors import MOST_TEXT, plain
from ik_node.ros.control.motion import Motion
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process.named_entities import NamedEntities
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
        node.create_service(Trigger, '~/reset', self._on_reset)
        node.create_service(Trigger, '~/save_rest_pose', self._on_save_rest_pose)

    def _switches(self, kind: str, answer: Callable[..., Any]) -> NamedEntities:
        def create(name: str, service: str) -> Any:
            return self._node.create_service(SetBool, service, partial(answer, name))

        return NamedEntities(
            kind,
            f'~/{kind}s/{{}}/enable',
            self._node.resolve_service_name,
            create,
            self._node.destroy_service,
        )

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._motion.paused = not request.data
        response.success = True
        response.message = 'running' if request.data else 'paused'
        self._node.get_logger().info(response.message)
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Go back to the description's configuration and wait for new goals."""
        tracker = self._motion.tracker
        if tracker is None:
            response.message = 'no robot yet'
            return response
        self._motion.reset(tracker)
        response.success = True
        text = f'robot {tracker.model.robot.name} is at its start configuration'
        response.message = plain(text, MOST_TEXT)
        return response

    def _on_save_rest_pose(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        tracker = self._motion.tracker
        if tracker is None:
            response.message = 'no robot yet'
            return response
        self._motion.save_rest_pose(tracker)
        response.success = True
        response.message = 'the present configuration was saved as the rest pose'
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
