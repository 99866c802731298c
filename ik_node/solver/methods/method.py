"""What the outer loop asks of a method."""

from __future__ import annotations

from typing import Protocol

from ik_node.solver.methods.progress import Progress


class Method(Protocol):
    """
    A way to choose steps for one chain.

    Attributes
    ----------
    pending : bool
        Whether there is more to do than meeting closures and goals.
    extra : float
        What is to be small beside them, here.
    near : bool
        Whether it is near enough here to go by `extra`, tolerances or not.

    """

    @property
    def pending(self) -> bool:
        """Say whether meeting closures and goals is not yet the end."""

    @property
    def extra(self) -> float:
        """Return the cost beside that of closures and goals."""

    @property
    def near(self) -> bool:
        """Say whether the iterate may be judged by `extra`, tolerances or not."""

    def step(self, progress: Progress) -> None:
        """Do at least one iteration, and report every one with `progress.look`."""
