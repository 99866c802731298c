"""Publishers as this node has them."""

from __future__ import annotations

from typing import Any

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node

_DEPTH = 10


def add_publisher(node: Node, kind: type, topic: str) -> Any:
    """
    Return a publisher, reliable and volatile, without event callbacks.

    rclpy's own would say that a subscriber asks for another QoS or type, which the subscriber's
    side says as well: not worth what waiting for it takes, see docs/decisions/0009.
    """
    quiet = PublisherEventCallbacks(use_default_callbacks=False)
    return node.create_publisher(kind, topic, _DEPTH, event_callbacks=quiet)
