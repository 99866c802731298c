"""Frames that are not the robot's own, through tf2 where it is installed."""

from __future__ import annotations

import time
from typing import Any

from ik_node.errors import shown
from ik_node.model.rotation import pose_matrix
from ik_node.ros.messages.convert import seconds_from_stamp
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.time import Time

# By then who publishes has been found, and static frames have been heard [s].
_LISTENING = 2.0
# Without a question for so long /tf is not listened to any more [s].
IDLE = 10.0


class TransformNotYetError(LookupError):
    """The transform is known, but only up to an earlier time than was asked for."""


class TransformLookup:
    """
    Look transforms up in /tf.

    It listens from the first question on, and until nobody has asked for some seconds: listening
    costs a good part of a processor's core.

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
        self._last_lookup = 0.0

    @property
    def is_listening(self) -> bool:
        """Whether /tf is received."""
        return self._buffer is not None

    @property
    def is_starting(self) -> bool:
        """Whether it listens, but not for long: what it does not know may yet come."""
        return self._buffer is not None and time.monotonic() - self._since < _LISTENING

    def rewind(self) -> None:
        """Forget what was heard: the clock has jumped back, the latest is of a time to come."""
        if self._buffer is not None:
            self._buffer.clear()
            self._since = time.monotonic()

    def stop_if_idle(self) -> None:
        """Stop listening if nobody has asked for some seconds; to be called now and then."""
        if self._buffer is not None and time.monotonic() - self._last_lookup > IDLE:
            self._listener.unregister()
            self._buffer = self._listener = None

    def pose(self, target: str, source: str) -> NDArray[np.float64]:
        """
        Return the pose of frame `source` in frame `target`, 4x4, the latest there is.

        Raises
        ------
        LookupError
            Says why there is none.

        """
        return self.pose_at(target, source, None)[0]

    def pose_at(self, target: str, source: str, stamp: Any) -> tuple[NDArray[np.float64], float]:
        """
        Return the pose of frame `source` in frame `target` at a time.

        Parameters
        ----------
        target, source : str
            Names on /tf.
        stamp : builtin_interfaces.msg.Time or None
            None, or zero, is the latest there is.

        Returns
        -------
        pose : ndarray, shape (4, 4)
            Translation in [m].
        time : float
            Of the transform [s]; 0 for one that always holds.

        Raises
        ------
        TransformNotYetError
            If transforms have been heard up to an earlier time only.
        LookupError
            Says why there is none.

        """
        self._last_lookup = time.monotonic()
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
        wanted = 0.0 if stamp is None else seconds_from_stamp(stamp)
        moment = Time.from_msg(stamp) if wanted > 0.0 else Time()
        try:
            found = self._buffer.lookup_transform(target, source, moment)
        except tf2_ros.TransformException as error:
            found = self._nearest(tf2_ros, target, source, wanted, error)
        shift, turn = found.transform.translation, found.transform.rotation
        pose = pose_matrix((shift.x, shift.y, shift.z), (turn.x, turn.y, turn.z, turn.w))
        return pose, seconds_from_stamp(found.header.stamp)

    def _nearest(
        self, tf2_ros: Any, target: str, source: str, wanted: float, error: Exception
    ) -> Any:
        """
        Return the latest transform for a time shortly before listening began, or raise.

        The first stamped pose in a frame makes it listen; it has heard nothing of that time.
        """
        reason = f'no transform from {shown(target)}: {error}'
        if wanted <= 0.0:
            raise LookupError(reason) from None
        try:
            latest = self._buffer.lookup_transform(target, source, Time())
        except tf2_ros.TransformException:
            raise LookupError(reason) from None
        ahead = seconds_from_stamp(latest.header.stamp) - wanted
        if ahead < 0.0:
            raise TransformNotYetError(reason) from None
        if not self.is_starting or ahead > _LISTENING:
            raise LookupError(reason) from None
        return latest
