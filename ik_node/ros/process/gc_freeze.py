"""Memory of a process that ticks for long."""

from __future__ import annotations

import gc


class GcFreeze:
    """
    Freezes long-lived objects so that the garbage collector does not scan them during ticks.

    A full collection scans every object of the process, which takes 60 ms with the objects of
    Numba and rclpy. Objects that ticks create are still collected. The node's process creates
    this object first; the collector is off until `freeze_startup`.

    """

    def __init__(self) -> None:
        gc.disable()
        self._robots = 0

    def freeze_startup(self) -> None:
        """Settle what was imported and made until now."""
        gc.freeze()
        gc.enable()

    def freeze_robot(self) -> None:
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
