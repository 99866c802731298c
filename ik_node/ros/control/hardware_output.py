"""Commands to hardware: from the measured configuration to the solution, within all limits."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ik_node.errors import IkError, listed
from ik_node.model.rotation import Array
from ik_node.ros.control.tracker import approach, objection, Tracker
from ik_node.ros.inputs.inputs import MeasuredState
from ik_node.ros.loading import LoadedModel
from ik_node.ros.outputs import CommandedState, HardwareCommand, TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, Status
import numpy as np

# A robot that does not come nearer to its command within this time does not follow [s].
PATIENCE = 0.5
# Share of the limit by which the robot must come nearer in that time.
_NEARER = 0.1
# Share of the limit by which commands may lead a joint that did not follow, until it moves
# again. A drive that is switched on again jumps by at most this much.
_CAUTIOUS_SHARE = 0.25
# Smallest step, as a share of the limit, on the way back towards the measurement.
_LEAST_STEP = 0.05
# A command that changes by less than this is at rest [rad or m].
_STILL = 1e-4
# A joint that goes away from a command at rest was moved by something else, if it goes farther
# than this share of the limit [rad or m] and than its noise: this many times the mean change from
# one joint state to the next.
_MOVED_SHARE, _NOISES = 5e-3, 4.0
# A robot that was moved so comes no nearer within this time [s], so that wrong joint states move
# nothing. Then commands lead it by this share of the limit until it moves with them: what moved it
# may still do so, and its controller may be switched on again at any time.
_MOVED_PATIENCE, _MOVED_CAUTION = 0.2, 0.05
# Weight of the newest joint state in the mean error and in the mean change.
_NEWEST = 0.1


class Rest:
    """
    The errors of joints whose commands are at rest, to find out that something else moves them.

    A drive may settle beside its command, under a load for example, and sensors have noise.
    So the mean error counts, compared with the smallest one since the command is at rest.
    """

    def __init__(self) -> None:
        self._q: Array | None = None
        self._from = 0.0
        self._arrivals = -1
        self._last = self._mean = self._noise = self._smallest = np.zeros(0)

    def excess(self, q: Array, error: Array, arrivals: int, now: float) -> Array:
        """
        Return by how much each joint has gone away from its command, beside its noise, (n,).

        `q` and `error` (n,): last command and signed errors; `arrivals`: joint states so far.
        """
        before = self._q
        if before is None or len(before) != len(q) or (np.abs(q - before) > _STILL).any():
            self._q, self._from, self._arrivals = q, now, -1
        if arrivals != self._arrivals:
            if self._arrivals < 0:
                self._last = self._mean = error
                self._noise, self._smallest = np.zeros_like(error), np.full_like(error, np.inf)
            self._arrivals = arrivals
            self._noise = self._noise + _NEWEST * (np.abs(error - self._last) - self._noise)
            self._mean = self._mean + _NEWEST * (error - self._mean)
            self._last = error
        if now - self._from < PATIENCE:
            return np.zeros_like(error)
        mean = np.abs(self._mean)
        self._smallest = np.minimum(self._smallest, mean)
        away: Array = mean - self._smallest - _NOISES * self._noise
        return away

    def forget(self) -> None:
        """Forget everything, because no command is sent."""
        self._q = None


class FollowingError:
    """
    The comparison of every commanded joint with its measurement.

    The following error is the distance between the last command and the last measurement of a
    joint, modulo full turns where a joint turns without limits. The limit of every joint is
    `output.max_following_error` [rad or m]; for a joint slower than 1 rad/s or 1 m/s it is the
    distance that the joint covers in that number of seconds, which is smaller. A joint without a
    measurement since commands began, or with a stale one, is not compared. Motors that are not
    commanded are compared once the commands contain a motion of theirs.
    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        self._outputs: tuple[str, ...] = ()
        # The outputs, and the motors that are not among them.
        self._names: tuple[str, ...] = ()
        self._begin_q = np.zeros(0)
        self._rest = Rest()
        self._at = np.zeros(0, dtype=np.int64)
        self._turning = np.zeros(0, dtype=np.bool_)
        self._limit = np.zeros(0)
        self._values = np.zeros(0)
        # The smallest error while commands waited for the robot, as a share of the limit.
        self._smallest = np.inf
        self._suspect_at = 0.0  # Measured value of the suspect when commands started again.
        self.forget()

    def forget(self) -> None:
        """Forget everything, because no command is sent."""
        self.note = ''  # Which joint does not follow, and by how much; '' while the robot follows.
        # Motion to the last command that is still to come (nq,) [rad or m], because ticks were
        # late.
        self.lead: Array | float = 0.0
        self._since: int | None = None  # Joint states before commands began.
        self._suspect = -1  # Index of the joint that did not follow.
        self._caution = _CAUTIOUS_SHARE  # Share of the limit by which commands may lead it.
        self._rest.forget()
        self._wait_no_more()

    def _wait_no_more(self) -> None:
        # Whether the last step was refused; since when commands have waited for the robot, or have
        # not waited [s].
        self._waits = False
        self._waiting_from: float | None = None
        self._free_from: float | None = None

    def begin(
        self, model: LoadedModel, outputs: Sequence[str], q: Array, motors: Sequence[str] = ()
    ) -> None:
        """Start to compare: commands start at the measured configuration `q` (nq,) [rad or m]."""
        self._outputs = tuple(outputs)
        self._names = (*outputs, *(name for name in motors if name not in outputs))
        self._begin_q = q
        self._at = np.array(
            [model.joint_names.index(name) for name in self._names], dtype=np.int64
        )
        self._turning = model.turning[self._at]
        if self._since is None:
            self._since = self._measured.arrivals
        self._wait_no_more()
        self.lead = 0.0
        if self._suspect >= 0:
            name = self._names[self._suspect]
            self._suspect_at = self._measured.values([name]).get(name, 0.0)

    def update(
        self, model: LoadedModel, outputs: Sequence[str], q: Array, settings: Settings, now: float
    ) -> bool:
        """Compare the last command (nq,) with measurements; True = start again where they are."""
        if tuple(outputs) != self._outputs:
            self.forget()
            self.begin(model, outputs, q)
        self._read(model, q, settings, now)
        signed = self._signed_error(q)
        error = np.abs(signed)
        share = error / self._limits_now()
        worst = int(share.argmax()) if len(share) else 0
        largest = float(share[worst]) if len(share) else 0.0
        away = self._rest.excess(q[self._at], signed, self._measured.arrivals, now)
        moved = bool((away > _MOVED_SHARE * self._limit).any())
        waits, self._waits = self._waits, False
        if not waits and not moved and largest <= 1.0:
            self._waiting_from = None
            self._lift_caution(q[self._at], now)
            return False
        self._free_from = None
        nearer = largest < self._smallest - _NEARER * min(self._smallest, 1.0)
        if self._waiting_from is None or nearer:
            self._waiting_from, self._smallest = now, largest
        at_rest = moved or self._caution == _MOVED_CAUTION
        soon = at_rest and bool((error <= self._limit).all())
        if now - self._waiting_from < (_MOVED_PATIENCE if soon else PATIENCE):
            return False
        if self._suspect >= 0 and largest <= 1.0 and not moved:
            return False
        self._suspect = int((away / self._limit).argmax()) if moved else worst
        self._caution = _MOVED_CAUTION if at_rest else _CAUTIOUS_SHARE
        if at_rest:
            self.note = (
                f'joint {self._names[self._suspect]} was moved by something else, by '
                f'{error[self._suspect]:.3g} {self._unit(model, self._suspect)}, while its '
                f'command was at rest. Commands start again at the measured configuration'
            )
            return True
        self.note = (
            f'joint {self._names[worst]} does not follow: it was measured '
            f'{error[worst]:.3g} {self._unit(model, worst)} from its command. Commands start '
            f'again at the measured configuration and continue when it moves'
        )
        if worst >= len(self._outputs):
            self.note += '. It is not in output.joints'
        return True

    def window(self, q: Array, window: Array) -> Array:
        """Return the largest step (nq,) that keeps velocity and following-error limits."""
        limit = self._limits_now()
        if not np.isfinite(limit).any():
            return window
        room = np.maximum(limit - self._error(q), _LEAST_STEP * limit)
        cut = window.copy()
        cut[self._at] = np.minimum(cut[self._at], room)
        return cut

    def objection(self, model: LoadedModel, q: Array, target: Array) -> str:
        """Return why the next command leads a joint too far, unless it leads back; or ''."""
        error, limit = self._error(target), self._limits_now()
        too_far = (error > limit * (1.0 + 1e-9)) & (error > self._error(q))
        self._waits = bool(too_far.any())
        if not self._waits:
            return ''
        worst = int(np.where(too_far, error / limit, 0.0).argmax())
        return (
            f'waiting for joint {self._names[worst]}, which is measured '
            f'{self._error(q)[worst]:.3g} {self._unit(model, worst)} from its command; the limit '
            f'is {limit[worst]:.3g} (output.max_following_error)'
        )

    def _read(self, model: LoadedModel, q: Array, settings: Settings, now: float) -> None:
        """Read the present measurements and limits."""
        names, measured = self._names, self._measured
        values = measured.values_since(names, self._since or 0)
        for index, name in enumerate(names[len(self._outputs) :], len(self._outputs)):
            if abs(q[self._at[index]] - self._begin_q[self._at[index]]) <= _STILL:
                values.pop(name, None)
        for name in measured.stale(names, now, settings.joint_state_timeout):
            values.pop(name, None)
        largest = settings.output_max_following_error
        if largest <= 0.0:
            values = {}
        self._values = np.array([values.get(name, np.nan) for name in names])
        own = largest * np.minimum(1.0, model.max_velocity[self._at])
        self._limit = np.where(np.isnan(self._values) | (own <= 0.0), np.inf, own)

    def _limits_now(self) -> Array:
        """Return the limits (n,), reduced while the robot still has to show that it follows."""
        return self._limit * self._caution if self._suspect >= 0 else self._limit

    def _error(self, q: Array) -> Array:
        """Return the following error (n,) [rad or m] of every output at a configuration."""
        return np.abs(self._signed_error(q))

    def _signed_error(self, q: Array) -> Array:
        error = (q - self.lead)[self._at] - self._values
        error -= np.where(self._turning, 2.0 * np.pi * np.round(error / (2.0 * np.pi)), 0.0)
        return np.where(np.isnan(error), 0.0, error)

    def _lift_caution(self, q: Array, now: float) -> None:
        """Restore the full limit once the robot has moved with its commands or caught up."""
        index = self._suspect
        if index < 0:
            return
        if self._free_from is None:
            self._free_from = now
        delta = (self._values[index] - self._suspect_at) * np.sign(q[index] - self._suspect_at)
        if delta >= self._limits_now()[index] or now - self._free_from >= 2.0 * PATIENCE:
            self._suspect, self._caution, self.note = -1, _CAUTIOUS_SHARE, ''

    def _unit(self, model: LoadedModel, index: int) -> str:
        return 'rad' if model.angular[self._at[index]] else 'm'


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
        # The joint values that are commanded, and those with a motor, commanded or not.
        self.outputs: tuple[str, ...] = ()
        self.motors: tuple[str, ...] = ()
        # The parameters of a tick, and its time [s].
        self._settings = Settings.from_values({})
        self._now = 0.0
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

    def at(self, settings: Settings, now: float) -> None:
        """Set the parameters of a tick, and its time [s]."""
        self._settings, self._now = settings, now

    def silence(self, note: str) -> None:
        """Stop commanding; the next command will be the configuration measured then."""
        self.q, self.note, self._replanning, self._last = None, note, False, None
        self._following.forget()

    @property
    def fault(self) -> str:
        """Return a message that names the joint that does not follow; '' if all follow."""
        return self._following.note

    def resume(self, gap: float) -> None:
        """
        Start again at the measured configuration after a long time without ticks.

        Joint states that were sent in the meantime may still be queued, so only joint states that
        arrive after a short delay count. Without a stream of joint states nothing changes. `gap`:
        time since the last tick [s].
        """
        if gap <= self._settings.longest_gap:
            return
        if self._measured.arrivals >= _STREAM:
            self._resume_at, self._resume_arrivals = self._now + _RESUME_DELAY, -1
            self._gap_note = f'no tick for {gap:.3g} s: waiting for new joint_states of '

    def begin(self, tracker: Tracker, has_goals: bool) -> bool:
        """
        Decide before a solve whether there are commands; return True if this one is the first.

        When commands start, the tracker is set to the measured configuration.
        """
        outputs, settings, now = self.outputs, self._settings, self._now
        reason = self._reason_for_silence(has_goals)
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
        q, reason = self._measured_configuration(tracker, before)
        if reason:
            self.silence(reason)
            return False
        tracker.jump(q)
        self._following.begin(model, outputs, q, self.motors)
        self.q, self.note, self._time, self._replanning = q, '', now, False
        self._ahead = settings.period
        self._velocity, self._last = np.zeros_like(q), None
        return True

    def measured_start(self, tracker: Tracker) -> tuple[Array, str]:
        """Return the measured configuration (nq,) with closed loops, or why there is none."""
        reason = self._unmeasured() or self.stale()
        return (tracker.q, reason) if reason else self._measured_configuration(tracker, self.q)

    def command(self, tracker: Tracker, report: TickReport, first: bool) -> HardwareCommand | None:
        """Return the command of this tick, after its solve; None while there are no commands."""
        if report.silent:
            self.silence(report.held)
        if self.q is None:
            return None
        outputs, settings, now = self.outputs, self._settings, self._now
        before, last, elapsed = self.q, self._last, now - self._time
        self.note = self._reason_to_repeat(report)
        soon = 0.0 <= elapsed < _SOON * settings.period
        if last is not None and last.names != outputs:
            last = None
        if soon and last is not None and not self.note:
            return last.later(elapsed)
        begin, end = self._span(elapsed)
        if not first and not self.note and elapsed > 0.0:
            model, following = tracker.model, self._following
            window = following.window(before, self._window(model))
            q = self._next(model, before, report, window)
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
            rest = self._rest(tracker.model, self.q, pace * velocity, horizon - settings.period)
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

    def _span(self, elapsed: float) -> tuple[float, float]:
        """
        Return when a trajectory leaves the last command and reaches the next one, from now [s].

        The motion since the last tick takes as long as it took to come, so a late tick makes the
        trajectory late, not fast. It catches up slowly.
        """
        period = self._settings.period
        longest = _MOST_LATE_PERIODS * period
        begin = min(max(self._ahead - elapsed, 0.0), longest - period)
        end = begin + min(elapsed, longest) / _CATCH_UP
        return begin, max(min(end, longest), period)

    def _window(self, model: LoadedModel) -> Array:
        """
        Return the largest step of each value by its velocity limit, (nq,) [rad or m].

        A position is reached within a period, also if its tick was late. A velocity is followed
        for as long as the next tick takes, so all the time that passed counts.
        """
        settings, elapsed = self._settings, self._now - self._time
        numbers = any(each.kind == 'commands' for each in settings.outlets)
        longest = settings.longest_gap
        if numbers and settings.output_interface != 'velocity':
            longest = settings.period
        elif any(each.kind == 'joint_trajectory' for each in settings.outlets):
            begin, end = self._span(elapsed)
            longest = end - begin
        window: Array = min(elapsed, longest) * model.max_velocity
        return window

    def reach(self, model: LoadedModel) -> Array | None:
        """Return the largest step (nq,) of the next command; None while there are none."""
        if self.q is None:
            return None
        return self._following.window(self.q, self._window(model))

    def _rest(self, model: LoadedModel, q: Array, velocity: Array, time: float) -> Array:
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
        return q if far or objection(model, solution, self._settings.options, q) else solution.q

    def _reason_for_silence(self, has_goals: bool) -> str:
        """Return the reason why there can be no command; '' if there can be one."""
        settings = self._settings
        if settings.output_type == 'none':
            return 'output.type is none'
        if not has_goals:
            actuated = settings.state_source == 'actuated'
            return 'with state_source actuated there are no goals' if actuated else NO_GOAL
        waiting = self._unmeasured() or self._awaited_joints()
        if waiting:
            return waiting
        return self.stale() if self.q is None or settings.on_stale == 'stop' else ''

    def _unmeasured(self) -> str:
        known = self._measured.values(self.outputs)
        missing = [name for name in self.outputs if name not in known]
        return 'not measured yet: ' + listed(missing) if missing else ''

    def _awaited_joints(self) -> str:
        """Return the joints that must be measured again after a gap, as a message; '' for none."""
        outputs, now = self.outputs, self._now
        if self._resume_at is None:
            return ''
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

    def _reason_to_repeat(self, report: TickReport) -> str:
        """Return the reason why the last command is repeated; '' if the next one is due."""
        if report.stale:
            return '; '.join(report.notes) or report.held
        waits = self._settings.publish_on == 'converged' and not report.under_way
        return 'not converged' if waits and not report.converged else self.stale()

    def stale(self) -> str:
        """Return which commanded joint's measurement is old, so that commands must rest; or ''."""
        if self._settings.on_stale == 'ignore':
            return ''
        timeout = self._settings.joint_state_timeout
        names = self._measured.stale(self.outputs, self._now, timeout)
        return 'joint_states is stale: ' + listed(names) if names else ''

    def _measured_configuration(self, tracker: Tracker, last: Array | None) -> tuple[Array, str]:
        """
        Return the measured configuration, or the reason why there is none.

        A sensor may report an unlimited angle modulo a full turn. The last command, if there is
        one, selects the turn.
        """
        model, outputs, settings = tracker.model, self.outputs, self._settings
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
        solution = self._with_other_motors(model, solution, values)
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
        self, model: LoadedModel, solution: Solution, values: dict[str, float]
    ) -> Solution:
        """Return the solution with the measured values of motors that are not commanded."""
        others = self._measured.values([name for name in self.motors if name not in values])
        if not others:
            return solution
        both: Solution = model.solver.drive({**others, **values}, solution.q, steps=_MOST_STEPS)
        fits = both.status is Status.CONVERGED
        refused = objection(model, both, self._settings.options, solution.q)
        return both if fits and not refused else solution

    def _next(self, model: LoadedModel, q: Array, report: TickReport, window: Array) -> Array:
        """Return the next configuration; `q` itself, with a note, if no step is possible."""
        options = self._settings.options
        if (np.abs(report.q - q) <= window).all():
            self._replanning = False
        if not self._replanning:
            nearer, barred = approach(model, q, report.q, window, options)
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
        refused = objection(model, solution, options, q)
        if refused or not (np.abs(solution.q - q) <= window * (1.0 + 1e-9)).all():
            self.note = f'cannot continue: {refused or "the velocity limits do not allow it"}'
            return q
        return solution.q
