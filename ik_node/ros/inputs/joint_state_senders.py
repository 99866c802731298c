"""Detection of several publishers of the same joints on joint_states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from ik_node.errors import listed, plain
from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.node import Node


class JointStateSenders:
    """
    The publishers whose joint states arrive, and the joints that they name.

    Several publishers may each measure a part of the joints. If two name the same joint, such as
    joint_state_publisher beside a driver, the measured robot seems to jump between them.

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
        self._logged = ''

    def add(self, names: Sequence[str], info: Mapping[str, Any]) -> None:
        """Note the sender of a message; rclpy of ROS 2 Jazzy does not tell it."""
        sender = info.get('publisher_gid')
        if sender is not None:
            self._new[sender['data']] = names

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if two publishers name a joint; log it once."""
        # A publisher that was restarted is not there twice: both must go on.
        active = {sender: names for sender, names in self._new.items() if sender in self._old}
        self._old, self._new = self._new, {}
        found = []
        for (one, first), (other, second) in combinations(active.items(), 2):
            shared = sorted(set(first).intersection(second))
            if shared:
                nodes = sorted(map(self._node_of, (one, other)))
                found.append(f'{nodes[0]} and {nodes[1]} both publish {listed(shared, 5)}')
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

    def _node_of(self, sender: bytes) -> str:
        """Return the full name of the node of a publisher."""
        topic = self._node.resolve_topic_name('joint_states')
        for each in self._node.get_publishers_info_by_topic(topic):
            # The identifier of an endpoint may be longer than that of a message.
            if bytes(each.endpoint_gid[: len(sender)]) == sender:
                return plain(f'{each.node_namespace.rstrip("/")}/{each.node_name}')
        return 'an unknown node'
