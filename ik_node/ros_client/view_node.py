"""The process of a page that shows a running node."""

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
    Start a node of our own that watches another one.

    Parameters
    ----------
    args : sequence of str
        Command line with the program's name first, for ROS to read.
    name : str
        The other node's.

    Returns
    -------
    RemoteNodeSession
        To be closed, which ends our node; the other one does not notice.

    Raises
    ------
    OptionError
        If no node can have that name.

    """
    try:
        validate_topic_name(name)
    except InvalidTopicNameException:
        raise OptionError('--node', name, 'the name of a node, /cell/left_ik or ik_node') from None
    # Ctrl-C is for the page to hear.
    rclpy.init(args=list(args), signal_handler_options=SignalHandlerOptions.NO)
    remote = RemoteNode(name)
    executor = SingleThreadedExecutor()
    executor.add_node(remote)

    # An executor that is shut down in the midst of a callback raises in the thread that spins it.
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
