"""Garbage collection of a process that must tick on time."""

from __future__ import annotations

import gc


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
