"""The last pose asked of each goal, and how old it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ik_node.ros.messages.convert import Pose


class GoalInbox:
    """
    Keep the last accepted pose of each goal; goals that arrive between ticks replace each other.

    Poses are in the root link's frame. Times are seconds of the node's clock.
    """

    def __init__(self) -> None:
        self._poses: dict[str, Pose] = {}
        self._times: dict[str, float] = {}
        self._held: dict[str, Pose] = {}
        self._all: dict[str, Pose] | None = None

    def put(self, name: str, pose: Pose, time: float) -> None:
        """Take a pose as of `time` [s]."""
        self._all = None
        self._poses[name] = pose
        self._times[name] = time
        self._held.pop(name, None)

    def rewind(self, now: float) -> None:
        """Have no pose be younger than `now` [s]: the clock has jumped back."""
        self._times = {name: min(time, now) for name, time in self._times.items()}

    def clear(self) -> None:
        """Forget every pose."""
        self._all = None
        self._poses.clear()
        self._times.clear()
        self._held.clear()

    def keep(self, names: Collection[str]) -> None:
        """Forget the poses of all other goals."""
        self._all = None
        for name in [name for name in self._poses if name not in names]:
            del self._poses[name], self._times[name]
            self._held.pop(name, None)

    def stale(self, now: float, timeout: float) -> tuple[str, ...]:
        """Return the goals older than `timeout` [s]; 0 means that none ever is."""
        if timeout <= 0.0:
            return ()
        return tuple(name for name, time in self._times.items() if now - time > timeout)

    def hold(self, names: Collection[str], reached: Callable[[str], Pose]) -> None:
        """Hold each of these goals where its link is, from now until its next pose."""
        for name in names:
            if name not in self._held:
                self._all = None
                self._held[name] = reached(name)

    def poses(self) -> Mapping[str, Pose]:
        """
        Return what to solve for: each goal's last pose, or where it is held.

        It is the same object until one of them changes.
        """
        if self._all is None:
            self._all = {**self._poses, **self._held}
        return self._all
