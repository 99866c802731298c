"""What is commanded to hardware: from where the robot is to the solution, at its limits."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.errors import IkError, listed, plain
from ik_node.ros.control.answer_check import objection
from ik_node.ros.control.approach import approach
from ik_node.ros.control.following_error import FollowingError
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.measured_state import MeasuredState
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.outputs.command_publishers import CommandedState, HardwareCommand
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A measured joint may be this far from what is commanded first [rad or m]: loops have tolerances,
# and sensors.
_LEAST_FIRST_STEP = 1e-6
_MOST_FIRST_STEP = 1e-3
# The way to a measured configuration, each of up to 0.3 rad or m.
_MOST_STEPS = 200
# Straight on for a part of a second the loops are all but closed.
_CLOSING_STEPS = 20
# After a time without ticks this long the robot may be anywhere [s]: at least this, and so many
# periods.
LONGEST_GAP = 0.5
_LONGEST_GAP_PERIODS = 5.0
# By then the joint states that had queued up have been read [s].
_SETTLING = 0.1
# Fewer joint states are no stream that goes on.
_STREAM = 10


class HardwareOutput:
    """
    Decide tick by tick what is commanded, and whether anything is.

    Every command belongs to a whole configuration with closed loops and within limits. The first
    one is the measured one; from there no joint goes faster than its velocity limit, nor farther
    from its measurement than its following error may be.

    Parameters
    ----------
    measured : MeasuredState

    Attributes
    ----------
    q : ndarray, shape (nq,), or None
        The configuration commanded last [rad or m]; None while silent.
    note : str
        Why nothing is commanded, or why not the solution; '' when there is nothing to say.
    fault : str
        Which joint does not follow its commands; '' while all do.

    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        self.q: Array | None = None
        self.note = ''
        self._time = 0.0
        # Of the last command [rad/s or m/s].
        self._velocity = np.zeros(0)
        self._following = FollowingError(measured)
        # After a gap: from when on measurements count, how many had arrived by then, and why.
        self._settled_at: float | None = None
        self._settled_with = -1
        self._gap = ''
        # When the way to the solution is barred, the goals are gone after from here.
        self._own_way = False

    def silence(self, note: str) -> None:
        """Command nothing; the next command will be the measured configuration of then."""
        self.q, self.note, self._own_way = None, note, False
        self._following.forget()

    @property
    def fault(self) -> str:
        """Return which joint does not follow its commands; '' while all do."""
        return self._following.note

    def resume(self, gap: float, settings: Settings, now: float) -> None:
        """
        Begin at the measured configuration after a long time without ticks.

        Joint states that were sent in the meantime may still be on their way: only those that
        arrive a moment later count. Without a stream of joint states nothing changes.

        Parameters
        ----------
        gap : float
            Time since the tick before [s].
        settings : Settings
            Of this tick.
        now : float
            [s]

        """
        if gap <= max(LONGEST_GAP, _LONGEST_GAP_PERIODS * settings.period):
            return
        if self._measured.arrivals >= _STREAM:
            self._settled_at, self._settled_with = now + _SETTLING, -1
            self._gap = f'there was no tick for {gap:.3g} s: waits for new joint_states of '

    def begin(
        self,
        tracker: Tracker,
        outputs: Sequence[str],
        has_goals: bool,
        settings: Settings,
        now: float,
    ) -> bool:
        """
        Before a solve: fall silent, or begin where the robot is measured, if it is time to.

        Parameters
        ----------
        tracker : Tracker
            Jumps to the measured configuration when commands begin.
        outputs : sequence of str
            Joint values that are commanded.
        has_goals : bool
            Whether there is anything to solve for.
        settings : Settings
            Of this tick.
        now : float
            [s]

        Returns
        -------
        bool
            Whether this tick's command is the first one.

        """
        reason = self._obstacle(outputs, has_goals, settings, now)
        if reason:
            self.silence(reason)
        if reason:
            return False
        model, before = tracker.model, self.q
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
        self._following.begin(model, outputs)
        self.q, self.note, self._time, self._own_way = q, '', now, False
        self._velocity = np.zeros_like(q)
        return True

    def command(
        self,
        tracker: Tracker,
        report: TickReport,
        outputs: Sequence[str],
        settings: Settings,
        now: float,
        first: bool,
    ) -> HardwareCommand | None:
        """
        After a solve: return the command of this tick; None while silent.

        Parameters
        ----------
        tracker, outputs, settings, now
            As for `begin`.
        report : TickReport
            Of the solve.
        first : bool
            What `begin` returned.

        """
        if report.silent:
            self.silence(report.held)
        if self.q is None:
            return None
        before = self.q
        elapsed, self._time = now - self._time, now
        self.note = self._pause(report, outputs, settings, now)
        if not first and not self.note and elapsed > 0.0:
            model, following = tracker.model, self._following
            window = min(elapsed, settings.period) * model.max_velocity
            window = following.window(before, window)
            q = self._next(tracker, before, report, window, settings)
            waits = following.objection(model, before, q)
            if waits:
                self.note = waits
            else:
                self.q = q
        at = [tracker.model.joint_names.index(name) for name in outputs]
        velocity = (self.q - before) / settings.period
        begin = stop = None
        if settings.output_horizon > 0.0:
            horizon = max(settings.output_horizon, 2.0 * settings.period)
            begin = CommandedState(0.0, before[at], self._velocity[at])
            rest = self._rest(tracker.model, self.q, velocity, horizon - settings.period, settings)
            stop = CommandedState(horizon, rest[at], np.zeros(len(at)))
        self._velocity = velocity
        return HardwareCommand(
            tuple(outputs), self.q[at], velocity[at], settings.period, begin, stop
        )

    @staticmethod
    def _rest(
        model: LoadedModel, q: Array, velocity: Array, time: float, settings: Settings
    ) -> Array:
        """
        Return where the robot comes to rest when it slows down evenly, (nq,) [rad or m].

        Its loops are closed there, and it is within limits; where that is not to be had, the
        configuration itself.
        """
        if not velocity.any():
            return q
        way = 0.5 * time * velocity
        try:
            guess = np.clip(q + way, model.lower, model.upper)
            solution = model.solver.drive({}, guess, steps=_CLOSING_STEPS)
        except IkError:
            return q
        far = (np.abs(solution.q - q) > 2.0 * np.abs(way).max()).any()
        return q if far or objection(model, solution, settings.options) else solution.q

    def _obstacle(
        self, outputs: Sequence[str], has_goals: bool, settings: Settings, now: float
    ) -> str:
        """Say why there can be no command; '' when there can."""
        if settings.output_type == 'none':
            return 'output.type is none'
        if settings.state_source == 'actuated':
            return 'state_source actuated solves for no goal'
        if not has_goals:
            return 'no goal yet'
        known = self._measured.values(outputs)
        missing = [name for name in outputs if name not in known]
        if missing:
            return 'not measured yet: ' + listed(missing)
        waiting = self._waiting(outputs, now)
        if waiting:
            return waiting
        stale = self._stale(outputs, settings, now)
        if stale and (self.q is None or settings.on_stale == 'stop'):
            return stale
        return ''

    def _waiting(self, outputs: Sequence[str], now: float) -> str:
        """Say which joints have to be measured anew after a gap; '' for none."""
        if self._settled_at is None:
            return ''
        if now < self._settled_at - _SETTLING:
            # The clock has jumped back.
            self._settled_at = now + _SETTLING
        if now < self._settled_at:
            return self._gap + listed(outputs)
        if self._settled_with < 0:
            self._settled_with = self._measured.arrivals
        new = self._measured.values_since(outputs, self._settled_with)
        old = [name for name in outputs if name not in new]
        if old:
            return self._gap + listed(old)
        self._settled_at = None
        return ''

    def _pause(
        self, report: TickReport, outputs: Sequence[str], settings: Settings, now: float
    ) -> str:
        """Say why the last command is repeated; '' when the next one is due."""
        if report.stale:
            return '; '.join(report.notes) or report.held
        if settings.publish_on == 'converged' and not report.converged and not report.under_way:
            return 'not converged'
        return self._stale(outputs, settings, now)

    def _stale(self, outputs: Sequence[str], settings: Settings, now: float) -> str:
        if settings.on_stale == 'ignore':
            return ''
        names = self._measured.stale(outputs, now, settings.joint_state_timeout)
        return 'joint_states is stale: ' + listed(names) if names else ''

    def _measured_configuration(
        self, tracker: Tracker, outputs: Sequence[str], settings: Settings, last: Array | None
    ) -> tuple[Array, str]:
        """
        Return the whole configuration that was measured, or why there is none.

        A sensor may report an angle without limits modulo a full turn. Next to the last command,
        if there is one, its turn is known.
        """
        model = tracker.model
        places = [model.joint_names.index(name) for name in outputs]
        wanted = tracker.q.copy()
        wanted[places] = list(self._measured.values(outputs).values())
        if last is not None:
            wanted = model.nearest_turn(wanted, last)
        values = dict(zip(outputs, wanted[places].tolist(), strict=True))
        start = tracker.q
        if len(self._measured.values(model.joint_names)) == len(start):
            # Only a whole measurement says in which branch the loops are.
            start = self._measured.start(start)
            start = start if last is None else model.nearest_turn(start, last)
            start = np.clip(start, model.lower, model.upper)
        try:
            solution = model.solver.drive(values, start, steps=_MOST_STEPS)
            if objection(model, solution, settings.options):
                # Sensors are not exact: the nearest configuration that closes will do.
                solution = model.solver.drive({}, solution.q, steps=_MOST_STEPS)
        except IkError as error:
            return tracker.q, str(error)
        reason = objection(model, solution, settings.options)
        for name, value in values.items():
            at = model.joint_names.index(name)
            step = settings.period * model.max_velocity[at]
            allowed = min(max(_LEAST_FIRST_STEP, step), _MOST_FIRST_STEP)
            if not reason and not abs(solution.q[at] - value) <= allowed:
                reason = (
                    f'joint {plain(name)} is measured at {value:.6g}, where loops and limits do '
                    f'not let it be; the nearest is {solution.q[at]:.6g}'
                )
        return solution.q, reason

    def _next(
        self, tracker: Tracker, q: Array, report: TickReport, window: Array, settings: Settings
    ) -> Array:
        """Return the next configuration; the present one, with a note, when there is no way."""
        model = tracker.model
        if (np.abs(report.q - q) <= window).all():
            self._own_way = False
        if not self._own_way:
            nearer, barred = approach(model, q, report.q, window, settings.options)
            if not barred:
                return nearer
            self.note = f'cannot follow the solution: {barred}'
            self._own_way = bool(report.goals)
            return q
        self.note = 'goes to the goals on a way of its own: that of the solution is barred'
        try:
            solution = model.solver.solve_pose(report.goals, q0=q, max_step=window)
        except IkError as error:
            self.note = str(error)
            return q
        refused = objection(model, solution, settings.options)
        if refused or not (np.abs(solution.q - q) <= window * (1.0 + 1e-9)).all():
            self.note = f'cannot go on: {refused or "the velocity limits do not let it"}'
            return q
        return solution.q
