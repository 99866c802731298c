"""A running ik_node, seen from another process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
import threading
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.errors import IkError
from ik_node.ros.messages.convert import fill_pose
from ik_node.ros.messages.topic_names import topic_parts
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process.named_entities import LATCHED
import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

# How often it is looked whether there is something to ask [s].
PERIOD = 0.1
# Who draws is not woken more often than this [s], which is as often as a screen shows pictures.
FRAME = 1.0 / 60.0
# A service that was not found after so long [s] is not there.
SEARCH = 1.0
# An answer that has not come after so long [s] is not waited for any more.
PATIENCE = 2.0


class _Request(NamedTuple):
    """What a service is to be asked once it is found."""

    client: Any
    request: Any
    answered: Callable[[Any], None]
    end: float


class RemoteNode(Node):
    """
    Hear what a node says, and pass on what it is asked for.

    Its callbacks run in the thread that spins it; everything else may be called from any thread.

    Parameters
    ----------
    name : str
        The other node's.

    Attributes
    ----------
    description : str
        Text of the last robot_description; '' = none came yet.
    settings : Settings or None
        The other node's parameters; None = it has not answered yet.
    joint_state, solve_status
        The last messages; None = none came yet.
    starts : int
        How often the other node was found, each time another process.
    wake : callable
        Called when joints have moved, not more often than `FRAME`.

    """

    def __init__(self, name: str) -> None:
        super().__init__('ik_node_view')
        self._name = name
        self._full_name: str = self.resolve_topic_name(name)
        self.description = ''
        self.settings: Settings | None = None
        self.joint_state: JointState | None = None
        self.solve_status: DiagnosticArray | None = None
        self._lock = threading.Lock()
        self._goal_messages: dict[str, PoseStamped] = {}
        self._refusals: list[str] = []
        # Whether parameters may have changed, and when they were last asked for.
        self._changed = True
        self._requested_at: float | None = None
        # Who publishes joint states: a node that was started again is somebody else.
        self.starts = 0
        self.wake: Callable[[], None] = _ignore_wake
        self._woken = 0.0
        self._publisher_gids: set[bytes] = set()
        self._requests: deque[_Request] = deque()
        self._queued_calls: deque[tuple[Callable[[], Any], Any, Callable[[Any], None]]] = deque()
        self._goal_topics: dict[str, tuple[Any, Any]] = {}
        # Found before they are first asked: what is asked later by a topic is not to overtake.
        self._named_clients = {
            service: self.create_client(Trigger, f'{name}/{service}')
            for service in ('reset', 'save_rest_pose')
        }
        self._targets = self.create_publisher(JointState, f'{name}/joint_targets', 1)
        self._list = self.create_client(ListParameters, f'{name}/list_parameters')
        self._get = self.create_client(GetParameters, f'{name}/get_parameters')
        self._set = self.create_client(
            SetParametersAtomically, f'{name}/set_parameters_atomically'
        )
        # The node's own, also where it is named with its namespace.
        space = self._full_name.rpartition('/')[0]
        self.create_subscription(
            String, f'{space}/robot_description', self._on_description, LATCHED
        )
        self.create_subscription(JointState, f'{name}/joint_states', self._on_joints, 1)
        self.create_subscription(DiagnosticArray, f'{name}/solve_status', self._on_status, 1)
        self.create_subscription(ParameterEvent, '/parameter_events', self._on_parameters, 100)
        # A simulated clock may stand still, or not have come yet.
        self.create_timer(PERIOD, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def topic(self) -> str:
        """Return what all its topics begin with."""
        return self._full_name

    def take_goals(self) -> dict[str, PoseStamped]:
        """Return the goals that were sent to it by anybody since the last time."""
        with self._lock:
            taken, self._goal_messages = self._goal_messages, {}
        return taken

    def take_refusals(self) -> list[str]:
        """Return what it has refused since the last time."""
        with self._lock:
            taken, self._refusals = self._refusals, []
        return taken

    # -- what it is asked for

    def _set_goals(self, names: Iterable[str]) -> None:
        """Hear and send goals of these names."""
        parts = topic_parts(names, 'goal')
        for name in [name for name in self._goal_topics if name not in parts]:
            publisher, subscription = self._goal_topics.pop(name)
            self.destroy_publisher(publisher)
            self.destroy_subscription(subscription)
        for name, part in parts.items():
            if name not in self._goal_topics:
                topic = f'{self._name}/goals/{part}'
                heard = partial(self._on_goal, name)
                self._goal_topics[name] = (
                    self.create_publisher(PoseStamped, topic, 1),
                    self.create_subscription(PoseStamped, topic, heard, 1),
                )

    def send_goal(self, name: str, frame: str, pose: NDArray[np.float64]) -> None:
        """
        Ask for a pose (4, 4) in a frame, as of when it is heard.

        It has no stamp: the node's clock may be simulated, or another machine's.
        """
        message = PoseStamped()
        message.header.frame_id = frame
        fill_pose(message.pose, pose)
        if name in self._goal_topics:
            self._goal_topics[name][0].publish(message)

    def send_targets(self, values: Mapping[str, float]) -> None:
        """Wish for joint values [rad or m]."""
        message = JointState(name=list(values), position=list(values.values()))
        self._targets.publish(message)

    def set_remote_parameters(
        self, values: Mapping[str, Any], then: Callable[[], None] | None = None
    ) -> None:
        """Set parameters, all or none of them; then do something if they were taken."""
        if not values:
            # A node refuses to be asked for nothing.
            return
        messages = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]

        def answered(result: Any) -> None:
            if not result.result.successful:
                self._add_refusal(result.result.reason)
            elif then is not None:
                then()

        request = SetParametersAtomically.Request(parameters=messages)
        self._call(lambda: self._set, request, answered)

    def trigger(self, service: str) -> None:
        """Call one of its services without arguments."""
        self._call(lambda: self._client(Trigger, service), Trigger.Request(), self._check)

    def switch(self, service: str, on: bool) -> None:
        """Call one of its services that switches something."""
        self._call(lambda: self._client(SetBool, service), SetBool.Request(data=on), self._check)

    # -- within

    def _client(self, kind: Any, service: str) -> Any:
        if service not in self._named_clients:
            self._named_clients[service] = self.create_client(kind, f'{self._name}/{service}')
        return self._named_clients[service]

    def _call(
        self, client: Callable[[], Any], request: Any, answered: Callable[[Any], None]
    ) -> None:
        """Call a service from the thread that spins: there alone are clients made."""
        # In a queue of our own: an executor takes up the last of several tasks first.
        self._queued_calls.append((client, request, answered))
        if self.executor is not None:
            self.executor.create_task(self._run_queued_calls)

    def _run_queued_calls(self) -> None:
        while self._queued_calls:
            find, request, answered = self._queued_calls.popleft()
            end = time.monotonic() + SEARCH
            self._requests.append(_Request(find(), request, answered, end))
        self._send()

    def _send(self) -> None:
        """Ask services in their order; one that was just looked for is found a bit later."""
        while self._requests:
            first = self._requests[0]
            if first.client.service_is_ready():
                future = first.client.call_async(first.request)
                future.add_done_callback(lambda done, to=first.answered: to(done.result()))
            elif time.monotonic() < first.end:
                return
            else:
                name = first.client.srv_name
                self._add_refusal(f'there is no service {name}: is {self._full_name} running?')
            self._requests.popleft()

    def _check(self, answer: Any) -> None:
        if not answer.success:
            self._add_refusal(answer.message)

    def _add_refusal(self, text: str) -> None:
        with self._lock:
            self._refusals.append(text)

    def _on_description(self, message: String) -> None:
        self.description = message.data

    def _on_joints(self, message: JointState) -> None:
        before, self.joint_state = self.joint_state, message
        now = time.monotonic()
        if now - self._woken < FRAME or before is None or before.position == message.position:
            return
        self._woken = now
        self.wake()

    def _on_status(self, message: DiagnosticArray) -> None:
        self.solve_status = message

    def _on_goal(self, name: str, message: PoseStamped) -> None:
        with self._lock:
            self._goal_messages[name] = message

    def _on_parameters(self, message: ParameterEvent) -> None:
        if message.node == self._full_name:
            self._changed = True

    def _on_timer(self) -> None:
        """Do what is to be done now and then."""
        self._check_restart()
        self._request_parameters()
        self._send()

    def _check_restart(self) -> None:
        """
        Notice that the node was started again.

        The events of its parameters do not tell: they come before we are found.
        """
        infos = self.get_publishers_info_by_topic(f'{self._name}/joint_states')
        publishers = {bytes(info.endpoint_gid) for info in infos}
        if publishers - self._publisher_gids:
            self.starts += 1
            self._changed = True
        self._publisher_gids = publishers

    def _request_parameters(self) -> None:
        """Ask for all parameters if they may have changed, again if no answer came."""
        now = time.monotonic()
        if self._requested_at is not None:
            if now - self._requested_at < PATIENCE:
                return
        elif not self._changed:
            return
        if not (self._list.service_is_ready() and self._get.service_is_ready()):
            return
        self._changed, self._requested_at = False, now
        future = self._list.call_async(ListParameters.Request())
        future.add_done_callback(lambda done: self._get_values(done.result().result.names))

    def _get_values(self, names: list[str]) -> None:
        future = self._get.call_async(GetParameters.Request(names=names))

        def take(done: Any) -> None:
            self._requested_at = None
            values = map(parameter_value_to_python, done.result().values)
            known = {n: v for n, v in zip(names, values, strict=True) if v is not None}
            try:
                settings = Settings.from_values(known)
                self._set_goals(goal.name for goal in settings.goals)
            except IkError as error:
                self._add_refusal(str(error))
            else:
                self.settings = settings

        future.add_done_callback(take)


def _ignore_wake() -> None:
    """Wake nobody."""
