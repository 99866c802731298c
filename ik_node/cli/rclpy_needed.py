"""A plain word where ROS 2 is missing."""

from __future__ import annotations

import importlib.util

from ik_node.errors import IkError


def need_rclpy() -> None:
    """
    Check that rclpy can be imported.

    Raises
    ------
    IkError
        Says where to get it.

    """
    if importlib.util.find_spec('rclpy') is None:
        raise IkError(
            'rclpy is not installed: source a ROS 2 installation, or run `make setup` in a '
            'checkout and use .venv/bin/python'
        )
