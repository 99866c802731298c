"""A logger whose lines are printable, whatever names from descriptions they hold."""

from __future__ import annotations

import os
from typing import Any

from ik_node.errors import MOST_TEXT, plain
from rclpy.impl import rcutils_logger

# rclpy knows a log statement, and whether it has been printed once, by the file that calls it;
# that is not this one.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class PrintableLogger(rcutils_logger.RcutilsLogger):
    """A logger that escapes control characters in every message and shortens long ones."""

    def log(self, message: Any, severity: Any, *name: Any, **filters: Any) -> bool:
        """Log one printable line; only since ROS 2 Kilted rclpy gives the name of the logger."""
        done: bool = super().log(plain(str(message), MOST_TEXT), severity, *name, **filters)
        return done
