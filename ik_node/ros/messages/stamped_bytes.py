"""A message as bytes that is sent again with another stamp, and other numbers."""

from __future__ import annotations

import struct
from typing import Any

from ik_node.ros.messages.marker_bytes import NUMBER, STAMP
import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

_STAMP = struct.Struct('=iI')
_NUMBER = struct.pack('=d', NUMBER)


class StampedBytes:
    """
    Serialise once, then write over: a tick sends it in a fraction of what a message takes.

    Parameters
    ----------
    message : message
        With `STAMP` in its header, and lists full of `NUMBER` where numbers are to be written.
    *lengths : int
        Of these lists, in the order of the message.

    Attributes
    ----------
    usable : bool
        Whether all was found; if not, the middleware serialises in a way of its own.

    """

    def __init__(self, message: Any, *lengths: int) -> None:
        raw = serialize_message(message)
        stamp = _STAMP.pack(STAMP[0], STAMP[1])
        self._raw = bytearray(raw)
        self._view = memoryview(self._raw)
        self._stamp_at = raw.find(stamp)
        self._lists: list[slice] = []
        end = 0
        for length in lengths:
            begin = raw.find(length * _NUMBER, end)
            end = begin + length * len(_NUMBER)
            self._lists.append(slice(begin, end))
        found = raw.count(stamp), raw.count(_NUMBER)
        self.usable = found == (1, sum(lengths)) and all(each.start >= 0 for each in self._lists)

    def filled(self, stamp: Any, *numbers: NDArray[np.float64]) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : builtin_interfaces.msg.Time
            Of its header.
        *numbers : ndarray, shape (length,)
            One for each list.

        """
        _STAMP.pack_into(self._raw, self._stamp_at, stamp.sec, stamp.nanosec)
        for place, values in zip(self._lists, numbers, strict=True):
            self._view[place] = values.tobytes()
        return bytes(self._raw)
