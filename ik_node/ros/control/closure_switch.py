"""Release and make closures while the robot moves."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import IkError, listed
from ik_node.model.rotation import Array
from ik_node.ros.control.tracker import objection, Tracker
from ik_node.ros.loading import LoadedModel
from ik_node.ros.outputs import TickReport
from ik_node.solver import Status
import numpy as np


class ClosureSwitch:
    """The list of released closures, and the motion that closes one of them again."""

    def __init__(self) -> None:
        self.released: set[str] = set()  # Closures that are not enforced at present.
        self.closing: set[str] = set()  # Released closures towards which the robot is moving.
        self._target: Array | None = None
        self._described: set[str] = set()

    def take_model(self, model: LoadedModel, same_robot: bool) -> None:
        """Go on with another model; another robot has those closures released that it disables."""
        self.stop()
        self._described = {n for n, each in model.robot.closures.items() if not each.enabled}
        if not same_robot:
            self.released = set(self._described)
        self._apply(model)

    def reset(self, model: LoadedModel) -> None:
        """Go back to the description's configuration, where disabled closures are open."""
        self.stop()
        self.released |= self._described
        self._apply(model)

    def stop(self) -> None:
        """Stop closing; the closures stay released."""
        self.closing.clear()
        self._target = None

    def release(self, model: LoadedModel, name: str) -> None:
        """Stop enforcing a closure from the next solve on."""
        self.stop()
        self.released.add(name)
        self._apply(model)

    def make(self, tracker: Tracker, name: str, held: Mapping[str, float]) -> str:
        """Start to close a closure while joints are held; return why it stays released, or ''."""
        if name not in self.released:
            return ''
        model, closing = tracker.model, {name, *self.closing}
        self._apply(model, made=closing)
        try:
            solution = model.solver.drive(held, tracker.q)
        except IkError as error:
            return str(error)
        finally:
            self._apply(model)
        reason = objection(model, solution, tracker.settings.options, tracker.q)
        if not reason and solution.status is Status.CONVERGED:
            self.closing, self._target = closing, solution.q
            return ''
        left = solution.closure_errors.get(name)
        gap = '' if left is None else f' by {left.position:.3g} m, {left.orientation:.3g} rad'
        return f'closure {name} stays open{gap} from the present configuration: {solution.message}'

    def report(self, tracker: Tracker, beside: Array | None) -> TickReport | None:
        """
        Take one step towards a configuration in which the closures close.

        The commanded configuration `beside` must also arrive before they are enforced.
        """
        target = self._target
        if target is None:
            return None
        if all(q is None or np.array_equal(q, target) for q in (tracker.q, beside)):
            self.released -= self.closing
            self.stop()
            self._apply(tracker.model)
            return None
        reason = f'closing {listed(sorted(self.closing))}'
        return tracker.step_to(target, reason)

    def _apply(self, model: LoadedModel, made: set[str] | None = None) -> None:
        released = self.released - (made or set())
        for name, closure in model.robot.closures.items():
            if closure.enabled == (name in released):
                closure.enabled = name not in released
