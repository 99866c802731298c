"""The modes `state_source: solution` and `measured`: solve for the goals at every tick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ik_node.kernels.layout import LARGEST
from ik_node.model.rotation import Array, pose_from_matrix, pose_matrix, rotation_vector_to_quat
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.goal_inputs import GoalInbox, Twist
from ik_node.ros.inputs.joint_inputs import MeasuredState, VELOCITY_TIMEOUT
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import Pose
from ik_node.ros.outputs.diagnostics import TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np

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
        self._active_poses_of: tuple[object, object] = (None, None)
        self._active_poses: dict[str, Pose] = {}

    def report(
        self, tracker: Tracker, settings: Settings, now: float, reach: Array | None = None
    ) -> TickReport:
        """Solve once for the active goals; `reach` (nq,): largest change, None = any."""
        active = self._active(tracker, settings)
        stale = [n for n in self._goals.stale(now, settings.goal_timeout) if n in active]
        notes = [f'goal {name} is stale' for name in stale]
        start, note = self._start(tracker, settings, now)
        notes += [note] if note else []
        if notes and settings.on_stale == 'stop':
            report = tracker.hold(now, '; '.join(notes))
            report.stale = report.silent = True
            return report
        if stale and settings.on_stale == 'hold':
            self._goals.hold(
                stale, lambda name: pose_from_matrix(tracker.model.reached(name, tracker.q))
            )
        poses, self.note = self._poses(active), ''
        motions = {name: motion for name, motion in self._motions.items() if name not in stale}
        # The first command is where the robot is, so goals do not move before the next one.
        if motions and (reach is None or reach.any()):
            report = self._advance(tracker, poses, motions, start, settings, now, reach)
            report.notes = (*notes, *report.notes)
        else:
            report = tracker.tick(poses, start, settings, now, tuple(notes))
        report.stale = bool(stale) and settings.on_stale == 'hold'
        return report

    def move(self, tracker: Tracker, q: Array, settings: Settings, now: float) -> None:
        """Find the motion of each goal that has a twist; `q` (nq,): last command [rad or m]."""
        elapsed = min(max(now - self._moved_at, 0.0), settings.longest_gap)
        self._moved_at = now
        twists = self._goals.twists(now, settings.goal_timeout or VELOCITY_TIMEOUT)
        before, self._motions = self._motions, {}
        for name in sorted(self._active(tracker, settings).intersection(twists)):
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
        settings: Settings,
        now: float,
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

        tried = {name: self._shares[name] for name in motions}
        ended = {
            name: self._end(name, motion, tracker.q, settings) for name, motion in motions.items()
        }
        if all(ended.values()):
            report = tracker.tick(poses, start, settings, now)
            report.notes = tuple(f'goal {n} cannot follow its twist: {ended[n]}' for n in motions)
            self.note = '; '.join(report.notes)
            return report
        report, shares, reasons = tracker.advance(goals, tried, start, settings, now, reach)
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

    def _poses(self, active: frozenset[str]) -> dict[str, Pose]:
        """Return the poses of the active goals; the same object until one of them changes."""
        poses = self._goals.poses()
        if self._active_poses_of[0] is not poses or self._active_poses_of[1] is not active:
            self._active_poses_of = poses, active
            self._active_poses = {name: pose for name, pose in poses.items() if name in active}
        return self._active_poses

    def has_goals(self, tracker: Tracker, settings: Settings) -> bool:
        """Return True if at least one active goal has a pose."""
        return not self._active(tracker, settings).isdisjoint(self._goals.names())

    def goal_poses(self, tracker: Tracker, settings: Settings) -> dict[str, Pose | None]:
        """Return the active goals and their poses; None for a goal without a pose."""
        active, poses = self._active(tracker, settings), self._goals.poses()
        return {goal.name: poses.get(goal.name) for goal in settings.goals if goal.name in active}

    def _active(self, tracker: Tracker, settings: Settings) -> frozenset[str]:
        model, of = tracker.model, self._active_of
        if of is None or of[0] is not model or of[1] is not settings:
            names = frozenset(goal.name for goal in settings.active_goals if goal.takes_part)
            self._active_names = names.intersection(goal.name for goal in model.request.goals)
            self._active_of = model, settings
        return self._active_names

    def _start(self, tracker: Tracker, settings: Settings, now: float) -> tuple[Array | None, str]:
        """Return the measured start or None, and a note if the measurement is missing or stale."""
        if settings.state_source != 'measured':
            return None, ''
        measured = self._measured
        if measured.time is None:
            return None, 'no joint_states yet'
        start = tracker.model.nearest_turn(measured.start(tracker.q), tracker.q)
        if not measured.is_stale(now, settings.joint_state_timeout):
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
