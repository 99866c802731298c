"""Releasing and making closures while the robot moves."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import IkError, listed, plain
from ik_node.ros.control.answer_check import objection
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ClosureSwitch:
    """
    Knows which closures are released, and moves the robot until one that is to be made is closed.

    Attributes
    ----------
    released : set of str
        Closures that count for nothing at present.
    closing : set of str
        Those of them on whose making the robot is under way.

    """

    def __init__(self) -> None:
        self.released: set[str] = set()
        self.closing: set[str] = set()
        self._target: Array | None = None
        self._described: set[str] = set()

    def take_model(self, model: LoadedModel, same_robot: bool) -> None:
        """
        Go on with another model.

        One of the same robot has the same closures released; another one has those that its
        description does not enable.
        """
        self.stop()
        self._described = {n for n, each in model.robot.closures.items() if not each.enabled}
        if not same_robot:
            self.released = set(self._described)
        self._apply(model)

    def reset(self, model: LoadedModel) -> None:
        """Go back to the description's configuration: what it does not enable is open there."""
        self.stop()
        self.released |= self._described
        self._apply(model)

    def stop(self) -> None:
        """Leave closures that are on the way released."""
        self.closing.clear()
        self._target = None

    def release(self, model: LoadedModel, name: str) -> None:
        """Have a closure hold nothing from the next solve on."""
        self.stop()
        self.released.add(name)
        self._apply(model)

    def make(
        self, tracker: Tracker, name: str, held: Mapping[str, float], settings: Settings
    ) -> str:
        """
        Begin to close a closure.

        Parameters
        ----------
        tracker : Tracker
            Where the robot is.
        name : str
            The closure.
        held : mapping of str to float
            Joint values that must stay as they are [rad or m].
        settings : Settings
            The present ones.

        Returns
        -------
        str
            Why it cannot be closed from here; then it stays released. '' when it can.

        """
        if name not in self.released:
            return ''
        model, wanted = tracker.model, {name, *self.closing}
        self._apply(model, made=wanted)
        try:
            solution = model.solver.drive(held, tracker.q)
        except IkError as error:
            refusal = str(error)
        else:
            refusal = self._refusal(model, name, solution, settings)
        self._apply(model)
        if not refusal:
            self.closing, self._target = wanted, solution.q
        return refusal

    def report(
        self, tracker: Tracker, settings: Settings, now: float, beside: Array | None
    ) -> TickReport | None:
        """
        Take one step of a closing that is under way.

        Parameters
        ----------
        tracker, settings, now
            As for `Tracker.step_to`.
        beside : ndarray, shape (nq,), or None
            Another configuration that must have got there before the closure holds.

        Returns
        -------
        TickReport or None
            None when there is nothing to close (any more).

        """
        target = self._target
        if target is None:
            return None
        there = tracker.q is target or np.array_equal(tracker.q, target)
        if there and (beside is None or np.array_equal(beside, target)):
            self.released -= self.closing
            self.stop()
            self._apply(tracker.model)
            return None
        names = listed(sorted(self.closing))
        return tracker.step_to(target, settings, now, f'closing {names}')

    @staticmethod
    def _refusal(model: LoadedModel, name: str, solution: Solution, settings: Settings) -> str:
        error = solution.closure_errors.get(name)
        reason = objection(model, solution, settings.options)
        if not reason and solution.status is Status.CONVERGED:
            return ''
        gap = '' if error is None else f' by {error.position:.3g} m, {error.orientation:.3g} rad'
        return f'closure {plain(name)} stays open{gap} from where the robot is: {solution.message}'

    def _apply(self, model: LoadedModel, made: set[str] | None = None) -> None:
        released = self.released - (made or set())
        for name, closure in model.robot.closures.items():
            if closure.enabled == (name in released):
                closure.enabled = name not in released
