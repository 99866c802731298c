"""What a tick solves for: goals, or measured joints that fix the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import NamedTuple

from ik_node.errors import listed
from ik_node.kernels.layout import LARGEST
from ik_node.model.rotation import Array, pose_from_matrix, pose_matrix, rotation_vector_to_quat
from ik_node.ros.control.joint_space import JointSpace
from ik_node.ros.control.tracker import MOST_STEPS, Tracker
from ik_node.ros.inputs.inputs import GoalInbox, MeasuredState, Twist, VELOCITY_TIMEOUT
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import Pose
from ik_node.ros.outputs import TickReport
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
    measurement arrives.
    """

    def __init__(self, measured: MeasuredState, joint_space: JointSpace) -> None:
        self._measured = measured
        self._joint_space = joint_space
        self._last_request: tuple[object, ...] = ()
        self._failed_report: TickReport | None = None
        # Where the last drive started; where it stands if it needs more ticks, and its step count.
        self._start: Array | None = None
        self._partial_q: Array | None = None
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
        self, tracker: Tracker, actuated: Sequence[str], names: Sequence[str], stamp: float
    ) -> TickReport | None:
        """
        Solve for a measurement that has arrived.

        The velocity follows from the measured velocities of the motors, if all of them are known.
        Otherwise it is the difference between this answer and the last answer to the same set of
        motors, divided by the difference of their stamps. If several senders each measure a part
        of the motors, every motor has moved once between these two answers. Return None if no
        actuated joint was measured.
        """
        motors = frozenset(actuated).intersection(names)
        if not motors:
            return None
        report = self._follow(tracker, actuated, QUIET)
        # A held configuration does not belong to this stamp.
        if not report.held:
            measured = tuple(self._measured.values(actuated))
            difference = self._velocity(tracker.model, measured, motors, report.q, stamp)
            velocity = self._joint_space.velocity(report.q)
            report.velocity = difference if velocity is None else velocity
            report.effort = self._joint_space.effort(report.q)
        self._answer, self._answer_model, self._answered_at = report, tracker.model, tracker.now
        return report

    def report(self, tracker: Tracker, actuated: Sequence[str]) -> TickReport:
        """Return the last answer, or a new one if measurements of these joints have stopped."""
        answer = self._answer
        if answer is not None and answer.q is tracker.q and self._answer_model is tracker.model:
            quiet = min(tracker.settings.joint_state_timeout or QUIET, QUIET)
            if tracker.now - self._answered_at <= quiet:
                return answer
        return self._follow(tracker, actuated)

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
        self, tracker: Tracker, actuated: Sequence[str], longest: float | None = None
    ) -> TickReport:
        """Solve for the passive joints once; for `longest` see `Tracker.window`."""
        measured, settings = self._measured, tracker.settings
        known = measured.values(actuated)
        missing = [name for name in actuated if name not in known]
        stale = measured.stale(actuated, tracker.now, settings.joint_state_timeout)
        notes = []
        if missing:
            notes.append('not measured yet: ' + listed(missing))
        if stale:
            notes.append('joint_states is stale: ' + listed(stale))
        stopped = notes and settings.on_stale == 'stop'
        if stopped or not known or (stale and settings.on_stale == 'hold'):
            return tracker.hold('; '.join(notes), stale=True)
        present = dict(zip(tracker.model.joint_names, tracker.q.tolist(), strict=True))
        values = {name: known.get(name, present[name]) for name in actuated}
        # A failed attempt takes long, so it is not repeated while its input stays the same.
        request = (values, tracker.model.solver.revision.edits, settings.options)
        stayed, same = self._start is tracker.q, request == self._last_request
        failed = self._failed_report
        if failed is not None and stayed and same:
            held = tracker.hold(failed.held)
            return dataclasses.replace(held, solution=failed.solution, notes=tuple(notes))
        if not (stayed and same):
            self._partial_steps = 0
        start = self._partial_q if stayed else None
        self._start, self._last_request = tracker.q, request
        report = tracker.drive(values, tuple(notes), start, longest)
        solution, self._partial_q = report.solution, None
        if solution is not None and solution.status is Status.TIMEOUT:
            self._partial_steps += solution.iterations
            self._partial_q = solution.q if self._partial_steps < MOST_STEPS else None
        self._failed_report = report if report.held and self._partial_q is None else None
        return report


# Largest distance of the last command from the goal that moves by a twist, besides two ticks of
# its motion [m or rad].
_LEAD = 1e-3
# Smallest share of a twist that is tried while its whole step leads to where the robot cannot
# follow.
_LEAST_SHARE = 1.0 / 64.0


class GoalMotion(NamedTuple):
    """The motion of a goal by its twist in one tick."""

    twist: Twist  # The twist of the goal.
    begin: Array  # Pose of the goal before the tick, root frame, (4, 4).
    linear: Array  # Motion by the whole twist, root axes (3,) [m].
    angular: Array  # The same [rad].

    def pose(self, share: float) -> Pose:
        """Return the pose after a share of the motion, along the same line and axis."""
        rotation = rotation_vector_to_quat(share * self.angular)
        moved = pose_matrix((0.0, 0.0, 0.0), rotation) @ self.begin
        # The solver refuses positions beyond this limit.
        moved[:3, 3] = np.clip(self.begin[:3, 3] + share * self.linear, -LARGEST, LARGEST)
        return pose_from_matrix(moved)


class GoalFollowing:
    """Selects the goals and the start configuration of each tick's solve."""

    def __init__(self, goals: GoalInbox, measured: MeasuredState) -> None:
        self._goals = goals
        self._measured = measured
        self.note = ''  # Why a goal does not move by its whole twist; '' if each one does.
        self._moved_at = 0.0
        # The motion of each goal that has a twist in this tick, and the share that is tried next.
        self._motions: dict[str, GoalMotion] = {}
        self._shares: dict[str, float] = {}
        # For each goal whose smallest step failed: the configuration, its twist, the settings, and
        # the reason. A failed solve takes long, so it is not repeated while they stay the same.
        self._ended: dict[str, tuple[Array, Twist, Settings, str]] = {}
        self._active_of: tuple[LoadedModel, Settings] | None = None
        self._active_names: frozenset[str] = frozenset()

    def report(self, tracker: Tracker, reach: Array | None = None) -> TickReport:
        """Solve once for the active goals; `reach` (nq,): largest change, None = any."""
        settings, now = tracker.settings, tracker.now
        active = self._active(tracker)
        stale = [n for n in self._goals.stale(now, settings.goal_timeout) if n in active]
        notes = [f'goal {name} is stale' for name in stale]
        start, note = self._start(tracker)
        notes += [note] if note else []
        if notes and settings.on_stale == 'stop':
            return tracker.hold('; '.join(notes), stale=True)
        if stale and settings.on_stale == 'hold':
            self._goals.hold(
                stale, lambda name: pose_from_matrix(tracker.model.reached(name, tracker.q))
            )
        poses = {name: pose for name, pose in self._goals.poses().items() if name in active}
        self.note = ''
        motions = {name: motion for name, motion in self._motions.items() if name not in stale}
        # The first command is where the robot is, so goals do not move before the next one.
        if motions and (reach is None or reach.any()):
            report = self._advance(tracker, poses, motions, start, reach)
            report.notes = (*notes, *report.notes)
        else:
            report = tracker.tick(poses, start, tuple(notes))
        report.stale = bool(stale) and settings.on_stale == 'hold'
        return report

    def move(self, tracker: Tracker, q: Array) -> None:
        """Find the motion of each goal that has a twist; `q` (nq,): last command [rad or m]."""
        settings, now = tracker.settings, tracker.now
        elapsed = min(max(now - self._moved_at, 0.0), settings.longest_gap)
        self._moved_at = now
        twists = self._goals.twists(now, settings.goal_timeout or VELOCITY_TIMEOUT)
        before, self._motions = self._motions, {}
        for name in sorted(self._active(tracker).intersection(twists)):
            # The first tick of a twist moves by the time since it arrived.
            time = elapsed if name in before else min(elapsed, self._goals.age(name, now))
            linear, angular = (time * part for part in twists[name])
            here = tracker.model.reached(name, tracker.q)
            pose = self._goals.poses().get(name)
            begin = here if pose is None else pose_matrix(*pose)
            # A pose that runs ahead of the robot would move it after the end of the twist.
            lead = 0.0 if name in before else _distance(begin, here)
            if q is not tracker.q:
                behind = tracker.model.reached(name, q)
                ahead = max(np.linalg.norm(linear), np.linalg.norm(angular))
                if _distance(behind, here) > _LEAD + 2.0 * ahead:
                    here, lead = behind, np.inf
            if lead > _LEAD:
                begin = here
            self._goals.move(name, pose_from_matrix(begin))
            self._motions[name] = GoalMotion(twists[name], begin, linear, angular)
            self._shares.setdefault(name, 1.0)
        self._shares = {name: self._shares[name] for name in self._motions}

    def _advance(
        self,
        tracker: Tracker,
        poses: Mapping[str, Pose],
        motions: Mapping[str, GoalMotion],
        start: Array | None,
        reach: Array | None,
    ) -> TickReport:
        """
        Move goals by their twists as far as the robot can follow them along their line.

        A goal that cannot be met after its step stays where it is, together with the goals of
        the same chain, and the next ticks try shorter steps. If a joint would be faster than its
        limit, all goals move by the same smaller share.
        """

        def goals(shares: Mapping[str, float]) -> dict[str, Pose]:
            return {
                **poses,
                **{name: motion.pose(shares[name]) for name, motion in motions.items()},
            }

        settings = tracker.settings
        tried = {name: self._shares[name] for name in motions}
        ended = {
            name: self._end(name, motion, tracker.q, settings) for name, motion in motions.items()
        }
        if all(ended.values()):
            report = tracker.tick(poses, start)
            report.notes = tuple(f'goal {n} cannot follow its twist: {ended[n]}' for n in motions)
            self.note = '; '.join(report.notes)
            return report
        report, shares, reasons = tracker.advance(goals, tried, start, reach)
        notes = []
        for name, share in shares.items():
            if not report.held:
                self._goals.move(name, motions[name].pose(share))
            if name in reasons:
                notes.append(f'goal {name} cannot follow its twist: {reasons[name]}')
                self._shares[name] = max(0.5 * tried[name], _LEAST_SHARE)
                if tried[name] <= _LEAST_SHARE:
                    motion, q = motions[name], report.q
                    self._ended[name] = (q, motion.twist, settings, reasons[name])
            else:
                if share < 1.0:
                    why = 'near the end of its way' if share == tried[name] else 'velocity limits'
                    notes.append(f'goal {name} moves at {share:.2g} of its twist: {why}')
                self._shares[name] = min(2.0 * tried[name], 1.0)
        self.note = '; '.join(notes)
        report.notes = tuple(notes)
        return report

    def _end(self, name: str, motion: GoalMotion, q: Array, settings: Settings) -> str:
        """Return why a goal could not move before, if nothing has changed since; else ''."""
        if name not in self._ended:
            return ''
        there, twist, then, reason = self._ended[name]
        if then is settings and np.array_equal(there, q) and np.array_equal(twist, motion.twist):
            return reason
        del self._ended[name]
        return ''

    def late_twist(self, settings: Settings, now: float) -> str:
        """Drop twists that are too old; return a message about the last one, or ''."""
        longest = settings.goal_timeout or VELOCITY_TIMEOUT
        self._goals.twists(now, longest)
        if not self._goals.late:
            return ''
        name, time = max(self._goals.late.items(), key=lambda each: each[1])
        return f'the last twist of {name} is {now - time:.3g} s old, more than {longest:g} s'

    def has_goals(self, tracker: Tracker) -> bool:
        """Return True if at least one active goal has a pose."""
        return not self._active(tracker).isdisjoint(self._goals.names())

    def goal_poses(self, tracker: Tracker) -> dict[str, Pose | None]:
        """Return the active goals and their poses; None for a goal without a pose."""
        active, poses = self._active(tracker), self._goals.poses()
        return {
            goal.name: poses.get(goal.name)
            for goal in tracker.settings.goals
            if goal.name in active
        }

    def _active(self, tracker: Tracker) -> frozenset[str]:
        model, settings, of = tracker.model, tracker.settings, self._active_of
        if of is None or of[0] is not model or of[1] is not settings:
            names = frozenset(goal.name for goal in settings.active_goals if goal.takes_part)
            self._active_names = names.intersection(goal.name for goal in model.request.goals)
            self._active_of = model, settings
        return self._active_names

    def _start(self, tracker: Tracker) -> tuple[Array | None, str]:
        """Return the measured start or None, and a note if the measurement is missing or stale."""
        settings = tracker.settings
        if settings.state_source != 'measured':
            return None, ''
        measured = self._measured
        if measured.time is None:
            return None, 'no joint_states yet'
        start = tracker.model.nearest_turn(measured.start(tracker.q), tracker.q)
        if not measured.is_stale(tracker.now, settings.joint_state_timeout):
            return start, ''
        ignored = settings.on_stale == 'ignore'
        return start if ignored else None, 'joint_states is stale'


def _distance(one: Array, other: Array) -> float:
    """Return the larger of the distance [m] and the angle [rad] between two poses (4, 4)."""
    move = np.linalg.norm(one[:3, 3] - other[:3, 3])
    # The chord between two rotation matrices is sqrt(8) sin(angle / 2).
    rotation = 2.0 * np.arcsin(
        min(np.linalg.norm(one[:3, :3] - other[:3, :3]) / np.sqrt(8.0), 1.0)
    )
    return float(max(move, rotation))
