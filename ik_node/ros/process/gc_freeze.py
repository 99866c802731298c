"""Memory of a process that ticks for long."""

from __future__ import annotations

import gc


class SettledMemory:
    """
    Keeps what stays out of the garbage collector's sight.

    Once in a while Python's collector looks at every object of the process, for 60 ms with what
    Numba and rclpy keep. What ticks make and drop is looked at as before. Meant for the node's
    own process, around what it begins with: until `begin` the collector does not look at all.

    """

    def __init__(self) -> None:
        gc.disable()
        self._robots = 0

    def begin(self) -> None:
        """Settle what was imported and made until now."""
        gc.freeze()
        gc.enable()

    def settle_robot(self) -> None:
        """
        Settle what was made for a robot, and let go of what was made for the one before.

        From the second robot on that takes a tenth of a second and more, which a robot in motion
        must not wait for.

        """
        if self._robots:
            gc.unfreeze()
        self._robots += 1
        gc.collect()
        gc.freeze()
