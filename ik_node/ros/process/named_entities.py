"""Topics and services that exist once for each goal or closure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ik_node.errors import OptionError
from ik_node.ros.messages.names import topic_parts
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

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
    A group of publishers, subscriptions or services, one for each name.

    `entity`: publisher, subscription or service. `kind`: what has the names, for messages.
    `pattern`: topic or service name with {} in place of the part for one name. `create`: (name,
    topic or service) -> entity.
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
