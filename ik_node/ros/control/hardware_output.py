"""Commands to hardware: from the measured configuration to the solution, within all limits."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ik_node.errors import IkError, listed
from ik_node.model.rotation import Array
from ik_node.ros.control.following_error import FollowingError
from ik_node.ros.control.tracker import approach, objection, Tracker
from ik_node.ros.inputs.joint_inputs import MeasuredState
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.outputs.command_publishers import CommandedState, HardwareCommand
from ik_node.ros.outputs.diagnostics import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, Status
import numpy as np

# Range of the largest distance between the first command and the measurement [rad or m]. Loops
# have tolerances, and so have sensors.
_LEAST_FIRST_STEP = 1e-6
_MOST_FIRST_STEP = 1e-3
# Most iterations towards a measured configuration; each moves up to 0.3 rad or m.
_MOST_STEPS = 200
# Most iterations that close the loops after a short straight extrapolation.
_CLOSING_STEPS = 20
# A tick that comes sooner after the last one than this share of a period, as after a late one,
# repeats the last command: the step is too short to divide the solver's tolerance by its time.
_SOON = 0.5
# After late ticks a trajectory is this much faster than the motion since the last tick, until it
# has caught up; it is at most so many periods late.
_CATCH_UP, _MOST_LATE_PERIODS = 1.03, 8.0
# Delay after which queued joint states have been read [s].
_RESUME_DELAY = 0.1
# Note while there is nothing to follow.
NO_GOAL = 'no goal yet'
# Fewer joint states than this do not count as a continuous stream.
_STREAM = 10


class HardwareOutput:
    """
    The command of each tick, or the reason why there is none.

    Every command is part of a whole configuration with closed loops and within limits. The first
    command is the measured configuration. From there no joint moves faster than its velocity
    limit, or farther from its measurement than its following error allows.
    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        # The last commanded configuration (nq,) [rad or m]; None while there are no commands.
        self.q: Array | None = None
        # Why there is no command, or why it does not lead to the solution; '' otherwise.
        self.note = ''
        self.motors: tuple[str, ...] = ()  # All joint values with a motor, commanded or not.
        # Time of the last command, and how much later a trajectory reaches its positions [s].
        self._time = 0.0
        self._ahead = 0.0
        # Velocity of the last command [rad/s or m/s], and the command.
        self._velocity = np.zeros(0)
        self._last: HardwareCommand | None = None
        self._following = FollowingError(measured)
        # After a gap: the time from which measurements count again, the number of joint states
        # that had arrived by then, and the note that explains the wait.
        self._resume_at: float | None = None
        self._resume_arrivals = -1
        self._gap_note = ''
        # True while commands solve for the goals themselves, because no step leads to the
        # solution.
        self._replanning = False

    def silence(self, note: str) -> None:
        """Stop commanding; the next command will be the configuration measured then."""
        self.q, self.note, self._replanning, self._last = None, note, False, None
        self._following.forget()

    @property
    def fault(self) -> str:
        """Return a message that names the joint that does not follow; '' if all follow."""
        return self._following.note

    def resume(self, gap: float, settings: Settings, now: float) -> None:
        """
        Start again at the measured configuration after a long time without ticks.

        Joint states that were sent in the meantime may still be queued, so only joint states that
        arrive after a short delay count. Without a stream of joint states nothing changes. `gap`:
        time since the last tick [s].
        """
        if gap <= settings.longest_gap:
            return
        if self._measured.arrivals >= _STREAM:
            self._resume_at, self._resume_arrivals = now + _RESUME_DELAY, -1
            self._gap_note = f'no tick for {gap:.3g} s: waiting for new joint_states of '

    def begin(
        self,
        tracker: Tracker,
        outputs: Sequence[str],
        has_goals: bool,
        settings: Settings,
        now: float,
    ) -> bool:
        """
        Decide before a solve whether there are commands; start them if it is time to.

        `tracker`: set to the measured configuration when commands start. `has_goals`: whether a
        goal has a pose, or a joint-space command leads the robot. Return True if this tick's
        command is the first one.
        """
        reason = self._reason_for_silence(outputs, has_goals, settings, now)
        if reason:
            self.silence(reason)
            return False
        model, before = tracker.model, self.q
        if all(each.kind == 'joint_trajectory' for each in settings.outlets):
            # Late trajectories have not reached the last command yet.
            left = self._ahead - (now - self._time)
            self._following.lead = max(left, 0.0) * self._velocity
        follows = before is None or not self._following.update(
            model, outputs, before, settings, now
        )
        if before is not None and follows:
            return False
        q, reason = self._measured_configuration(tracker, outputs, settings, before)
        if reason:
            self.silence(reason)
            return False
        tracker.jump(q)
        self._following.begin(model, outputs, q, self.motors)
        self.q, self.note, self._time, self._replanning = q, '', now, False
        self._ahead = settings.period
        self._velocity, self._last = np.zeros_like(q), None
        return True

    def measured_start(
        self, tracker: Tracker, outputs: Sequence[str], settings: Settings, now: float
    ) -> tuple[Array, str]:
        """Return the measured configuration (nq,) with closed loops, or why there is none."""
        reason = self._unmeasured(outputs) or self._stale(outputs, settings, now)
        if reason:
            return tracker.q, reason
        return self._measured_configuration(tracker, outputs, settings, self.q)

    def command(
        self,
        tracker: Tracker,
        report: TickReport,
        outputs: Sequence[str],
        settings: Settings,
        now: float,
        first: bool,
    ) -> HardwareCommand | None:
        """Return the command of this tick, after its solve; None while there are no commands."""
        if report.silent:
            self.silence(report.held)
        if self.q is None:
            return None
        before, last, elapsed = self.q, self._last, now - self._time
        self.note = self._reason_to_repeat(report, outputs, settings, now)
        soon = 0.0 <= elapsed < _SOON * settings.period
        if last is not None and last.names != outputs:
            last = None
        if soon and last is not None and not self.note:
            return last.later(elapsed)
        begin, end = self._span(elapsed, settings)
        if not first and not self.note and elapsed > 0.0:
            model, following = tracker.model, self._following
            window = following.window(before, self._window(model, now, settings))
            q = self._next(tracker, before, report, window, settings)
            waits = following.objection(model, before, q)
            if waits:
                self.note = waits
            else:
                self.q = q
        moves = self.q is not before
        if not moves:
            end = max(begin, settings.period)
            begin = end - settings.period
        self._time, self._ahead = now, end
        indices = [tracker.model.joint_names.index(name) for name in outputs]
        # Drives have followed the last velocity for as long as this tick took to come.
        velocity = (self.q - before) / elapsed if moves else np.zeros_like(before)
        pace = elapsed / (end - begin) if moves else 1.0
        self._last = HardwareCommand(
            tuple(outputs), self.q[indices], velocity[indices], end, pace=pace
        )
        if settings.output_horizon > 0.0:
            horizon = max(settings.output_horizon, 2.0 * settings.period)
            rest = self._rest(
                tracker.model, self.q, pace * velocity, horizon - settings.period, settings
            )
            leave = CommandedState(begin, before[indices], self._velocity[indices])
            if last is not None and elapsed > (1.0 + 1e-6) * last.period:
                # The robot has gone on towards where it would stop.
                leave = dataclasses.replace(last.state(elapsed), time=0.0)
            self._last = dataclasses.replace(
                self._last,
                begin=leave,
                stop=CommandedState(
                    end + horizon - settings.period, rest[indices], np.zeros(len(indices))
                ),
            )
        self._velocity = pace * velocity
        return self._last

    def _span(self, elapsed: float, settings: Settings) -> tuple[float, float]:
        """
        Return when a trajectory leaves the last command and reaches the next one, from now [s].

        The motion since the last tick takes as long as it took to come, so a late tick makes the
        trajectory late, not fast. It catches up slowly.
        """
        period, longest = settings.period, _MOST_LATE_PERIODS * settings.period
        begin = min(max(self._ahead - elapsed, 0.0), longest - period)
        end = begin + min(elapsed, longest) / _CATCH_UP
        return begin, max(min(end, longest), period)

    def _window(self, model: LoadedModel, now: float, settings: Settings) -> Array:
        """
        Return the largest step of each value by its velocity limit, (nq,) [rad or m].

        A position is reached within a period, also if its tick was late. A velocity is followed
        for as long as the next tick takes, so all the time that passed counts.
        """
        numbers = any(each.kind == 'commands' for each in settings.outlets)
        longest = settings.longest_gap
        if numbers and settings.output_interface != 'velocity':
            longest = settings.period
        elif any(each.kind == 'joint_trajectory' for each in settings.outlets):
            begin, end = self._span(now - self._time, settings)
            longest = end - begin
        window: Array = min(now - self._time, longest) * model.max_velocity
        return window

    def reach(self, model: LoadedModel, settings: Settings, now: float) -> Array | None:
        """Return the largest step (nq,) of the next command; None while there are none."""
        if self.q is None:
            return None
        return self._following.window(self.q, self._window(model, now, settings))

    @staticmethod
    def _rest(
        model: LoadedModel, q: Array, velocity: Array, time: float, settings: Settings
    ) -> Array:
        """Return where the robot stops (nq,) at constant deceleration; `q` if loops bar it."""
        if not velocity.any():
            return q
        change = 0.5 * time * velocity
        try:
            guess = np.clip(q + change, np.minimum(model.lower, q), np.maximum(model.upper, q))
            solution = model.solver.drive({}, guess, steps=_CLOSING_STEPS)
        except IkError:
            return q
        far = (np.abs(solution.q - q) > 2.0 * np.abs(change).max()).any()
        return q if far or objection(model, solution, settings.options, q) else solution.q

    def _reason_for_silence(
        self, outputs: Sequence[str], has_goals: bool, settings: Settings, now: float
    ) -> str:
        """Return the reason why there can be no command; '' if there can be one."""
        if settings.output_type == 'none':
            return 'output.type is none'
        if not has_goals:
            actuated = settings.state_source == 'actuated'
            return 'with state_source actuated there are no goals' if actuated else NO_GOAL
        unmeasured = self._unmeasured(outputs)
        if unmeasured:
            return unmeasured
        waiting = self._awaited_joints(outputs, now)
        if waiting:
            return waiting
        stale = self._stale(outputs, settings, now)
        if stale and (self.q is None or settings.on_stale == 'stop'):
            return stale
        return ''

    def _unmeasured(self, outputs: Sequence[str]) -> str:
        known = self._measured.values(outputs)
        missing = [name for name in outputs if name not in known]
        return 'not measured yet: ' + listed(missing) if missing else ''

    def _awaited_joints(self, outputs: Sequence[str], now: float) -> str:
        """Return the joints that must be measured again after a gap, as a message; '' for none."""
        if self._resume_at is None:
            return ''
        if now < self._resume_at - _RESUME_DELAY:
            # The clock has jumped back.
            self._resume_at = now + _RESUME_DELAY
        if now < self._resume_at:
            return self._gap_note + listed(outputs)
        if self._resume_arrivals < 0:
            self._resume_arrivals = self._measured.arrivals
        new = self._measured.values_since(outputs, self._resume_arrivals)
        old = [name for name in outputs if name not in new]
        if old:
            return self._gap_note + listed(old)
        self._resume_at = None
        return ''

    def _reason_to_repeat(
        self, report: TickReport, outputs: Sequence[str], settings: Settings, now: float
    ) -> str:
        """Return the reason why the last command is repeated; '' if the next one is due."""
        if report.stale:
            return '; '.join(report.notes) or report.held
        if settings.publish_on == 'converged' and not report.converged and not report.under_way:
            return 'not converged'
        return self._stale(outputs, settings, now)

    def is_stale(self, outputs: Sequence[str], settings: Settings, now: float) -> bool:
        """Return True if a commanded joint's measurement is old, so that commands must rest."""
        return bool(self._stale(outputs, settings, now))

    def _stale(self, outputs: Sequence[str], settings: Settings, now: float) -> str:
        if settings.on_stale == 'ignore':
            return ''
        names = self._measured.stale(outputs, now, settings.joint_state_timeout)
        return 'joint_states is stale: ' + listed(names) if names else ''

    def _measured_configuration(
        self, tracker: Tracker, outputs: Sequence[str], settings: Settings, last: Array | None
    ) -> tuple[Array, str]:
        """
        Return the measured configuration, or the reason why there is none.

        A sensor may report an unlimited angle modulo a full turn. The last command, if there is
        one, selects the turn.
        """
        model = tracker.model
        indices = [model.joint_names.index(name) for name in outputs]
        target = tracker.q.copy()
        target[indices] = list(self._measured.values(outputs).values())
        if last is not None:
            target = model.nearest_turn(target, last)
        values = dict(zip(outputs, target[indices].tolist(), strict=True))
        start = tracker.q
        if len(self._measured.values(model.joint_names)) == len(start):
            # Only a complete measurement shows in which assembly branch the loops are.
            start = self._measured.start(start)
            start = start if last is None else model.nearest_turn(start, last)
            start = model.start_within(start, settings.outside_tolerance)
        # A drive keeps a value outside its limits only where it starts.
        start = model.with_outside(start, target, settings.outside_tolerance)
        try:
            solution = model.solver.drive(values, start, steps=_MOST_STEPS)
            if objection(model, solution, settings.options, start):
                # Sensors are not exact, so take the nearest configuration with closed loops.
                solution = model.solver.drive({}, solution.q, steps=_MOST_STEPS)
        except IkError as error:
            return tracker.q, str(error)
        solution = self._with_other_motors(tracker.model, solution, values, settings)
        reason = objection(model, solution, settings.options, start)
        for name, value in values.items():
            index = model.joint_names.index(name)
            step = settings.period * model.max_velocity[index]
            allowed = min(max(_LEAST_FIRST_STEP, step), _MOST_FIRST_STEP)
            if not reason and not abs(solution.q[index] - value) <= allowed:
                reason = (
                    f'joint {name} is measured at {value:.6g}, which loops and limits do '
                    f'not allow; the nearest possible value is {solution.q[index]:.6g} '
                    f'(limit_tolerance says how far a value may be outside its limits)'
                )
        return solution.q, reason

    def _with_other_motors(
        self, model: LoadedModel, solution: Solution, values: dict[str, float], settings: Settings
    ) -> Solution:
        """Return the solution with the measured values of motors that are not commanded."""
        others = self._measured.values([name for name in self.motors if name not in values])
        if not others:
            return solution
        both: Solution = model.solver.drive({**others, **values}, solution.q, steps=_MOST_STEPS)
        fits = both.status is Status.CONVERGED
        refused = objection(model, both, settings.options, solution.q)
        return both if fits and not refused else solution

    def _next(
        self, tracker: Tracker, q: Array, report: TickReport, window: Array, settings: Settings
    ) -> Array:
        """Return the next configuration; `q` itself, with a note, if no step is possible."""
        model = tracker.model
        if (np.abs(report.q - q) <= window).all():
            self._replanning = False
        if not self._replanning:
            nearer, barred = approach(model, q, report.q, window, settings.options)
            if not barred:
                return nearer
            self.note = f'cannot follow the solution: {barred}'
            self._replanning = bool(report.goals)
            return q
        self.note = 'solves for the goals from the last command: no path to the solution'
        try:
            solution = model.solver.solve_pose(report.goals, q0=q, max_step=window)
        except IkError as error:
            self.note = str(error)
            return q
        refused = objection(model, solution, settings.options, q)
        if refused or not (np.abs(solution.q - q) <= window * (1.0 + 1e-9)).all():
            self.note = f'cannot continue: {refused or "the velocity limits do not allow it"}'
            return q
        return solution.q
