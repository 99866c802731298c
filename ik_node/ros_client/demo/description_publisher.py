"""Process that publishes one robot description, as robot_state_publisher does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import signal
import sys

from ik_node.ros.process.named_entities import LATCHED
import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String


def main(args: Sequence[str] | None = None) -> int:
    """Publish the text of a file, the first argument, until a signal or a shutdown."""
    words = list(sys.argv if args is None else args)
    text = Path(words[1]).read_text(encoding='utf-8')
    node = None
    started = False
    try:
        rclpy.init(args=words)
        started = True
        node = rclpy.create_node('description_publisher')
        publisher = node.create_publisher(String, 'robot_description', LATCHED)
        publisher.publish(String(data=text))
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        # A shutdown in the middle of a call may raise anything; that is not an error.
        if not started or rclpy.ok():
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
