"""Entry of the node's process."""

from __future__ import annotations

from collections.abc import Sequence
import os
import signal
import sys

from ik_node.errors import IkError
from ik_node.ros.early_signals import quiet_end
from ik_node.ros.settled_memory import SettledMemory


def main(args: Sequence[str] | None = None) -> int:
    """
    Run the node until it is told to stop.

    Parameters
    ----------
    args : sequence of str, optional
        Command line with the program's name first; default `sys.argv`.

    Returns
    -------
    int
        0 after SIGINT, SIGTERM or a shutdown from outside; 2 when it cannot start as told.

    """
    memory = SettledMemory()
    with quiet_end():
        from ik_node.ros.node import IkNode
        import rclpy
        from rclpy.executors import ExternalShutdownException
        from rclpy.logging import get_logger
    try:
        rclpy.init(args=None if args is None else list(args))
    except RuntimeError as error:
        # What rclpy says of --ros-args that it cannot read may quote a whole robot description.
        print(f'ik_node: cannot start: {" ".join(str(error).split())[:300]}', file=sys.stderr)
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    node = None
    code = 1
    try:
        node = IkNode(on_robot=memory.settle_robot)
        memory.begin()
        rclpy.spin(node)
        code = 0
    except (KeyboardInterrupt, ExternalShutdownException):
        code = 0
    except IkError as error:
        get_logger('ik_node').fatal(str(error))
        code = 2
    except Exception:
        # A shutdown in the middle of a callback: whatever it broke is no news.
        if rclpy.ok():
            raise
        code = 0
    finally:
        # A second SIGINT, as `ros2 launch` sends it, must not break into this.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        building = node is not None and node.is_building
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        if building and code == 0:
            # The compiler works in a thread that cannot be stopped, and an interpreter that ends
            # under it crashes now and then.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    return code
