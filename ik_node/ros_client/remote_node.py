"""Access to a running ik_node in another process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
import threading
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from ik_node.errors import IkError
from ik_node.ros.inputs.obstacle_inputs import PRESENT
from ik_node.ros.messages import fill_pose
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process import LATCHED, NamedEntities
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

# Period at which parameters and pending service calls are checked [s].
PERIOD = 0.1
# Shortest time between two calls of `wake` [s], the frame time of a screen.
FRAME = 1.0 / 60.0
# Time after which a service that was not found is reported as missing [s].
SEARCH = 1.0
# Time after which a request for parameters is repeated if there was no answer [s].
PATIENCE = 2.0


class _Request(NamedTuple):
    """A service request that is sent once the service is found."""

    client: Callable[[], Any]
    request: Any
    answered: Callable[[Any], None]
    end: float


class RemoteNode(Node):
    """
    A ROS node that subscribes to another node and sends goals, parameters and requests to it.

    Its callbacks run in the thread that spins it. All other methods can be called from any thread.
    `name`: name of the other node.
    """

    def __init__(self, name: str) -> None:
        super().__init__('ik_node_view')
        self._name = name
        self._full_name: str = self.resolve_topic_name(name)
        # Parameters of the other node; None = not received yet.
        self.settings: Settings | None = None
        # The last messages: robot_description, obstacles around it as JSON; None = none yet.
        self.description, self.obstacles = String(), String()
        self.joint_state: JointState | None = None
        self.solve_status: DiagnosticArray | None = None
        self._lock = threading.Lock()
        self._goal_messages: dict[str, PoseStamped] = {}
        self._refusals: list[str] = []
        # Whether parameters may have changed, and when they were last requested.
        self._changed = True
        self._requested_at: float | None = None
        # The publishers of joint states. After a restart of the node they are new ones.
        self.starts = 0  # How often the other node was found, each time as another process.
        # Called when joints have moved, at most once per `FRAME`.
        self.wake: Callable[[], None] = lambda: None
        self._woken = 0.0
        self._publisher_gids: set[bytes] = set()
        self._requests: deque[_Request] = deque()
        topic = f'{name}/goals/{{}}'
        self._senders = NamedEntities(
            *(self, 'publisher', 'goal', topic),
            lambda goal, topic: self.create_publisher(PoseStamped, topic, 1),
        )
        self._receivers = NamedEntities(
            *(self, 'subscription', 'goal', topic),
            lambda goal, topic: self.create_subscription(
                PoseStamped, topic, partial(self._on_goal, goal), 1
            ),
        )
        # Created early, so that a later message on a topic does not overtake their first request.
        self._named_clients = {
            service: self.create_client(Trigger, f'{name}/{service}')
            for service in ('reset', 'save_rest_pose')
        }
        self._targets = self.create_publisher(JointState, f'{name}/joint_targets', 1)
        self._list = self.create_client(ListParameters, f'{name}/list_parameters')
        self._get = self.create_client(GetParameters, f'{name}/get_parameters')
        atomic = f'{name}/set_parameters_atomically'
        self._set = self.create_client(SetParametersAtomically, atomic)

        def keep(name: str) -> Callable[[Any], None]:
            return partial(setattr, self, name)

        # The topic in the namespace of the other node, even if its name is absolute.
        description = self._full_name.rpartition('/')[0] + '/robot_description'
        self.create_subscription(String, description, keep('description'), LATCHED)
        obstacles = f'{name}/{PRESENT}'
        self.create_subscription(String, obstacles, keep('obstacles'), LATCHED)
        self.create_subscription(JointState, f'{name}/joint_states', self._on_joints, 1)
        self.create_subscription(DiagnosticArray, f'{name}/solve_status', keep('solve_status'), 1)
        self.create_subscription(ParameterEvent, '/parameter_events', self._on_parameters, 100)
        # A steady clock, because simulated time may be paused or not available yet.
        self.create_timer(PERIOD, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def topic(self) -> str:
        """Return the full name of the other node, the prefix of its topics."""
        return self._full_name

    def take_goals(self) -> dict[str, PoseStamped]:
        """Return the goals that any client has sent to the node since the last call."""
        with self._lock:
            taken, self._goal_messages = self._goal_messages, {}
        return taken

    def take_refusals(self) -> list[str]:
        """Return the messages of refused requests since the last call."""
        with self._lock:
            taken, self._refusals = self._refusals, []
        return taken

    # -- requests

    def send_goal(self, name: str, frame: str, pose: NDArray[np.float64]) -> None:
        """
        Send a goal pose, shape (4, 4), in a frame.

        The message has no stamp, because the clock of the node may be simulated or on another
        machine; the node takes the time of its arrival.
        """
        message = PoseStamped()
        message.header.frame_id = frame
        fill_pose(message.pose, pose)
        if name in self._senders.entities:
            self._senders.entities[name].publish(message)

    def send_targets(self, values: Mapping[str, float]) -> None:
        """Send joint targets [rad or m]."""
        message = JointState(name=list(values), position=list(values.values()))
        self._targets.publish(message)

    def set_remote_parameters(
        self, values: Mapping[str, Any], then: Callable[[], None] | None = None
    ) -> None:
        """Set all parameters or none of them; call `then` if they were accepted."""
        if not values:
            # A node refuses an empty request.
            return
        messages = [Parameter(n, value=value).to_parameter_msg() for n, value in values.items()]

        def answered(result: Any) -> None:
            if not result.result.successful:
                self._add_refusal(result.result.reason)
            elif then is not None:
                then()

        request = SetParametersAtomically.Request(parameters=messages)
        self._call(lambda: self._set, request, answered)

    def trigger(self, service: str) -> None:
        """Call a service std_srvs/Trigger of the node."""
        self._call(lambda: self._client(Trigger, service), Trigger.Request(), self._check)

    def switch(self, service: str, on: bool) -> None:
        """Call a service std_srvs/SetBool of the node."""
        self._call(lambda: self._client(SetBool, service), SetBool.Request(data=on), self._check)

    # -- internals

    def _client(self, kind: Any, service: str) -> Any:
        if service not in self._named_clients:
            self._named_clients[service] = self.create_client(kind, f'{self._name}/{service}')
        return self._named_clients[service]

    def _call(
        self, client: Callable[[], Any], request: Any, answered: Callable[[Any], None]
    ) -> None:
        """Call a service from the spinning thread, the only one that creates clients."""
        self._requests.append(_Request(client, request, answered, time.monotonic() + SEARCH))
        if self.executor is not None:
            self.executor.create_task(self._send)

    def _send(self) -> None:
        """Send requests in order; wait for a service that is not discovered yet."""
        while self._requests:
            first = self._requests[0]
            client = first.client()
            if client.service_is_ready():
                future = client.call_async(first.request)
                future.add_done_callback(lambda done, to=first.answered: to(done.result()))
            elif time.monotonic() < first.end:
                return
            else:
                name = client.srv_name
                self._add_refusal(f'there is no service {name}: is {self._full_name} running?')
            self._requests.popleft()

    def _check(self, answer: Any) -> None:
        if not answer.success:
            self._add_refusal(answer.message)

    def _add_refusal(self, text: str) -> None:
        with self._lock:
            self._refusals.append(text)

    def _on_joints(self, message: JointState) -> None:
        before, self.joint_state = self.joint_state, message
        now = time.monotonic()
        if now - self._woken < FRAME or before is None or before.position == message.position:
            return
        self._woken = now
        self.wake()

    def _on_goal(self, name: str, message: PoseStamped) -> None:
        with self._lock:
            self._goal_messages[name] = message

    def _on_parameters(self, message: ParameterEvent) -> None:
        if message.node == self._full_name:
            self._changed = True

    def _on_timer(self) -> None:
        """Check for a restart, for changed parameters and for pending requests."""
        self._check_restart()
        self._request_parameters()
        self._send()

    def _check_restart(self) -> None:
        """
        Detect that the node was started again.

        Its parameter events do not show this, because they are sent before this node is
        discovered.
        """
        infos = self.get_publishers_info_by_topic(f'{self._name}/joint_states')
        publishers = {bytes(info.endpoint_gid) for info in infos}
        if publishers - self._publisher_gids:
            self.starts += 1
            self._changed = True
        self._publisher_gids = publishers

    def _request_parameters(self) -> None:
        """Request all parameters if they may have changed, again if there was no answer."""
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
                for topics in (self._senders, self._receivers):
                    topics.use(goal.name for goal in settings.goals)
            except IkError as error:
                self._add_refusal(str(error))
            else:
                self.settings = settings

        future.add_done_callback(take)
