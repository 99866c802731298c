"""Plans in the joint space, which become trajectories of the motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
import math
from typing import Any, NamedTuple

from action_msgs.msg import GoalStatus
from ik_node.errors import IkError, listed, PlanError
from ik_node.model.rotation import Array
from ik_node.ros.control.motion import FollowedPlan, Motion
from ik_node.ros.loading import as_refusal
from ik_node.ros.messages import RefusedInputError, seconds_from_stamp
from ik_node.ros.outputs import CommandPublishers, part_of, point_at
from ik_node.ros.parameters.settings import Outlet, Settings, split
from ik_node.ros.process import BackgroundWork, NodeTime, optional
from ik_node.transmission.plan import actuator_plan, ActuatorPlan, START_TOLERANCE
from ik_node.transmission.transmission import PreparedTransmission, Transmission
import numpy as np
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory


class JointPlan(NamedTuple):
    """A plan in the joint space, in the order of the arguments of `actuator_plan`."""

    times: Array  # Times from the start (n,) [s].
    position: Array  # (n, n_joints) [rad or m]
    # None if no point has any. A point without a velocity has NaN, (n, n_joints).
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None


def read_plan(topic: str, message: Any, joints: Sequence[str]) -> JointPlan:
    """Read a trajectory_msgs/JointTrajectory with the joints in any order, or refuse it."""
    names = list(message.joint_names)
    if sorted(names) != sorted(joints):
        allowed = f'the joints of transmission.joints, each once: {listed(joints) or "none"}'
        raise RefusedInputError(topic, 'joint_names', names, allowed)
    if not message.points:
        raise RefusedInputError(topic, 'points', [], 'a plan needs a point')
    order = [names.index(name) for name in joints]
    parts = [
        _part(topic, message.points, field, order)
        for field in ('positions', 'velocities', 'accelerations', 'effort')
    ]
    if parts[0] is None:
        raise RefusedInputError(topic, 'points[0].positions', [], 'every point needs positions')
    times = np.array([seconds_from_stamp(point.time_from_start) for point in message.points])
    return JointPlan(times, parts[0], *parts[1:])


def _part(topic: str, points: Sequence[Any], field: str, order: Sequence[int]) -> Array | None:
    """Return one part of all points, (n, n_joints), NaN where a point lacks it; None if all do."""
    parts = [list(getattr(point, field)) for point in points]
    if not any(parts) or (field == 'accelerations' and not all(parts)):
        return None
    for index, part in enumerate(parts):
        name = f'points[{index}].{field}'
        if not part and field == 'velocities':
            parts[index] = [math.nan] * len(order)
        elif len(part) != len(order):
            reason = f'{len(order)} joints need as many'
            raise RefusedInputError(topic, name, f'{len(part)} numbers', reason)
        elif not np.isfinite(part).all():
            raise RefusedInputError(topic, name, part, 'not a finite number')
    return np.array(parts)[:, order]


def trajectory_of(plan: ActuatorPlan, header: Any, motors: Sequence[str]) -> JointTrajectory:
    """Return a plan of motors as a trajectory with the header of the joint-space plan."""
    order = [plan.actuators.index(name) for name in motors]
    points = []
    for index, time in enumerate(plan.times.tolist()):
        parts = {
            'positions': plan.position[index, order].tolist(),
            'velocities': plan.velocity[index, order].tolist(),
            'accelerations': plan.acceleration[index, order].tolist(),
            'effort': [] if plan.effort is None else plan.effort[index, order].tolist(),
        }
        points.append(point_at(time, **parts))
    return JointTrajectory(header=header, joint_names=list(motors), points=points)


# Largest number of points at which the distance to singularities is computed.
_EXAMINED = 100
# Time in which motors come to rest if a plan is stopped [s].
_BRAKING = 0.2
# Motors that are farther behind their plan do not follow it [s].
_LAG = 0.25
# Motors that are as near as this to two points of a path are at the later one [rad or m].
_SAME_PLACE = 1e-3


@dataclass(frozen=True)
class ConvertedPlan:
    """A plan of the motors, ready to be sent."""

    trajectory: JointTrajectory  # The trajectory of the motors.
    begin: float  # When it begins, by the node's clock [s].
    start: Array  # The configuration from which the plan begins (nq,) [rad or m].
    made: ActuatorPlan  # The plan of the motors, with the configurations of the robot.
    summary: str  # Number of points, and the singularity that the plan passes, for the log.
    warning: bool  # True if the plan passes near a singularity.

    def log_summary(self, log: Any, topic: str) -> None:
        """Log that the plan was converted."""
        (log.warning if self.warning else log.info)(f'{topic}: {self.summary}')

    @property
    def end(self) -> float:
        """Return when it ends, by the node's clock [s]."""
        return self.begin + float(self.made.times[-1])

    def braking(self, now: float, measured: Mapping[str, float]) -> JointTrajectory:
        """
        Return a trajectory that brings the motors to rest on the path, from `now` on [s].

        It begins where the motors are measured [rad or m]: they lag behind the plan, or do not
        follow it, because their controller was deactivated.
        """
        made, names, elapsed = self.made, list(self.trajectory.joint_names), now - self.begin
        here, away = self._time_of(now, measured)
        if away > START_TOLERANCE:
            positions = [measured[name] for name in names]
        else:
            ahead = here + (0.5 * _BRAKING if elapsed - here < _LAG else 0.0)
            columns = made.position[:, [made.actuators.index(name) for name in names]].T
            positions = [float(np.interp(ahead, made.times, each)) for each in columns]
        point = point_at(_BRAKING, positions=positions, velocities=[0.0] * len(names))
        return JointTrajectory(joint_names=names, points=[point])

    def behind(self, now: float, measured: Mapping[str, float]) -> float:
        """Return by how much the motors are behind the plan [s]."""
        return max(now - self.begin, 0.0) - self._time_of(now, measured)[0]

    def _time_of(self, now: float, measured: Mapping[str, float]) -> tuple[float, float]:
        """
        Return where on the path the motors are measured, as a time since the begin of the plan.

        It is the last time up to now. The second value is their distance from the path
        [rad or m]. Without measurements of all motors they are where the plan is now.
        """
        made, names = self.made, self.trajectory.joint_names
        latest, times = max(now - self.begin, 0.0), made.times
        if not measured.keys() >= {*names}:
            return latest, 0.0
        path = made.position[:, [made.actuators.index(name) for name in names]]
        here = np.array([measured[name] for name in names])
        begun = max(int(np.searchsorted(times, latest)), 1)
        change, span = np.diff(path, axis=0)[:begun], np.diff(times)[:begun]
        share = ((here - path[:begun]) * change).sum(axis=1)
        share /= np.maximum((change**2).sum(axis=1), 1e-30)
        share = np.clip(share, 0.0, np.minimum((latest - times[:begun]) / span, 1.0))
        away = np.linalg.norm(path[:begun] + share[:, None] * change - here, axis=1)
        nearest = int(np.flatnonzero(away <= away.min() + _SAME_PLACE)[-1])
        return float(times[nearest] + share[nearest] * span[nearest]), float(away[nearest])


class PlanConversion:
    """Converts plans for the present robot in a thread: a long plan takes longer than a tick."""

    def __init__(
        self,
        motion: Motion,
        settings: Callable[[], Settings],
        time: NodeTime,
        work: BackgroundWork,
    ) -> None:
        self.motion, self.now = motion, time.now
        self._settings, self._time, self._work = settings, time, work
        # How many plans have arrived that the state of the robot allows.
        self._arrived = 0

    async def convert(self, topic: str, message: Any) -> ConvertedPlan:
        """
        Return the trajectory of the motors for a trajectory_msgs/JointTrajectory.

        Of several plans the newest counts: it ends the conversion of those before. Raise
        RefusedInputError if the message, the state of the robot, or a limit does not allow the
        plan, or if a newer one has arrived or the robot has moved while it was converted.
        """
        motion, settings = self.motion, self._settings()
        plan = read_plan(topic, message, motion.joint_space.names)
        model, outputs = motion.model, motion.roles.outputs
        begin = self._begin(topic, message, plan)
        start, reason = motion.plan_start(settings, self.now())
        motors, grouped = motion.joint_space.motors, bool(settings.groups)
        if not {*motors} <= {*outputs} or (not grouped and len(motors) < len(outputs)):
            reason = f'output.joints are not the motors {listed(motors)}'
        if reason:
            raise RefusedInputError(topic, 'plan', f'{len(plan.times)} points', reason)
        number = self._arrived = self._arrived + 1
        try:
            transmission = motion.joint_space.transmission()
            converted, warning = await self._work.run(
                lambda: _converted(
                    transmission, plan, start, settings, lambda: number != self._arrived
                )
            )
            if number != self._arrived:
                raise PlanError('a newer plan has arrived in the meantime')
            if motion.model is not model or motion.paused:
                raise PlanError('the node was paused or got another robot in the meantime')
            self._check_start(start, settings)
        except IkError as error:
            points = f'{len(plan.times)} points'
            raise RefusedInputError(topic, 'plan', points, str(error)) from error
        added = len(converted.times) - len(plan.times)
        summary = f'plan of {len(plan.times)} points, with {added} added'
        return ConvertedPlan(
            trajectory_of(converted, message.header, [each for each in outputs if each in motors]),
            max(begin, self._begin(topic, message, plan)),
            start,
            converted,
            f'{summary}; {warning}' if warning else summary,
            bool(warning),
        )

    def _begin(self, topic: str, message: Any, plan: JointPlan) -> float:
        """Return when a plan begins [s]; refuse one that has ended already."""
        stamp = seconds_from_stamp(message.header.stamp)
        begin, now = self._time.of(stamp), self.now()
        late = now - begin - plan.times[-1]
        if stamp and late > 0.0:
            reason = f'the plan ended {late:.3g} s ago'
            raise RefusedInputError(topic, 'header.stamp', stamp, reason)
        return begin

    def _check_start(self, start: Array, settings: Settings) -> None:
        """Compare the robot with the configuration from which a plan was converted."""
        motion = self.motion
        here, reason = motion.plan_start(settings, self.now())
        if reason or motion.model is None:
            raise PlanError(reason)
        away = np.abs(motion.model.nearest_turn(here, start) - start)
        worst = int(away.argmax())
        if away[worst] > START_TOLERANCE:
            raise PlanError(
                f'joint {motion.model.joint_names[worst]} has moved by {away[worst]:.3g} '
                f'while the plan was converted, more than {START_TOLERANCE:g}'
            )


def _converted(
    transmission: Transmission,
    plan: JointPlan,
    start: Array,
    settings: Settings,
    is_replaced: Callable[[], bool],
) -> tuple[ActuatorPlan, str]:
    """Return the plan of the motors, and the warning of the worst singularity on its way."""
    made = actuator_plan(
        transmission,
        *plan,
        q0=start,
        tolerance=settings.transmission_path_tolerance,
        effort_scale=settings.transmission_max_effort_scale,
        is_replaced=is_replaced,
    )
    every = -(-len(made.q) // _EXAMINED)
    worst = min(map(transmission.singularity, made.q[::every]), key=lambda each: each.nearness)
    names = transmission.solver.joint_names
    threshold = settings.transmission_singularity_warning
    return made, worst.warning(threshold, names, transmission.joints)


TOPIC = 'joint_trajectory_command'


def add_plan_topic(
    node: Node,
    conversion: PlanConversion,
    publishers: CommandPublishers,
    refuse: Callable[[str, str], None],
) -> None:
    """
    Subscribe to plans, which go out on `~/joint_trajectory` as trajectories of the motors.

    A plan that arrives while another one is converted replaces it.
    """
    motion, log = conversion.motion, node.get_logger()

    async def take(message: Any) -> None:
        try:
            plan = await conversion.convert(TOPIC, message)
            reason = publishers.publish_trajectory(plan.trajectory)
            if reason:
                raise IkError(f'{TOPIC}: {reason}')
        except Exception as error:  # noqa: BLE001
            # Also a defect of this package, which must not end the node.
            refuse(TOPIC, str(as_refusal(error)))
            return

        def measured() -> dict[str, float]:
            return motion.measured(plan.trajectory.joint_names)

        def stop(reason: str) -> None:
            publishers.stop_plan(plan.braking(conversion.now(), measured()))
            log.info(f'{TOPIC}: {reason}')

        def behind() -> float:
            return plan.behind(conversion.now(), measured())

        motion.follow_plan(FollowedPlan(stop, True, plan.end, behind))
        plan.log_summary(log, TOPIC)

    group = ReentrantCallbackGroup()
    node.create_subscription(JointTrajectory, f'~/{TOPIC}', take, 1, callback_group=group)


ACTION = 'follow_joint_trajectory'
# A message or point that names a motor, and the motor's place in it.
_Moving = tuple[Any, int]
# How often the controllers of a plan are checked [s].
_CHECKED_EVERY = 0.25
# A plan should have ended after this many times its duration and this long [s]; controllers may
# run it more slowly, and wait until the motors have settled.
_LONGEST_FACTOR, _LONGEST_DELAY = 1.5, 5.0


def add_plan_action(
    node: Node,
    outlets: Sequence[Outlet],
    conversion: PlanConversion,
    publishers: CommandPublishers,
) -> PlanAction | None:
    """Offer ~/follow_joint_trajectory, if a controller is named and control_msgs is installed."""
    outlets = [outlet for outlet in outlets if outlet.action]
    if not outlets:
        return None
    lost = f'output.action is set, but there is no action ~/{ACTION}'
    actions = optional('control_msgs.action', node.get_logger().warning, lost)
    if actions is None:
        return None
    return PlanAction(node, actions.FollowJointTrajectory, outlets, conversion, publishers)


class PlanAction:
    """
    An action server for joint-space plans, in front of the actions of controllers.

    Each controller gets the part of the plan for its joints. Feedback is converted to the joint
    space. Cancels go to the controllers. The plan succeeds when all have followed it; if one does
    not, the others are cancelled, and its result is passed on. A newer plan replaces an older one
    as the controllers decide.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        outlets: Sequence[Outlet],
        conversion: PlanConversion,
        publishers: CommandPublishers,
    ) -> None:
        self._node, self._type, self._publishers = node, action_type, publishers
        self._conversion, self._motion, self._now = conversion, conversion.motion, conversion.now
        self._runs: dict[bytes, _Run] = {}
        group = ReentrantCallbackGroup()
        self._clients: list[tuple[Outlet, Any]] = [
            (outlet, ActionClient(node, action_type, outlet.action, callback_group=group))
            for outlet in outlets
        ]
        self._server: Any = ActionServer(
            node,
            action_type,
            f'~/{ACTION}',
            self._execute,
            callback_group=group,
            cancel_callback=self._on_cancel,
        )
        # Controllers may be gone while simulated time stands still.
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(_CHECKED_EVERY, self._check, callback_group=group, clock=clock)

    async def _execute(self, goal: Any) -> Any:
        """Convert a plan, have the controllers follow it, and return their result."""
        try:
            absent = [each.action for each, client in self._clients if not _is_there(client)]
            if absent:
                raise IkError(f'the controller does not offer {listed(absent)}')
            plan = await self._conversion.convert(ACTION, goal.request.trajectory)
            outlets = [outlet for outlet, _ in self._clients]
            takers, reason = split(outlets, list(plan.trajectory.joint_names))
            if reason:
                raise IkError(reason)
        except IkError as error:
            return self._refused(goal, error)
        if goal.is_cancel_requested:
            goal.canceled()
            return self._type.Result()
        self._log(goal, plan)
        tolerance = seconds_from_stamp(goal.request.goal_time_tolerance)
        run = _Run(self._type.Result(), plan, tolerance, self._now())
        followed, key = FollowedPlan(run.cancel), bytes(goal.goal_id.uuid)
        self._motion.follow_plan(followed)
        self._publishers.leave_to_plan()
        self._runs[key] = run
        try:
            parts = [
                (outlet.action, client, self._request(goal, plan, outlet))
                for outlet, client in self._clients
                if outlet in takers
            ]
            run.send(parts, self._feedback(goal, plan))
            if not await run.accepted:
                return self._refused(goal, IkError(run.result.error_string))
            followed.accepted = True
            self._motion.follow_plan(followed)
            outcome = await run.ended
        finally:
            del self._runs[key]
            self._motion.forget_plan(followed)
        if outcome == 'succeeded':
            goal.succeed()
        elif outcome == 'cancelled' and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return run.result

    def _check(self) -> None:
        """Give up plans whose controllers are gone, or should have ended long ago."""
        for run in list(self._runs.values()):
            run.check(self._now())

    def _on_cancel(self, goal: Any) -> Any:
        run = self._runs.get(bytes(goal.goal_id.uuid))
        if run is not None:
            run.cancel('cancelled')
        return CancelResponse.ACCEPT

    def _refused(self, goal: Any, error: IkError) -> Any:
        """Abort a goal, and return a result with the reason."""
        self._node.get_logger().warning(f'~/{ACTION}: {error}')
        goal.abort()
        result = self._type.Result()
        codes = {'joint_names': result.INVALID_JOINTS, 'header.stamp': result.OLD_HEADER_TIMESTAMP}
        field = error.field if isinstance(error, RefusedInputError) else ''
        result.error_code, result.error_string = codes.get(field, result.INVALID_GOAL), str(error)
        return result

    def _log(self, goal: Any, plan: ConvertedPlan) -> None:
        """Log the conversion of a plan; tolerances of joints are not those of motors."""
        log = self._node.get_logger()
        if goal.request.path_tolerance or goal.request.goal_tolerance:
            log.warning(
                f'~/{ACTION}: tolerances in the joint space are ignored; those of the controller '
                'apply',
                once=True,
            )
        plan.log_summary(log, f'~/{ACTION}')

    def _request(self, goal: Any, plan: ConvertedPlan, outlet: Outlet) -> Any:
        """Return the goal for a controller."""
        request = self._type.Goal()
        request.trajectory = part_of(plan.trajectory, outlet.joints)
        request.goal_time_tolerance = goal.request.goal_time_tolerance
        return request

    def _feedback(self, goal: Any, plan: ConvertedPlan) -> Callable[[Any], None]:
        """Return the callback that passes on feedback of the controllers in the joint space."""
        space, latest = self._motion.joint_space, dict[str, _Moving]()
        transmission = space.transmission()
        prepared = transmission.prepare_to_joints()
        prepared.start(plan.start)

        def pass_on(message: Any) -> None:
            motors, feedback = message.feedback, self._type.Feedback()
            if not motors.joint_names:
                return
            for index, name in enumerate(motors.joint_names):
                latest[name] = motors, index
            feedback.header, feedback.joint_names = motors.header, list(space.names)
            try:
                told = [latest[name] for name in transmission.actuators]
                for part in ('desired', 'actual'):
                    points = [(getattr(each, part), index) for each, index in told]
                    _to_joints(prepared, points, getattr(feedback, part))
            except (IkError, KeyError, IndexError):
                # Without positions of all motors there is no joint space.
                return
            difference = np.subtract(feedback.desired.positions, feedback.actual.positions)
            feedback.error.positions = difference.tolist()
            feedback.error.time_from_start = motors.error.time_from_start
            goal.publish_feedback(feedback)

        return pass_on


class _Run:
    """A plan at the controllers, from the first request to the last result."""

    def __init__(self, result: Any, plan: ConvertedPlan, tolerance: float, now: float) -> None:
        # That of the plan: of the first controller that fails, or of the last one.
        self.result = result
        # True when all controllers have accepted the plan, False if one has not.
        self.accepted: Any = Future()
        self.ended: Any = Future()  # How the plan has ended: succeeded, cancelled or aborted.
        self._plan = plan
        self._answer_by = now + _LONGEST_DELAY
        duration = plan.end - plan.begin
        self._last = plan.begin + _LONGEST_FACTOR * duration + tolerance + _LONGEST_DELAY
        self._clients: dict[str, Any] = {}
        self._handles: dict[str, Any] = {}
        self._waiting: set[str] = set()
        self._cancelled = False
        self._stop_reason = ''

    def send(self, parts: Sequence[tuple[str, Any, Any]], feedback: Callable[[Any], None]) -> None:
        """Send the part of each controller: its action, the client and the request."""
        self._clients = {name: client for name, client, _ in parts}
        self._waiting = {*self._clients}
        for name, client, request in parts:
            sent = client.send_goal_async(request, feedback_callback=feedback)
            sent.add_done_callback(partial(self._on_answer, name))

    def cancel(self, reason: str) -> None:
        """Cancel the plan at every controller that follows it, also at those yet to accept it."""
        self._stop_reason = self._stop_reason or reason
        for name, handle in self._handles.items():
            if name in self._waiting:
                handle.cancel_goal_async()

    def check(self, now: float) -> None:
        """Give the plan up if a controller is gone or late."""
        for name in sorted(self._waiting):
            if not _is_there(self._clients[name]):
                self._fail(f'{name} is gone: its controller has ended')
            elif name not in self._handles and now > self._answer_by:
                self._fail(f'{name} does not answer')
            elif now > self._last:
                late = now - self._plan.end
                self._fail(f'{name} gives no result, {late:.3g} s after the end of the plan')

    def _on_answer(self, name: str, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._waiting.discard(name)
            self._fail(f'{name} refused the trajectory of the motors{self._likely_reason()}')
            return
        self._handles[name] = handle
        handle.get_result_async().add_done_callback(partial(self._on_result, name))
        if self._stop_reason:
            handle.cancel_goal_async()
        if len(self._handles) == len(self._clients) and not self.accepted.done():
            self.accepted.set_result(True)

    def _likely_reason(self) -> str:
        """Return what a joint_trajectory_controller refuses by default; it does not tell why."""
        trajectory = self._plan.trajectory
        last = np.array(trajectory.points[-1].velocities)
        if last.any():
            name, largest = trajectory.joint_names[int(np.abs(last).argmax())], np.abs(last).max()
            return (
                f': the last point is in motion ({name} at {largest:.3g}), which it takes only '
                'with allow_nonzero_velocity_at_trajectory_end'
            )
        if any(len(point.effort) for point in trajectory.points):
            return ': the plan has efforts, which many controllers do not take'
        return '; the reason is in its log'

    def _on_result(self, name: str, future: Any) -> None:
        outcome = future.result()
        self._waiting.discard(name)
        cancelled = outcome.status == GoalStatus.STATUS_CANCELED
        if outcome.status != GoalStatus.STATUS_SUCCEEDED and not (cancelled and self._stop_reason):
            if len(self._clients) > 1:
                outcome.result.error_string = f'{name}: {outcome.result.error_string}'
            self._end(outcome.result, 'aborted')
            return
        self._cancelled |= cancelled
        if not self._waiting:
            if self._cancelled and not outcome.result.error_string:
                outcome.result.error_string = self._stop_reason
            self._end(outcome.result, 'cancelled' if self._cancelled else 'succeeded')

    def _fail(self, reason: str) -> None:
        self.result.error_code, self.result.error_string = self.result.INVALID_GOAL, reason
        self._end(self.result, 'aborted')

    def _end(self, result: Any, outcome: str) -> None:
        """End the plan with a result, and cancel it where it still goes on."""
        if self.ended.done():
            return
        self.result = result
        self.cancel('another controller does not follow the plan')
        if not self.accepted.done():
            self.accepted.set_result(False)
        self.ended.set_result(outcome)


def _is_there(client: Any) -> bool:
    """Return True if the action of a controller exists."""
    return bool(client.server_is_ready())


def _to_joints(prepared: PreparedTransmission, points: list[_Moving], into: Any) -> None:
    """Write the points and places of the motors as a point of the joint space."""
    velocities = None
    if all(len(point.velocities) for point, _ in points):
        velocities = [point.velocities[index] for point, index in points]
    state = prepared([point.positions[index] for point, index in points], velocities)
    into.positions = state.joint_position.tolist()
    into.velocities = [] if state.joint_velocity is None else state.joint_velocity.tolist()
    into.time_from_start = points[0][0].time_from_start
