"""Entry point of the node's process."""

from __future__ import annotations

from collections.abc import Sequence
import gc
import os
import sys

from ik_node.errors import IkError
from ik_node.ros.signals import exit_on_early_signals


class GcFreeze:
    """
    A freeze of long-lived objects, so that the garbage collector does not scan them during ticks.

    A full collection scans every object of the process, those of all imported libraries included,
    which may take longer than a tick. Objects that ticks create are still collected. The node's
    process creates this object first; the collector is off until `freeze_startup`.
    """

    def __init__(self) -> None:
        gc.disable()
        self._robots = 0

    def freeze_startup(self) -> None:
        """Freeze everything that was imported and created until now."""
        gc.freeze()
        gc.enable()

    def freeze_robot(self) -> None:
        """
        Freeze the objects of a new robot, and free those of the robot before.

        From the second robot on this takes a tenth of a second or more, which a robot in motion
        cannot wait for.
        """
        if self._robots:
            gc.unfreeze()
        self._robots += 1
        gc.collect()
        gc.freeze()


def main(args: Sequence[str] | None = None) -> int:
    """
    Run the node until a signal or a shutdown stops it.

    Parameters
    ----------
    args : sequence of str, optional
        Command line that starts with the program's name; default `sys.argv`.

    Returns
    -------
    int
        0 after SIGINT, SIGTERM or a shutdown by ROS 2; 2 if the node cannot start.

    """
    gc_freeze = GcFreeze()
    try:
        with exit_on_early_signals():
            from ik_node.ros.node import IkNode
            from ik_node.ros.parameters.parameter_table import unused_files
            from ik_node.ros.signals import EndSignals
            import rclpy
            from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
            from rclpy.logging import get_logger
            from rclpy.signals import SignalHandlerOptions
    except ImportError as error:
        _print_error(
            f'cannot start: {error}; source a ROS 2 installation, or use the .venv of a checkout'
        )
        return 2
    try:
        signals = EndSignals()
        words = None if args is None else list(args)
        rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        # The message of rclpy about unreadable --ros-args may quote a whole robot description.
        _print_error(f'cannot start: {_explained(str(error))}')
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    node = None
    code = 1
    try:
        node = IkNode(on_robot=gc_freeze.freeze_robot)
        for message in unused_files(args or sys.argv, node.get_fully_qualified_name()):
            node.get_logger().warning(message)
        gc_freeze.freeze_startup()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        signals.spin(executor)
        code = 0
    except (KeyboardInterrupt, ExternalShutdownException):
        code = 0
    except IkError as error:
        get_logger('ik_node').fatal(str(error))
        code = 2
    except Exception as error:
        if not rclpy.ok():
            # A shutdown in the middle of a callback may raise anything; that is not an error.
            code = 0
        elif type(error).__module__.startswith('rclpy') or isinstance(error, RuntimeError):
            # ROS 2 refuses a name, a QoS override or a domain, or the middleware has failed.
            _print_error(f'{"cannot start" if node is None else "ended"}: {error}')
            code = 2 if node is None else 1
        else:
            raise
    finally:
        # `ros2 launch` sends SIGINT twice; the second one must not interrupt the shutdown.
        signals.ignore()
        building = node is not None and node.is_building
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        if building and code == 0:
            # The compiler's thread cannot be stopped. If the interpreter ends while it runs, the
            # process sometimes crashes, so leave at once.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    return code


def _explained(error: str) -> str:
    """Return an error of rclpy about the command line, with what to do about frequent mistakes."""
    words = [word for word in error.strip('[]').replace("'", '').split(', ') if ':=' in word]
    if error.startswith('[') and words:
        parameter = words[0].partition(':=')[0]
        return (
            f'{words[0]} is no argument of ROS: write -p {words[0]} if {parameter} is a '
            f'parameter, and -r {words[0]} if it is a name to remap'
        )
    if "'bool'" in error and 'same type' in error:
        return (
            f'{error[:180]}: YAML reads Y, N, yes, no, on and off as truth values; write axes as '
            "one text, dof: 'X Y Z'"
        )
    return error


def _print_error(reason: str) -> None:
    """Print an error as one line of at most 300 characters."""
    print(f'ik_node: {" ".join(reason.split())[:300]}', file=sys.stderr, flush=True)
