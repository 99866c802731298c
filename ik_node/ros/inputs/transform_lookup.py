"""Lookup of frames that do not belong to the robot, by tf2 if it is installed."""

from __future__ import annotations

import time
from typing import Any

from ik_node.model.rotation import pose_matrix
from ik_node.ros.messages import seconds_from_stamp
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.time import Time

# Time after which publishers are discovered and static transforms received [s].
_LISTENING = 2.0
# The node unsubscribes from /tf after so long without a lookup [s].
IDLE = 10.0


class TransformNotYetError(LookupError):
    """A transform is known only up to an earlier time than the one requested."""


class TransformLookup:
    """
    A transform lookup in /tf.

    It subscribes with the first lookup and unsubscribes after some seconds without one, because
    receiving /tf takes a good part of a processor core.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._buffer: Any = None
        self._listener: Any = None
        self._since = 0.0
        self._last_lookup = 0.0

    @property
    def is_starting(self) -> bool:
        """Return True shortly after subscribing, while unknown transforms may still arrive."""
        return self._buffer is not None and time.monotonic() - self._since < _LISTENING

    def rewind(self) -> None:
        """Clear the buffer, because after the clock has jumped back it holds future transforms."""
        if self._buffer is not None:
            self._buffer.clear()
            self._since = time.monotonic()

    def stop_if_idle(self) -> None:
        """Unsubscribe after some seconds without a lookup; the node calls this once a second."""
        if self._buffer is not None and time.monotonic() - self._last_lookup > IDLE:
            self._listener.unregister()
            self._buffer = self._listener = None

    def pose(self, target: str, source: str) -> NDArray[np.float64]:
        """Return the latest (4, 4) pose of `source` in `target`; LookupError if unknown."""
        return self.pose_at(target, source, None)[0]

    def pose_at(self, target: str, source: str, stamp: Any) -> tuple[NDArray[np.float64], float]:
        """
        Return the pose of frame `source` in frame `target` at a time.

        A stamp of None or zero asks for the latest transform. The second value is its time [s]; 0
        for a static one. Raise LookupError if there is none, TransformNotYetError if those that
        were received are older.
        """
        self._last_lookup = time.monotonic()
        try:
            import tf2_ros
        except ImportError:
            raise LookupError(
                'it is not a link of the robot, and tf2_ros is not installed to look up '
                'other frames'
            ) from None
        if self._buffer is None:
            self._buffer = tf2_ros.Buffer()
            self._listener = tf2_ros.TransformListener(self._buffer, self._node)
            self._since = time.monotonic()
        seconds = 0.0 if stamp is None else seconds_from_stamp(stamp)
        moment = Time.from_msg(stamp) if seconds > 0.0 else Time()
        try:
            known = self._buffer.lookup_transform(target, source, moment)
        except tf2_ros.TransformException as error:
            known = self._nearest(tf2_ros, target, source, seconds, error)
        shift, rotation = known.transform.translation, known.transform.rotation
        pose = pose_matrix(
            (shift.x, shift.y, shift.z), (rotation.x, rotation.y, rotation.z, rotation.w)
        )
        return pose, seconds_from_stamp(known.header.stamp)

    def _nearest(
        self, tf2_ros: Any, target: str, source: str, seconds: float, error: Exception
    ) -> Any:
        """
        Return the latest transform for a time shortly before the subscription, or raise.

        The first stamped pose in a frame starts the subscription, so transforms of its time were
        not received.
        """
        reason = f'no transform from {target!r}: {error}'
        if seconds <= 0.0:
            raise LookupError(reason) from None
        try:
            latest = self._buffer.lookup_transform(target, source, Time())
        except tf2_ros.TransformException:
            raise LookupError(reason) from None
        ahead = seconds_from_stamp(latest.header.stamp) - seconds
        if ahead < 0.0:
            raise TransformNotYetError(reason) from None
        if not self.is_starting or ahead > _LISTENING:
            raise LookupError(reason) from None
        return latest
