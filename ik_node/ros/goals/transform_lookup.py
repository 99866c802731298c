"""Frames that are not the robot's own, through tf2 where it is installed."""

from __future__ import annotations

import time
from typing import Any

from ik_node.model.rotation import pose_matrix
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.time import Time

# By then who publishes has been found, and static frames have been heard [s].
_LISTENING = 2.0


class TransformLookup:
    """
    Look transforms up in /tf, from the first time that one is needed.

    Parameters
    ----------
    node : rclpy.node.Node
        Its executor receives /tf.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._buffer: Any = None
        self._listener: Any = None
        self._since = 0.0

    @property
    def is_new(self) -> bool:
        """Whether it listens, but not for long: what it does not know may yet come."""
        return self._buffer is not None and time.monotonic() - self._since < _LISTENING

    def rewind(self) -> None:
        """Forget what was heard: the clock has jumped back, the latest is of a time to come."""
        if self._buffer is not None:
            self._buffer.clear()
            self._since = time.monotonic()

    def pose(self, target: str, source: str) -> NDArray[np.float64]:
        """
        Return the pose of frame `source` in frame `target`, 4x4, the latest there is.

        Raises
        ------
        LookupError
            Says why there is none.

        """
        try:
            import tf2_ros
        except ImportError:
            raise LookupError(
                'it is no link of the robot, and tf2_ros is not installed to look for it elsewhere'
            ) from None
        if self._buffer is None:
            self._buffer = tf2_ros.Buffer()
            self._listener = tf2_ros.TransformListener(self._buffer, self._node)
            self._since = time.monotonic()
        try:
            transform = self._buffer.lookup_transform(target, source, Time()).transform
        except tf2_ros.TransformException as error:
            raise LookupError(f'no transform from {target!r}: {error}') from None
        move, turn = transform.translation, transform.rotation
        return pose_matrix((move.x, move.y, move.z), (turn.x, turn.y, turn.z, turn.w))
