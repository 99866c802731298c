"""The configuration of one robot from tick to tick, and the check of each solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ik_node.errors import IkError, listed
from ik_node.model.rotation import Array
from ik_node.ros.loading import LoadedModel, LOOP_TOLERANCE
from ik_node.ros.messages import Pose
from ik_node.ros.outputs import TickReport
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, SolverOptions, Status
from ik_node.solver.drive import step_towards
from ik_node.solver.solver import ANY_STEP
import numpy as np


def objection(
    model: LoadedModel, solution: Solution, options: SolverOptions, start: Array | None = None
) -> str:
    """
    Return the reason why a solution must not be published; '' if it may be.

    A value that starts outside its limits, by `start` (nq,), may be between there and its limits.
    """
    q = solution.q
    least, upper = model.bounds
    # A NaN fails both comparisons and so counts as outside.
    within = (least <= q) & (q <= upper)
    if start is not None and not within.all():
        within = (np.minimum(least, start) <= q) & (q <= np.maximum(upper, start))
    if not within.all():
        index = int(within.argmin())
        return (
            f'joint {model.joint_names[index]} = {q[index]:.6g} is outside '
            f'[{model.lower[index]:.6g}, {model.upper[index]:.6g}]'
        )
    for name, error in solution.closure_errors.items():
        limit = model.loop_limits.get(name, LOOP_TOLERANCE)
        position = max(limit, options.translation_converge_threshold)
        orientation = max(limit, options.rotation_converge_threshold)
        if not (error.position <= position and error.orientation <= orientation):
            return f'loop {name} is open by {error.position:.3g} m, {error.orientation:.3g} rad'
    return ''


_ROUNDING = 1e-9
# Share of the requested progress that a step must make.
_PROGRESS = 0.05


def approach(
    model: LoadedModel, q: Array, target: Array, window: Array, options: SolverOptions
) -> tuple[Array, str]:
    """
    Take one step from a configuration with closed loops towards another one.

    The step follows the straight line in joint space, as near to it as the loops and the window,
    (nq,), the largest change of every value, allow. Joint targets have no influence. Return the
    next configuration, the unchanged `q` if no step is possible; and why none is; '' if one is.
    """
    change = target - q
    if (np.abs(change) <= (1.0 + _ROUNDING) * window).all():
        return target, ''
    barred = (window <= 0.0) & (change != 0.0)
    if barred.any():
        name = model.joint_names[int(np.flatnonzero(barred)[0])]
        return q, f'joint {name} cannot move: its velocity limit or the elapsed time is 0'
    steps = steps_to(change, window)
    try:
        with model.solver.lock:
            problem, table, packed = model.solver.arrays_for(())
            near = q + change / steps
            solution = step_towards(problem, table, q.copy(), near, window, packed)
    except IkError as error:
        return q, str(error)
    reason = objection(model, solution, options, q)
    if not reason and steps - steps_to(target - solution.q, window) < _PROGRESS:
        reason = 'the loops block the straight path to that configuration'
    return (q, reason) if reason else (solution.q, '')


def steps_to(change: Array, window: Array) -> float:
    """Return the largest ratio of a change to its window."""
    moving = change != 0.0
    with np.errstate(divide='ignore'):
        return float(np.max(np.abs(change[moving]) / window[moving], initial=0.0))


# Approximate time of one iteration per joint value [s], twice that of a desktop computer.
STEP_TIME = 2e-6
# Least number of iterations per tick; most drives need fewer, as each moves up to 0.3 rad or m.
LEAST_STEPS = 20
# After so many iterations, over any number of ticks, a drive counts as failed.
MOST_STEPS = 1000


def drive_steps(model: LoadedModel, settings: Settings) -> int:
    """Return the largest number of iterations towards measured values in one tick."""
    step = STEP_TIME * len(model.joint_names)
    return min(max(LEAST_STEPS, int(settings.period / step)), MOST_STEPS)


# A value beyond a limit by at most this much is set to the limit [rad or m].
_SENSOR_SLACK = 1e-6
# Redundant motors never agree exactly. Beyond this deviation they are wrong [rad or m].
_MOST_MISFIT = 0.05


class MeasuredDrive:
    """
    The configuration that belongs to measured values, in the present assembly branch.

    With at most as many motors as degrees of freedom, the configuration has exactly those values,
    or there is none. With more motors, inexact sensors contradict each other, and the nearest
    configuration is taken. `values`: measured values [rad or m]; `q` (nq,): where the robot is.
    """

    def __init__(
        self, model: LoadedModel, values: Mapping[str, float], settings: Settings, q: Array
    ) -> None:
        self._model = model
        self._options = settings.options
        self._steps = drive_steps(model, settings)
        self._index = {name: model.joint_names.index(name) for name in values}
        self._targets = {}
        for name, index in self._index.items():
            value = values[name]
            within = min(max(value, model.lower[index]), model.upper[index])
            self._targets[name] = within if abs(value - within) <= _SENSOR_SLACK else value
        # Largest deviation of a measured value, if the nearest configuration was taken; ''
        # otherwise.
        self.note = ''
        target = q.copy()
        target[list(self._index.values())] = list(self._targets.values())
        # Where the drive starts (nq,): with the values that are allowed outside their limits.
        self.start = model.with_outside(q, target, settings.outside_tolerance)

    def solve(self) -> Solution:
        """Drive towards the measured values for at most one tick."""
        solver = self._model.solver
        solution: Solution = solver.drive(self._targets, self.start, steps=self._steps)
        redundant = 0 < self._model.mobility < len(self._targets)
        if not redundant or solution.status is Status.TIMEOUT or not self.unmet(solution):
            return solution
        nearest: Solution = solver.drive({}, solution.q, steps=self._steps)
        name, reached = self._worst(nearest)
        target = self._targets[name]
        refused = objection(self._model, nearest, self._options, self.start)
        if abs(target - reached) > _MOST_MISFIT or refused:
            return solution
        self.note = (
            f'the motors contradict each other: {name} is measured at {target:.6g}, but '
            f'the solver uses {reached:.6g}'
        )
        return nearest

    def unmet(self, solution: Solution) -> str:
        """Return a message that names the joint that stopped early; '' if all arrived."""
        if self.note:
            return ''
        name, reached = self._worst(solution)
        reason = f'{name} stopped at {reached:.6g} on the way to {self._targets[name]:.6g}'
        if reached == self._targets[name]:
            # The values are reached, so a loop must be open by more than its limit.
            reason = objection(self._model, solution, self._options, self.start)
        if not reason:
            return ''
        if solution.status is Status.TIMEOUT:
            return f'the drive to the measured values takes more than one tick: {reason}'
        limits = listed(solution.active_limits) if solution.active_limits else ''
        limits = f'; at limits: {limits}' if limits else ''
        return f'no configuration with closed loops has the measured values: {reason}{limits}'

    def _worst(self, solution: Solution) -> tuple[str, float]:
        """Return the joint that is farthest from its measured value, and its value."""
        q = {name: float(solution.q[index]) for name, index in self._index.items()}
        name = max(q, key=lambda each: abs(self._targets[each] - q[each]))
        return name, q[name]


# A step is made shorter at most so often, because the kinematics are not linear, until it is
# within the velocity limits. Beyond this factor the goal halts; up to it the command is cut.
_SLOWER, _MOST_EXCESS = 4, 1.1
# Residual with which a goal that moves is met by methods that converge in no number of steps that
# a tick has time for [m or rad].
_SLACK = 1e-3
# Smallest time between ticks [s]; it avoids an empty window for joints without velocity limit.
_INSTANT = 1e-12


class Tracker:
    """
    A solver for successive ticks, each started at the last configuration or a measured one.

    Every solution is checked. A solution with open loops, beyond a limit or not finite is
    rejected, and the last good configuration is held instead.
    """

    def __init__(self, model: LoadedModel) -> None:
        self.model = model  # The present model.
        self.q = model.q_start.copy()  # Present configuration (nq,) [rad or m].
        self._fallback = self.q
        self.settings = model.request.settings  # The parameters of the present tick.
        self.now = 0.0  # Time of the present tick [s].
        self._time: float | None = None
        self._still = np.zeros_like(self.q)
        self._last_request: tuple[object, ...] = ()
        self._last_solution: Solution | None = None

    def replace_model(self, model: LoadedModel) -> None:
        """Replace the model."""
        same_robot = model.request.builds_same_robot(self.model.request)
        self.q = model.start_from(self.model, self.q)
        self.model = model
        self._fallback = self.q if same_robot else model.q_start
        self._time = None
        self._still = np.zeros_like(self.q)

    def at(self, settings: Settings, now: float) -> None:
        """Set the parameters of a tick, and its time [s]."""
        self.settings, self.now = settings, now

    def jump(self, q: Array) -> None:
        """Continue from another configuration with closed loops, at rest."""
        self.q = self._fallback = q.copy()
        self._time = None

    def tick(
        self, goals: Mapping[str, Pose], start: Array | None, notes: tuple[str, ...] = ()
    ) -> TickReport:
        """Solve once, from `start` (nq,) if given, unless the last answer is to this request."""
        settings = self.settings
        request = (goals, settings, self.model.solver.revision.edits)
        last = self._last_solution
        if start is None and last and self.q is last.q and request == self._last_request:
            self._time = self.now
            return TickReport(self.q, self._still, last, notes=notes, goals=goals)
        model = self.model
        q0 = self.q if start is None else model.start_within(start, settings.outside_tolerance)
        max_step = self._way()
        if settings.max_joint_velocity > 0.0:
            max_step = self.window()
        report = self._take(
            lambda: model.solver.solve_pose(goals, q0=q0, max_step=max_step), q0, notes
        )
        report.goals = goals
        # Without joint targets and rest pose, a converged solution does not drift any further.
        converges_once = settings.options.in_kernel and not model.solver.has_preferences
        stays = report.converged and (converges_once or bool((report.q == q0).all()))
        self._last_request, self._last_solution = request, report.solution if stays else None
        return report

    def advance(
        self,
        goals: Callable[[Mapping[str, float]], Mapping[str, Pose]],
        shares: Mapping[str, float],
        start: Array | None,
        reach: Array | None,
    ) -> tuple[TickReport, dict[str, float], dict[str, str]]:
        """
        Solve for goals that move, each as far as the robot can follow it.

        `goals` returns the poses of all goals after shares of the motions of those that move.
        `reach` (nq,): largest change of every value; None = any. Return the report, the share of
        each motion that was made, 0 for a goal that could not be met, and why goals did not move.
        """
        model, made, reasons = self.model, dict(shares), dict[str, str]()
        settings = self.settings
        way = self._way()
        q0 = self.q if start is None else model.start_within(start, settings.outside_tolerance)
        window = self.window() if settings.max_joint_velocity > 0.0 else reach
        if window is not None and reach is not None:
            window = np.minimum(window, reach)

        def halt(solution: Solution) -> Solution:
            reasons.update(unmet_goals(solution, made, settings.options))
            if not reasons:
                return solution
            made.update(dict.fromkeys(reasons, 0.0))
            return model.solver.solve_pose(goals(made), q0=q0, max_step=way)

        def solve() -> Solution:
            solution = halt(model.solver.solve_pose(goals(made), q0=q0, max_step=way))
            # All joints are slower by the same factor, so that links keep their directions.
            for _ in range(_SLOWER):
                excess = 0.0 if window is None else steps_to(solution.q - q0, window)
                if excess <= 1.0:
                    return solution
                made.update({name: share / (1.001 * excess) for name, share in made.items()})
                solution = halt(model.solver.solve_pose(goals(made), q0=q0, max_step=way))
            if window is not None and steps_to(solution.q - q0, window) > _MOST_EXCESS:
                reasons.update(dict.fromkeys(made, 'velocity limits'))
                made.update(dict.fromkeys(made, 0.0))
                solution = model.solver.solve_pose(goals(made), q0=q0, max_step=way)
            return solution

        report = self._take(solve, q0, ())
        report.goals = goals(made)
        return report, made, reasons

    def _way(self) -> Array | None:
        """Return a largest step, so that the way of a tick is checked; None without collisions."""
        if not self.model.robot.collisions.avoided(self.settings.options.avoid_collisions):
            return None
        return np.full(len(self.q), ANY_STEP)

    def drive(
        self,
        values: Mapping[str, float],
        notes: tuple[str, ...],
        start: Array | None = None,
        longest: float | None = None,
        exact: bool = True,
    ) -> TickReport:
        """
        Solve for measured or commanded joint values, in the present assembly branch.

        `start` (nq,): where an earlier tick stopped on the way. Where loops or limits do not allow
        the values, hold the last good configuration if `exact`, otherwise take the nearest one.
        """
        drive = MeasuredDrive(
            self.model, values, self.settings, self.q if start is None else start
        )
        unmet = drive.unmet if exact else (lambda solution: '')
        report = self._take(drive.solve, drive.start, notes, unmet, longest)
        if drive.note:
            report.notes = (*notes, drive.note)
        return report

    def step_to(self, target: Array, reason: str) -> TickReport:
        """Take a step to a configuration at the velocity limits; `held` tells the reason."""
        before = self.q
        q, barred = approach(self.model, before, target, self.window(), self.settings.options)
        velocity = self._velocity(q, before)
        self.q = self._fallback = q
        return TickReport(q, velocity, None, f'{reason}: {barred}' if barred else reason)

    def hold(self, reason: str, stale: bool = False) -> TickReport:
        """Report the last good configuration again, without solving; nothing if input stops it."""
        self.q = self._fallback
        self._time = self.now
        silent = stale and self.settings.on_stale == 'stop'
        return TickReport(self.q, self._still, None, reason, stale=stale, silent=silent)

    def window(self, longest: float | None = None) -> Array:
        """
        Return the largest change of every value since the last report, (nq,) [rad or m].

        An early tick after a late one may move as far as its own time allows. `longest`: time
        after which the window stops growing [s]; default is the tick period.
        """
        share = self.settings.max_joint_velocity or 1.0
        elapsed = self.settings.period
        if self._time is not None:
            elapsed = min(max(self.now - self._time, _INSTANT), longest or elapsed)
        window: Array = share * elapsed * self.model.max_velocity
        return window

    def _take(
        self,
        solve: Callable[[], Solution],
        start: Array,
        notes: tuple[str, ...],
        unmet: Callable[[Solution], str] = lambda solution: '',
        longest: float | None = None,
    ) -> TickReport:
        """Solve, check the solution, and accept it or hold the last good configuration."""
        before, settings = self.q, self.settings
        solution: Solution | None = None
        try:
            solution = solve()
            held = unmet(solution) or objection(self.model, solution, settings.options, start)
            if settings.stay_in_mode and not held:
                held = self._other_mode(solution.q)
        except IkError as error:
            held = str(error)
        if held or solution is None:
            # Before the first good solution this is the description's configuration.
            self.q = self._fallback
            self._time = self.now
            return TickReport(self.q, self._still, solution, held, notes)
        q = solution.q
        if settings.max_joint_velocity > 0.0 and self._time is not None:
            # A measurement may jump. The published configuration must not.
            window = self.window(longest)
            q, held = approach(self.model, before, q, window, settings.options)
        under_way = q is not solution.q and not held
        velocity = self._velocity(q, before)
        self.q = self._fallback = q
        return TickReport(q, velocity, solution, held, notes, under_way=under_way)

    def _other_mode(self, q: Array) -> str:
        """Return why q must not be published because of its mode; '' if it has the present one."""
        labels = self.model.solver.modes().labels(np.array([self.q, q])).tolist()
        if labels[0] == labels[1] or '0' in labels[0]:
            return ''
        return f'the goals lead through a singularity, from mode {labels[0]} to {labels[1]}'

    def _velocity(self, q: Array, before: Array) -> Array:
        now, last, self._time = self.now, self._time, self.now
        if last is None or now <= last:
            return self._still
        return (q - before) / (now - last)


def renewed(tracker: Tracker | None, model: LoadedModel) -> Tracker:
    """Return a tracker with another model, or a new one."""
    if tracker is None:
        return Tracker(model)
    tracker.replace_model(model)
    return tracker


def unmet_goals(
    solution: Solution, names: Iterable[str], options: SolverOptions
) -> dict[str, str]:
    """Return the goals among `names` that are not met, with those of the same chain, and why."""
    result: dict[str, str] = {}
    # With this option goals conflict, and none is expected to be met.
    for chain in () if options.compromise else solution.chains:
        moving = [name for name in names if name in chain.goal_errors]
        slack = 0.0 if options.in_kernel else _SLACK
        if any(
            not value <= max(allowed, slack)
            for name in moving
            for value, allowed in zip(chain.goal_errors[name], chain.tolerances[name], strict=True)
        ):
            limits = chain.active_limits
            reason = f'at limits: {listed(limits)}' if limits else 'at the end of its reach'
            result.update(dict.fromkeys(moving, reason))
    return result
