"""Topics and services that goals and closures bring along by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from ik_node.errors import OptionError
from ik_node.ros.messages.topic_names import topic_parts
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

_DEPTH = 10


def add_publisher(node: Node, kind: type, topic: str) -> Any:
    """
    Return a publisher, reliable and volatile, without event callbacks.

    rclpy's own would say that a subscriber asks for another QoS or type, which the subscriber's
    side says as well: not worth what waiting for it takes, see docs/decisions/0009.
    """
    quiet = PublisherEventCallbacks(use_default_callbacks=False)
    return node.create_publisher(kind, topic, _DEPTH, event_callbacks=quiet)


LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


class NamedEntities:
    """
    A publisher, a subscription or a service for each of some names.

    Parameters
    ----------
    kind : str
        What has the names: goal or closure.
    pattern : str
        Name of the topic or service, with {} for the part that stands for one of the names.
    resolve : callable
        Expands and remaps it, as `rclpy.node.Node.resolve_topic_name` does; raises RuntimeError
        for one that ROS 2 does not allow.
    create : callable
        (name, topic or service) -> entity.
    destroy : callable
        (entity) -> None.

    """

    def __init__(
        self,
        kind: str,
        pattern: str,
        resolve: Callable[[str], str],
        create: Callable[[str, str], Any],
        destroy: Callable[[Any], Any],
    ) -> None:
        self._kind = kind
        self._pattern = pattern
        self._resolve = resolve
        self._create = create
        self._destroy = destroy
        self._entities: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return the entity of a name, None if there is none."""
        return self._entities.get(name)

    def check(self, names: Iterable[str]) -> None:
        """
        Check that ROS 2 allows what these names bring along.

        Raises
        ------
        OptionError
            Names the topic or service and what is wrong with it: its length, above all, counts
            with the namespace and as it is remapped.

        """
        for name, part in topic_parts(names, self._kind).items():
            if name in self._entities:
                continue
            topic = self._pattern.format(part)
            try:
                self._resolve(topic)
            except (RuntimeError, NameValidationException) as error:
                reason = str(error).split(', at ')[0].removeprefix('failed to resolve name: ')
                raise OptionError(
                    f'{self._kind} name',
                    name,
                    f'names with which ROS 2 allows {topic}; it says: {reason}. With the '
                    'namespace and the name of the node it may have 247 characters',
                ) from None

    def add(self, names: Iterable[str], undo: ExitStack) -> None:
        """Create what these names lack; `undo` destroys it again."""
        for name, part in topic_parts(names, self._kind).items():
            if name not in self._entities:
                entity = self._create(name, self._pattern.format(part))
                self._entities[name] = entity
                undo.callback(self._remove, name)

    def renew(self, name: str) -> None:
        """Create the entity of a name anew in place of the one there is."""
        part = topic_parts([name], self._kind)[name]
        self._destroy(self._entities[name])
        self._entities[name] = self._create(name, self._pattern.format(part))

    def keep(self, names: Iterable[str]) -> None:
        """Destroy what belongs to other names."""
        kept = set(names)
        for name in [name for name in self._entities if name not in kept]:
            self._remove(name)

    def _remove(self, name: str) -> None:
        self._destroy(self._entities.pop(name))


def set_names(groups: Sequence[NamedEntities], names: Sequence[str]) -> None:
    """
    Have the entities of these names in every group, and no others.

    Raises
    ------
    OptionError
        If ROS 2 does not allow one of them. After this and any other exception, of the middleware
        or of a QoS override, every group is as it was.

    """
    for group in groups:
        group.check(names)
    with ExitStack() as undo:
        for group in groups:
            group.add(names, undo)
        undo.pop_all()
    for group in groups:
        group.keep(names)
