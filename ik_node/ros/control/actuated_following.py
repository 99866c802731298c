"""Forward kinematics on line: the configuration that belongs to the measured actuated joints."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ik_node.errors import listed
from ik_node.model.rotation import Array
from ik_node.ros.control.joint_space import JointSpace
from ik_node.ros.control.tracker import MOST_STEPS, Tracker
from ik_node.ros.inputs.joint_inputs import MeasuredState
from ik_node.ros.loading import LoadedModel
from ik_node.ros.outputs.diagnostics import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Status
import numpy as np

# Time after the answer to a measurement during which ticks report that answer again [s].
QUIET = 0.5
# Largest number of motor sets, one per sender, whose last answers are kept.
_MOST_SOURCES = 64


class ActuatedFollowing:
    """
    The mode `state_source: actuated`: measured values fix the actuated joints, loops the others.

    Goals are not solved for. A measurement is answered when it arrives. Ticks solve only while no
    measurement arrives. `joint_space`: velocities and efforts of all joints from those of the
    motors.
    """

    def __init__(self, measured: MeasuredState, joint_space: JointSpace) -> None:
        self._measured = measured
        self._joint_space = joint_space
        self._last_request: tuple[object, ...] = ()
        self._failed_report: TickReport | None = None
        # Where a drive stands that needs more than one tick, where it started, and its step count.
        self._partial_q: Array | None = None
        self._partial_start: Array | None = None
        self._partial_steps = 0
        # The last answer to a measurement, its model, and the time of its computation.
        self._answer: TickReport | None = None
        self._answer_model: LoadedModel | None = None
        self._answered_at = 0.0
        # For each set of motors that is measured by one sender: the last answer, and the last
        # answer with an earlier stamp. Velocities are differences to these. `_past_answers_of`
        # holds the joints and motors for which they are valid.
        self._past_answers: dict[frozenset[str], list[tuple[float, Array]]] = {}
        self._past_answers_of: tuple[object, ...] = ()

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
        Solve for a measurement that has arrived.

        The velocity follows from the measured velocities of the motors, if all of them are known.
        Otherwise it is the difference between this answer and the last answer to the same set of
        motors, divided by the difference of their stamps. If several senders each measure a part
        of the motors, every motor has moved once between these two answers. `names`: names of the
        measured joints. `stamp`: time of the measurement [s]. Return None if no actuated joint was
        measured.
        """
        motors = frozenset(actuated).intersection(names)
        if not motors:
            return None
        report = self._follow(tracker, actuated, settings, now, QUIET)
        # A held configuration does not belong to this stamp.
        if not report.held:
            measured = tuple(self._measured.values(actuated))
            difference = self._velocity(tracker.model, measured, motors, report.q, stamp)
            velocity = self._joint_space.velocity(report.q)
            report.velocity = difference if velocity is None else velocity
            report.effort = self._joint_space.effort(report.q)
        self._answer, self._answer_model, self._answered_at = report, tracker.model, now
        return report

    def report(
        self, tracker: Tracker, actuated: Sequence[str], settings: Settings, now: float
    ) -> TickReport:
        """Return the last answer, or a new one if measurements of these joints have stopped."""
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
        """Return the velocity (nq,) [rad/s or m/s] of an answer, and keep the answer."""
        # The first measurement of a motor is not a motion.
        if self._past_answers_of != (model.joint_names, measured):
            self._past_answers_of = (model.joint_names, measured)
            self._past_answers.clear()
        # If a stamp is repeated, only the last answer with it is kept.
        past = [each for each in self._past_answers.pop(motors, []) if each[0] != stamp]
        self._past_answers[motors] = [*past[-1:], (stamp, q)]
        if len(self._past_answers) > _MOST_SOURCES:
            del self._past_answers[next(iter(self._past_answers))]
        if not past or stamp < past[-1][0]:
            return np.zeros_like(q)
        velocity: Array = (q - past[-1][1]) / (stamp - past[-1][0])
        return velocity

    def _follow(
        self,
        tracker: Tracker,
        actuated: Sequence[str],
        settings: Settings,
        now: float,
        longest: float | None = None,
    ) -> TickReport:
        """Solve for the passive joints once; for `longest` see `Tracker.window`."""
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
        # A failed attempt takes long, so it is not repeated while its input stays the same.
        request = (values, tracker.model.solver.revision.edits, settings.options)
        failed = self._failed_report
        if failed is not None and failed.q is tracker.q and request == self._last_request:
            held = tracker.hold(now, failed.held)
            return dataclasses.replace(held, solution=failed.solution, notes=tuple(notes))
        if self._partial_start is not tracker.q or request != self._last_request:
            self._partial_steps = 0
        if self._partial_start is not tracker.q:
            self._partial_q, self._partial_start = None, tracker.q
        report = tracker.drive(values, settings, now, tuple(notes), self._partial_q, longest)
        self._last_request = request
        self._failed_report = (
            None if self._keep_partial(report) else report if report.held else None
        )
        return report

    def _keep_partial(self, report: TickReport) -> bool:
        """Keep the progress of a drive that needs more ticks; return False if there is none."""
        solution, self._partial_q = report.solution, None
        if solution is None or solution.status is not Status.TIMEOUT:
            return False
        self._partial_steps += solution.iterations
        if self._partial_steps < MOST_STEPS:
            self._partial_q = solution.q
        return self._partial_q is not None
