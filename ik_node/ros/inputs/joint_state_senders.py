"""Detection of several publishers of the same joints on joint_states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from ik_node.errors import listed
from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.node import Node

# Largest number of joints whose messages are counted; it bounds the memory that a sender can use.
_MOST_JOINTS = 20_000


class JointStateSenders:
    """
    The publishers whose joint states arrive, and the joints that they name.

    Several publishers may each measure a part of the joints. If two name the same joint, such as
    joint_state_publisher beside a driver, the measured robot seems to jump between them.

    rclpy of ROS 2 Kilted tells the publisher of a message. That of ROS 2 Jazzy tells only the
    number that the publisher gave it: the numbers of one publisher rise, so those of a joint that
    two publish fall again and again. The warning then names all publishers of the topic.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # The joints of each publisher, by its identifier in the middleware: since the last check,
        # and before it.
        self._new: dict[bytes, Sequence[str]] = {}
        self._old: dict[bytes, Sequence[str]] = {}
        # The number of the last message about each joint; the joints whose numbers fell since the
        # last check, and before it.
        self._numbers: dict[str, int] = {}
        self._new_falls: set[str] = set()
        self._old_falls: set[str] = set()
        self._logged = ''

    def add(self, names: Sequence[str], info: Mapping[str, Any]) -> None:
        """Note the sender of a message that names these joints."""
        sender = info.get('publisher_gid')
        number = info.get('publication_sequence_number')
        if sender is not None:
            self._new[sender['data']] = names
        elif number is not None:
            if len(self._numbers) > _MOST_JOINTS:
                self._numbers.clear()
            numbers = self._numbers
            self._new_falls.update(name for name in names if number <= numbers.get(name, -1))
            numbers.update(dict.fromkeys(names, number))

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if two publishers name a joint; log it once."""
        # A publisher that was restarted is not there twice: both must go on.
        active = {sender: names for sender, names in self._new.items() if sender in self._old}
        falls = sorted(self._new_falls & self._old_falls)
        self._old, self._new = self._new, {}
        self._old_falls, self._new_falls = self._new_falls, set()
        found = []
        for (one, first), (other, second) in combinations(active.items(), 2):
            shared = sorted(set(first).intersection(second))
            if shared:
                nodes = sorted(map(self._node_of, (one, other)))
                found.append(f'{nodes[0]} and {nodes[1]} both publish {listed(shared, 5)}')
        if falls:
            nodes = sorted(self._publishers().values())
            both = len(nodes) == 2
            which = f'{nodes[0]} and {nodes[1]} both' if both else f'several of {listed(nodes)}'
            found.append(f'{which} publish {listed(falls, 5)}')
        if not found:
            return None
        message = (
            f'joint_states: {"; ".join(sorted(found))}. The last message counts, so the measured '
            'robot jumps between them: stop one, or remap its topic'
        )
        if message != self._logged:
            self._logged = message
            self._node.get_logger().warning(message)
        return StatusRow(WARN, f'{status_name(self._node)}: joint_states', message)

    def _publishers(self) -> dict[bytes, str]:
        """Return the full names of the nodes that publish joint states, by identifier."""
        topic = self._node.resolve_topic_name('joint_states')
        return {
            bytes(each.endpoint_gid): f'{each.node_namespace.rstrip("/")}/{each.node_name}'
            for each in self._node.get_publishers_info_by_topic(topic)
        }

    def _node_of(self, sender: bytes) -> str:
        """Return the full name of the node of a publisher."""
        for identifier, name in self._publishers().items():
            # The identifier of an endpoint may be longer than that of a message.
            if identifier[: len(sender)] == sender:
                return name
        return 'an unknown node'
