"""A tick that follows the measured values of the actuated joints: forward kinematics."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ik_node.errors import listed
from ik_node.model.revision import Revision
from ik_node.ros.joints.drive_steps import MOST_STEPS
from ik_node.ros.joints.measured_state import MeasuredState
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.tick_report import TickReport
from ik_node.ros.tracker import Tracker
from ik_node.solver import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ActuatedFollowing:
    """
    `state_source` actuated: what is measured holds the actuated joints, the loops do the rest.

    Goals are not solved for.

    Parameters
    ----------
    measured : MeasuredState

    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        self._asked: tuple[object, ...] = ()
        self._vain: TickReport | None = None
        # How far a way has come that takes more than a tick, from where, and after how many steps.
        self._way: Array | None = None
        self._begun_at: Array | None = None
        self._spent = 0

    def report(
        self, tracker: Tracker, actuated: Sequence[str], settings: Settings, now: float
    ) -> TickReport:
        """
        Find the passive joints once.

        Parameters
        ----------
        tracker : Tracker
            Where the robot is.
        actuated : sequence of str
            Values with a motor; one that was never measured stays where it is.
        settings : Settings
            Of this tick.
        now : float
            [s]

        """
        measured = self._measured
        known = measured.values(actuated)
        missing = [name for name in actuated if name not in known]
        stale = measured.stale(actuated, now, settings.joint_state_timeout)
        notes = []
        if missing:
            notes.append('not measured yet: ' + listed(missing))
        if stale:
            notes.append('joint_states is stale: ' + listed(stale))
        if notes and settings.on_stale == 'stop':
            report = tracker.hold(now, '; '.join(notes))
            return dataclasses.replace(report, stale=True, silent=True)
        if not known or (stale and settings.on_stale == 'hold'):
            return dataclasses.replace(tracker.hold(now, '; '.join(notes)), stale=True)
        present = dict(zip(tracker.model.joint_names, tracker.q.tolist(), strict=True))
        values = {name: known.get(name, present[name]) for name in actuated}
        # Going in vain for what cannot be takes long: not again while nothing has changed.
        asked = (values, Revision.settings, Revision.asks, settings.options)
        vain = self._vain
        if vain is not None and vain.q is tracker.q and asked == self._asked:
            held = tracker.hold(now, vain.held)
            return dataclasses.replace(held, solution=vain.solution, notes=tuple(notes))
        if self._begun_at is not tracker.q or asked != self._asked:
            self._spent = 0
        if self._begun_at is not tracker.q:
            self._way, self._begun_at = None, tracker.q
        report = tracker.drive(values, settings, now, tuple(notes), self._way)
        self._asked = asked
        self._vain = None if self._goes_on(report) else report if report.held else None
        return report

    def _goes_on(self, report: TickReport) -> bool:
        """Keep how far a way has come that the next tick is to go on; whether there is one."""
        solution, self._way = report.solution, None
        if solution is None or solution.status is not Status.TIMEOUT:
            return False
        self._spent += solution.iterations
        if self._spent < MOST_STEPS:
            self._way = solution.q
        return self._way is not None
