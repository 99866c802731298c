"""Error message shown when rclpy is not installed."""

from __future__ import annotations

import importlib.util

from ik_node.errors import IkError


def need_rclpy() -> None:
    """
    Check that rclpy can be imported.

    Raise IkError if it is not installed; the message describes the installation.
    """
    if importlib.util.find_spec('rclpy') is None:
        raise IkError(
            'rclpy is not installed: source a ROS 2 installation, or run `make setup` in a '
            'checkout and use .venv/bin/ik_node'
        )
