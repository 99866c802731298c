"""Configurations that follow measured values of the actuated joints: forward kinematics."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ik_node.errors import listed
from ik_node.ros.control.measured_drive import MOST_STEPS
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.measured_state import MeasuredState
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Ticks have nothing to report for so long after a measurement was answered [s].
QUIET = 0.5
# Sets of joints that come in joint states of their own, whose last answers are kept.
_MOST_SOURCES = 64


class ActuatedFollowing:
    """
    `state_source` actuated: what is measured holds the actuated joints, the loops do the rest.

    Goals are not solved for. A measurement is answered when it arrives; ticks follow what was
    measured only while no measurement arrives.

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
        # The last answer to a measurement, of which model it is, and when it was given.
        self._answer: TickReport | None = None
        self._answer_model: LoadedModel | None = None
        self._answered_at = 0.0
        # What velocities are differences to, for joints and motors `_dated_for`: for the motors of
        # each joint state its last answer and the last one with another stamp.
        self._dated: dict[frozenset[str], list[tuple[float, Array]]] = {}
        self._dated_for: tuple[object, ...] = ()

    def answer(
        self,
        tracker: Tracker,
        actuated: Sequence[str],
        names: Sequence[str],
        settings: Settings,
        stamp: float,
        now: float,
    ) -> TickReport | None:
        """
        Answer a measurement that has arrived.

        The velocity is the difference between this answer and the one to the measurement before
        of the same motors, over the difference of the stamps: where several senders measure a
        part of the motors each, every motor has moved on once between these two.

        Parameters
        ----------
        tracker, actuated, settings, now
            As for `report`.
        names : sequence of str
            Joints that were measured.
        stamp : float
            When they were measured [s].

        Returns
        -------
        TickReport or None
            None if no actuated joint is among them.

        """
        motors = frozenset(actuated).intersection(names)
        if not motors:
            return None
        report = self._follow(tracker, actuated, settings, now, QUIET)
        # An answer that is held is not of this stamp.
        if not report.held:
            measured = tuple(self._measured.values(actuated))
            report.velocity = self._velocity(tracker.model, measured, motors, report.q, stamp)
        self._answer, self._answer_model, self._answered_at = report, tracker.model, now
        return report

    def report(
        self, tracker: Tracker, actuated: Sequence[str], settings: Settings, now: float
    ) -> TickReport:
        """
        Report on a tick: the last answer, or a new one when measurements no longer arrive.

        Parameters
        ----------
        tracker : Tracker
            Where the robot is.
        actuated : sequence of str
            Values with a motor; one that was never measured stays where it is.
        settings : Settings
            The present parameters.
        now : float
            Time of the node's clock [s].

        """
        answer = self._answer
        if answer is not None and answer.q is tracker.q and self._answer_model is tracker.model:
            quiet = min(settings.joint_state_timeout or QUIET, QUIET)
            if 0.0 <= now - self._answered_at <= quiet:
                return answer
        return self._follow(tracker, actuated, settings, now)

    def _velocity(
        self,
        model: LoadedModel,
        measured: tuple[str, ...],
        motors: frozenset[str],
        q: Array,
        stamp: float,
    ) -> Array:
        """Return the velocity of an answer, (nq,) [rad/s or m/s], and keep the answer."""
        # A motor that is measured for the first time has not moved to where it is.
        if self._dated_for != (model.joint_names, measured):
            self._dated_for = (model.joint_names, measured)
            self._dated.clear()
        # Of a stamp that comes again the last answer counts.
        dated = [each for each in self._dated.pop(motors, []) if each[0] != stamp]
        self._dated[motors] = [*dated[-1:], (stamp, q)]
        if len(self._dated) > _MOST_SOURCES:
            del self._dated[next(iter(self._dated))]
        if not dated or stamp < dated[-1][0]:
            return np.zeros_like(q)
        velocity: Array = (q - dated[-1][1]) / (stamp - dated[-1][0])
        return velocity

    def _follow(
        self,
        tracker: Tracker,
        actuated: Sequence[str],
        settings: Settings,
        now: float,
        longest: float | None = None,
    ) -> TickReport:
        """Find the passive joints once; for `longest` see `Tracker.window`."""
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
        asked = (values, tracker.model.solver.revision.edits, settings.options)
        vain = self._vain
        if vain is not None and vain.q is tracker.q and asked == self._asked:
            held = tracker.hold(now, vain.held)
            return dataclasses.replace(held, solution=vain.solution, notes=tuple(notes))
        if self._begun_at is not tracker.q or asked != self._asked:
            self._spent = 0
        if self._begun_at is not tracker.q:
            self._way, self._begun_at = None, tracker.q
        report = tracker.drive(values, settings, now, tuple(notes), self._way, longest)
        self._asked = asked
        self._vain = None if self._goes_on(report) else report if report.held else None
        return report

    def _goes_on(self, report: TickReport) -> bool:
        """Keep how far a way has come that the next call is to go on; whether there is one."""
        solution, self._way = report.solution, None
        if solution is None or solution.status is not Status.TIMEOUT:
            return False
        self._spent += solution.iterations
        if self._spent < MOST_STEPS:
            self._way = solution.q
        return self._way is not None
