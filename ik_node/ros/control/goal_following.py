"""The modes `state_source: solution` and `measured`: solve for the goals at every tick."""

from __future__ import annotations

from ik_node.kernels.layout import LARGEST
from ik_node.model.rotation import pose_from_matrix, pose_matrix, rotation_vector_to_quat
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.inputs.goal_inputs import GoalInbox
from ik_node.ros.inputs.joint_commands import VELOCITY_TIMEOUT
from ik_node.ros.inputs.measured_state import MeasuredState
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose
from ik_node.ros.outputs.tick_report import TickReport
from ik_node.ros.parameters.settings import Settings
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest distance of a moving goal from its link, besides two ticks of its motion [m or rad].
_LEAD = 1e-3


class GoalFollowing:
    """
    Selects the goals and the start configuration of each tick's solve.

    Parameters
    ----------
    goals : GoalInbox
        The accepted goal poses.
    measured : MeasuredState
        The measured joint values.

    """

    def __init__(self, goals: GoalInbox, measured: MeasuredState) -> None:
        self._goals = goals
        self._measured = measured
        self._moved_at = 0.0
        self._active_of: tuple[LoadedModel, Settings] | None = None
        self._active_names: frozenset[str] = frozenset()
        self._active_poses_of: tuple[object, object] = (None, None)
        self._active_poses: dict[str, Pose] = {}

    def report(self, tracker: Tracker, settings: Settings, now: float) -> TickReport:
        """Solve once for the goals that are active at `now` [s]."""
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
        report = tracker.tick(self._poses(active), start, settings, now, tuple(notes))
        report.stale = bool(stale) and settings.on_stale == 'hold'
        return report

    def move(self, tracker: Tracker, q: Array, settings: Settings, now: float) -> None:
        """
        Move the poses of goals that have a twist.

        Parameters
        ----------
        tracker : Tracker
            Tracker of the present model.
        q : ndarray, shape (nq,)
            Configuration of the robot or of its last command [rad or m].
        settings : Settings
            Parameters of this tick.
        now : float
            Time of the node's clock [s].

        """
        elapsed = min(max(now - self._moved_at, 0.0), 2.0 * settings.period)
        self._moved_at = now
        twists = self._goals.twists(now, settings.goal_timeout or VELOCITY_TIMEOUT)
        for name in self._active(tracker, settings).intersection(twists):
            linear, angular = (elapsed * part for part in twists[name])
            here = tracker.model.reached(name, q)
            before = self._goals.poses().get(name)
            at = here if before is None else pose_matrix(*before)
            # A pose that runs ahead of the robot would move it after the end of the twist.
            lead = [
                np.linalg.norm(at[:3, 3] - here[:3, 3]) - 2.0 * np.linalg.norm(linear),
                np.linalg.norm(at[:3, :3] - here[:3, :3]) - 3.0 * np.linalg.norm(angular),
            ]
            if max(lead) > _LEAD:
                at = here
            moved = pose_matrix((0.0, 0.0, 0.0), rotation_vector_to_quat(angular)) @ at
            # The solver refuses positions beyond this limit.
            moved[:3, 3] = np.clip(at[:3, 3] + linear, -LARGEST, LARGEST)
            self._goals.move(name, pose_from_matrix(moved))

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
            wanted = frozenset(goal.name for goal in settings.active_goals if goal.takes_part)
            self._active_names = wanted.intersection(goal.name for goal in model.request.goals)
            self._active_of = model, settings
        return self._active_names

    def _start(
        self, tracker: Tracker, settings: Settings, now: float
    ) -> tuple[NDArray[np.float64] | None, str]:
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
