"""Detection of another node with the same name."""

from __future__ import annotations

from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.node import Node


class DuplicateNodes:
    """
    A check for nodes with the same full name, which would share parameters and services.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._logged = False

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if there is another node; log it once."""
        node = self._node
        own = (node.get_name(), node.get_namespace())
        if node.get_node_names_and_namespaces().count(own) < 2:
            self._logged = False
            return None
        message = (
            f'another node is called {node.get_fully_qualified_name()}, or a killed '
            'node of that name is still listed: parameters and services reach only one of them'
        )
        if not self._logged:
            self._logged = True
            node.get_logger().warning(message)
        return StatusRow(WARN, f'{status_name(node)}: name', message)
