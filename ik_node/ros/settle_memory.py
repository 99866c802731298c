"""Memory of a process that ticks for long."""

from __future__ import annotations

import gc


def settle_memory() -> None:
    """
    Take everything that there is out of the garbage collector's sight.

    Once in a while Python's collector looks at every object of the process, for 60 ms with what
    Numba and rclpy keep. What is here now stays as long as the model does; what ticks make and
    drop is looked at as before. Meant for the node's own process, each time that another robot was
    taken: it takes a tenth of a second and more, which a robot in motion must not wait for.

    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
