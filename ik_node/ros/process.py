"""What callbacks of the node need: threads, named topics, time, faults, counts, the logger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import contextlib
from dataclasses import dataclass
from importlib import import_module
import os
import threading
from typing import Any, TypeVar

from ik_node.errors import MOST_TEXT, OptionError, plain
from ik_node.ros.messages import seconds_from_stamp, StatusRow, topic_parts, WARN
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import InvalidHandle, NameValidationException
from rclpy.impl import rcutils_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.time import Time

T = TypeVar('T')


class BackgroundWork:
    """Background work that a coroutine callback can await, even in a single-threaded executor."""

    def __init__(self, node: Node) -> None:
        # A sleeping executor notices a finished future only when something wakes it up.
        self._wake_condition = node.create_guard_condition(bool, ReentrantCallbackGroup())

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, or raise its exception."""
        future: Any = Future()

        def attempt() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001
                future.set_exception(error)  # raised again in the waiting coroutine
            else:
                future.set_result(result)
            with contextlib.suppress(InvalidHandle):  # the node was destroyed, no coroutine waits
                self._wake_condition.trigger()

        threading.Thread(target=attempt, name='background work', daemon=True).start()
        result: T = await future
        return result


def optional(module: str, tell: Callable[..., object], lost: str) -> Any:
    """Import a module; if it is not installed, tell once what is lost, and return None."""
    try:
        return import_module(module)
    except ImportError:
        tell(f'{lost}: the package {module.partition(".")[0]} is not installed', once=True)
        return None


_DEPTH = 10


def add_publisher(node: Node, kind: type, topic: str, qos: QoSProfile | int = _DEPTH) -> Any:
    """
    Return a publisher without event callbacks; reliable and volatile by default.

    The default callbacks of rclpy report that a subscriber requests another QoS or type. The
    subscriber reports it as well, and waiting for these events costs time, see
    docs/decisions/0009.
    """
    quiet = PublisherEventCallbacks(use_default_callbacks=False)
    return node.create_publisher(kind, topic, qos, event_callbacks=quiet)


LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


class NamedEntities:
    """
    A group of publishers, subscriptions or services, one for each name of a `kind`, as a goal.

    `pattern` is the topic or service name with {} in place of the part for one name.
    """

    def __init__(
        self, node: Node, entity: str, kind: str, pattern: str, create: Callable[[str, str], Any]
    ) -> None:
        self._kind, self._pattern, self._create = kind, pattern, create
        self._destroy = getattr(node, f'destroy_{entity}')
        # Raises RuntimeError for a name that ROS 2 does not allow.
        is_service = entity == 'service'
        self._resolve = node.resolve_service_name if is_service else node.resolve_topic_name
        self.entities: dict[str, Any] = {}  # The present entity of each name.

    def check(self, names: Iterable[str]) -> None:
        """Raise OptionError if ROS 2 does not allow a name, most often because of its length."""
        for name, part in topic_parts(names, self._kind).items():
            if name in self.entities:
                continue
            topic = self._pattern.format(part)
            try:
                self._resolve(topic)
            except (RuntimeError, NameValidationException) as error:
                reason = str(error).split(', at ')[0].removeprefix('failed to resolve name: ')
                raise OptionError(
                    f'{self._kind} name',
                    name,
                    f'names with which ROS 2 allows {topic}; it says: {reason}. It '
                    'may have 247 characters, including the namespace and the name of the node',
                ) from None

    def use(self, names: Iterable[str]) -> None:
        """Create the missing entities of these names, and destroy those of all others."""
        parts = topic_parts(names, self._kind)
        for name, part in parts.items():
            if name not in self.entities:
                self.entities[name] = self._create(name, self._pattern.format(part))
        for name in [name for name in self.entities if name not in parts]:
            self._destroy(self.entities.pop(name))

    def renew(self, name: str) -> None:
        """Replace the entity of a name by a new one."""
        part = topic_parts([name], self._kind)[name]
        self._destroy(self.entities[name])
        self.entities[name] = self._create(name, self._pattern.format(part))


class NodeTime:
    """
    The time of a node's clock [s], which never goes back.

    When that clock jumps back, as for a simulation that starts again, what was received keeps its
    age. `on_jump` is called then.
    """

    def __init__(self, node: Node, on_jump: Callable[[], object]) -> None:
        self._node, self._on_jump = node, on_jump
        self._last = self._ahead = 0.0

    def now(self, reading: Time | None = None) -> float:
        """Return the present time, or that of a reading just made of the node's clock."""
        reading = reading or self._node.get_clock().now()
        before, self._last = self._last, 1e-9 * float(reading.nanoseconds)
        if self._last < before:
            self._ahead += before - self._last
            self._on_jump()
        return self._last + self._ahead

    def of(self, stamp: float) -> float:
        """Return the time of a stamp [s]; the present for the stamp 0."""
        now = self.now()
        return stamp + self._ahead if stamp else now

    def sent(self, message: Any) -> float:
        """Return when a message was sent, limited to the present."""
        return min(self.of(seconds_from_stamp(message.header.stamp)), self.now())


class Faults:
    """Checks by subject: the fault that one returns has a row in /diagnostics, logged once."""

    def __init__(self, node: Node, checks: Mapping[str, Callable[[], str]]) -> None:
        self._node, self._checks = node, checks
        self._present: set[str] = set()

    def rows(self) -> list[StatusRow]:
        """Return a row for each fault; log those that are new."""
        faults = {subject: check() for subject, check in self._checks.items()}
        before, self._present = self._present, {each for each, fault in faults.items() if fault}
        for subject in sorted(self._present - before):
            self._node.get_logger().warning(faults[subject])
        return [StatusRow(WARN, subject, faults[subject]) for subject in sorted(self._present)]


def other_of_same_name(node: Node) -> str:
    """Return a message if another node would share parameters and services with this one."""
    own = (node.get_name(), node.get_namespace())
    if node.get_node_names_and_namespaces().count(own) < 2:
        return ''
    return (
        f'another node is called {node.get_fully_qualified_name()}, or a killed '
        'node of that name is still listed: parameters and services reach only one of them'
    )


def paused_clock(node: Node) -> Callable[[], str]:
    """Return a check for simulated time that stood still since the last call: no ticks."""
    last = -1

    def check() -> str:
        nonlocal last
        clock = node.get_clock()
        before, last = last, int(clock.now().nanoseconds)
        if last != before or not clock.ros_time_is_active:
            return ''
        return (
            f'simulated time is paused at {1e-9 * last:.3f} s: no ticks until '
            f'{node.resolve_topic_name("/clock")} continues'
        )

    return check


@dataclass
class NodeCounts:
    """The counters since the start."""

    ticks: int = 0  # Number of ticks.
    missed_ticks: int = 0  # Number of ticks lost because a tick took longer than its period.
    goals: int = 0  # Number of accepted goal messages.
    joint_states: int = 0  # Number of accepted joint states.
    longest_interval: float = 0.0  # Longest time between two ticks since it was last set to 0 [s].
    last_error: str = ''  # Why a solution was last rejected or a tick failed; '' if none was.
    _last_tick: float | None = None

    def add_tick(self, work: float, period: float, begin: float) -> None:
        """Count one tick that took `work` [s]; `begin` is its time by a steady clock [s]."""
        self.ticks += 1
        if self._last_tick is not None:
            self.longest_interval = max(self.longest_interval, begin - self._last_tick)
        self._last_tick = begin
        self.missed_ticks += int(work / period)


# rclpy knows a log statement, and whether it has been printed once, by the file that calls it;
# that is not this one.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class PrintableLogger(rcutils_logger.RcutilsLogger):
    """A logger that escapes control characters in every message and shortens long ones."""

    def log(self, message: Any, severity: Any, *name: Any, **filters: Any) -> bool:
        """Log one printable line; only since ROS 2 Kilted rclpy gives the name of the logger."""
        done: bool = super().log(plain(str(message), MOST_TEXT), severity, *name, **filters)
        return done
