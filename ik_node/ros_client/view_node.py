"""Start of a session that shows a running node."""

from __future__ import annotations

from collections.abc import Sequence
import threading
from typing import Any

from ik_node.errors import OptionError
from ik_node.ros_client.remote_node import RemoteNode
from ik_node.ros_client.session import RemoteNodeSession
import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.validate_topic_name import validate_topic_name


def open_view(args: Sequence[str], name: str) -> RemoteNodeSession:
    """
    Start a node that observes another node, and return a session for the page.

    Parameters
    ----------
    args : sequence of str
        Command line that starts with the program's name; ROS reads it.
    name : str
        Name of the other node.

    Returns
    -------
    RemoteNodeSession
        The session. Closing it ends the new node and does not affect the other one.

    Raises
    ------
    OptionError
        If the name is not a valid node name.

    """
    try:
        validate_topic_name(name)
    except InvalidTopicNameException:
        raise OptionError('--node', name, 'a node name such as /cell/left_ik or ik_node') from None
    # The page handles Ctrl-C.
    rclpy.init(args=list(args), signal_handler_options=SignalHandlerOptions.NO)
    remote = RemoteNode(name)
    executor = SingleThreadedExecutor()
    executor.add_node(remote)

    # Shutting an executor down during a callback raises in its thread, so let it finish first.
    over: Any = Future()

    def spin() -> None:
        try:
            executor.spin_until_future_complete(over)
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin, name='ros', daemon=True)
    thread.start()

    def end() -> None:
        if not thread.is_alive():
            return
        over.set_result(None)
        thread.join()
        executor.shutdown()
        remote.destroy_node()
        rclpy.try_shutdown()

    return RemoteNodeSession(remote, end)
