"""Session of the browser page that shows and controls a running node, and its start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
import dataclasses
import math
import threading
from typing import Any, cast, NamedTuple

from ik_node.description.read import text_alone
from ik_node.description.sidecars.obstacles import obstacles_from_json
from ik_node.errors import IkError, MOST_TEXT, OptionError, plain, UnknownFrameError
from ik_node.model.collisions import Distance
from ik_node.model.rotation import Array, matrix_to_euler, matrix_to_quat, pose_matrix
from ik_node.robot import load_robot, Robot
from ik_node.ros.loading import add_goal, JointRoles, lock_only, path_of_url
from ik_node.ros.messages import FrameNames, pose_from_message, RefusedInputError, topic_part
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.ros_client.remote_node import RemoteNode
from ik_node.scene.chain_report import ChainReport
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.result import PoseError
from ik_node.solver.solutions import Solutions
from ik_node.viewer.sessions.session import Session
import numpy as np
from numpy.typing import ArrayLike
import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.validate_topic_name import validate_topic_name

# Message of the status if there is no chain.
_NOTHING_TO_DO = 'CONVERGED: no goal and no loop'


def reports_of(message: Any) -> list[ChainReport]:
    """Return one report per chain of a message of ~/solve_status."""
    result = []
    for status in message.status:
        values = {pair.key: pair.value for pair in status.values}
        result.append(
            ChainReport(
                name=status.name.partition(': ')[2],
                status=status.message.split(':')[0].split(';')[0],
                message=status.message,
                iterations=int(_number(values.get('iterations', '0'))),
                solve_time=_number(values.get('solve_time', '0')),
                goal_errors=_errors('goal.', values),
                closure_errors=_errors('closure.', values),
                nearest=_nearest(values),
            )
        )
    return result


def released_of(message: Any, closures: Collection[str]) -> set[str] | None:
    """Return the closures without a residual in ~/solve_status; None if nothing was solved."""
    held: set[str] = set()
    for status in message.status:
        keys = {pair.key for pair in status.values}
        if 'iterations' not in keys and not status.message.startswith(_NOTHING_TO_DO):
            return None
        held.update(n for n in closures if plain(f'closure.{n}.position', MOST_TEXT) in keys)
    return set(closures) - held if message.status else None


def _errors(prefix: str, values: Mapping[str, str]) -> dict[str, PoseError]:
    end = '.position'
    keys = [key for key in values if key.startswith(prefix) and key.endswith(end)]
    names = [key[len(prefix) : -len(end)] for key in keys]
    return {
        name: PoseError(
            _number(values[f'{prefix}{name}.position']),
            _number(values.get(f'{prefix}{name}.orientation', '0')),
        )
        for name in names
    }


def _nearest(values: Mapping[str, str]) -> Distance | None:
    """Return the nearest pair, without its points."""
    one, _, other = values.get('nearest.pair', '').partition(' ')
    distance = _number(values.get('nearest.distance', ''))
    return Distance((one, other), distance, np.zeros((2, 3))) if one else None


def _number(text: str) -> float:
    """Return a text as a number; 0 if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


class RemoteNodeMemory(NamedTuple):
    """The goals and joints of a node at one time."""

    # The goals; those that are off only while joints are moved by sliders count as enabled.
    goals: tuple[GoalSettings, ...]
    poses: dict[str, Array]  # Poses of the goals, root frame (4, 4) [m].
    closed: dict[str, bool]  # For each closure, whether it is closed.
    q: Array  # All joint values (nq,) [rad or m].
    locked: set[str]  # Joint values that the solver must not move.
    solutions: Solutions | None  # The solutions that are shown.


# Time without joint states after which the page asks whether the node is running [s].
SILENCE = 2.0
# Configurations that differ by less are the same [rad or m].
SAME = 1e-3
# Period at which reports alone update the page [s].
REPORTS = 0.1


class RemoteNodeSession(Session):
    """
    The robot of another process, shown at its ~/joint_states.

    This session does not solve. It sends goals to the node's topics, and all other changes to its
    parameters and services. `remote`: access to the node. `end` is called when the session is
    closed.
    """

    def __init__(self, remote: RemoteNode, end: Callable[[], None]) -> None:
        self._remote = remote
        self._end = end
        self.robot: Robot | None = None
        self._solver: Solver | None = None
        self._robot_source: tuple[object, ...] = ()
        self._settings: Settings | None = None
        self._refused = self._obstacles = ''
        self._q: Array = np.zeros(0)
        self._seen: tuple[object, object] = (None, None)
        self._last_joint_state = self._last_report = 0.0
        self._now = 0.0
        # Goals that some client has sent; the others follow their links.
        self._commanded: set[str] = set()
        # Goals that are enabled again when the sliders no longer move the joints.
        self._resting: set[str] = set()
        self._starts = remote.starts
        # Where the robot stays, or goes to, while solutions are shown, and the poses of the goals
        # that rest meanwhile; None while it does not go to a solution.
        self._still: Array = self._q
        self._taken: dict[str, Array] | None = None

    @property
    def title(self) -> str:
        """Return the names of the robot and of the node."""
        topic = self._remote.topic
        return topic if self.robot is None else f'{self.robot.name} on {topic}'

    @property
    def note(self) -> str:
        """Return what the page waits for; '' if nothing."""
        if self._refused:
            return self._refused
        if self._remote.settings is None:
            return f'waiting for the node {self._remote.topic}'
        if self.robot is None:
            return 'waiting for robot_description'
        if self._now - self._last_joint_state > SILENCE:
            return f'no joint states from {self._remote.topic}: is it running?'
        return ''

    @property
    def _known(self) -> Robot:
        """Return the robot; IkError if the page has none yet."""
        if self.robot is None:
            raise IkError(self.note)
        return self.robot

    @property
    def _frames(self) -> FrameNames:
        settings = cast('Settings', self._settings)
        return FrameNames(self._known, settings.frame_prefix, settings.base_frame)

    @property
    def q(self) -> Array:
        """Return the joint values of the last joint state [rad or m]."""
        return self._q

    def take_solution(self, number: int) -> None:
        """Send joint targets that lead to a solution; the goals rest until it is reached."""
        if self.solutions is not None:
            self._go_to(self.solutions.q[number])

    def _go_to(self, q: Array) -> None:
        robot, poses = self._known, None if self.forward else self.remember().poses
        self.set_forward(True)
        self._still, self._taken = q, poses
        self._remote.send_targets(dict(zip(robot.joint_names, q.tolist(), strict=True)))

    def _watch_solutions(self, robot: Robot) -> None:
        """Let the goals lead again at a solution that was taken; forget solutions elsewhere."""
        if self.solutions is None:
            self._still = self._q
        away = not np.allclose(self._q, self._still, rtol=0.0, atol=SAME)
        if self._taken is None:
            self.solutions = None if away else self.solutions
        elif not away:
            for name, pose in self._taken.items():
                if name in robot.goals:
                    self._place(robot.goals[name], pose)
            self.set_forward(False)

    def release_goal(self, name: str) -> None:
        """Send the pose that the link of a goal has reached."""
        goal = self._known.goals.get(name)
        if goal is None or goal.child is None:
            return
        pose = goal.child.matrix_world @ goal.offset_matrix
        self.move_goal(name, pose[:3, 3], matrix_to_quat(pose))

    def update(self, now: float) -> bool:
        """Process received messages; return True if the page must be updated."""
        silent = self.note
        self._now = now
        news = self._take_robot()
        joints, status = self._remote.joint_state, self._remote.solve_status
        if status is not self._seen[1] and status is not None:
            self.reports = reports_of(status)
            if self.robot is not None:
                news = self._take_closures(self.robot, status) or news
            # While nothing moves, new residuals and times do not need a hundred updates a second.
            if now - self._last_report > REPORTS:
                self._last_report, news = now, True
        if joints is not self._seen[0] and joints is not None and self.robot is not None:
            self._last_joint_state = now
            news = self._take_joints(self.robot, joints) or news
        self._seen = (joints if self.robot is not None else None, status)
        if self.robot is not None:
            news = self._take_goals(self.robot) or news
            self._move_idle_goals(self.robot)
            self._watch_solutions(self.robot)
        return news or self.note != silent

    # -- received messages

    def _take_robot(self) -> bool:
        settings, starts = self._remote.settings, self._remote.starts
        if settings is None:
            return False
        if starts != self._starts:
            # The new process does not know the goals of the old one.
            self._starts, self.forward = starts, False
            self._commanded.clear()
        before = () if self._settings is None else self._settings.active_goals
        text = settings.robot_description or self._remote.description.data
        source = (text, settings.closures, settings.root)
        changed = settings is not self._settings
        other = bool(text) and source != self._robot_source
        if other:
            self._robot_source, changed = source, True
            try:
                closures = path_of_url('closures', settings.closures) or None
                robot = load_robot(text_alone(text), closures=closures, root=settings.root)
            except IkError as error:
                # The node keeps its robot, and so does the page.
                self._refused = f'robot_description: {error}'
                return True
            self.robot, self._q, self._refused = robot, robot.q, ''
            self._solver, self.solutions, self._taken = Solver(robot), None, None
            self._commanded.clear()
        obstacles = self._remote.obstacles.data
        if self.robot is not None and (other or obstacles != self._obstacles):
            self._obstacles, changed = obstacles, True
            self._place_obstacles(self.robot, obstacles)
        self._settings = settings
        if self._solver is not None and changed:
            self._solver.options = settings.options
            lock_only(self._known, settings.locked_joints)
        if self.robot is not None and (other or settings.active_goals != before):
            self._sync_goals(self.robot, settings)
        return changed

    @staticmethod
    def _place_obstacles(robot: Robot, text: str) -> None:
        """Draw the obstacles of the node, and let those pairs touch that the node lets touch."""
        with suppress(IkError):
            around = obstacles_from_json(text) if text else ({}, frozenset())
            robot.collisions.surround(*around)

    def _sync_goals(self, robot: Robot, settings: Settings) -> None:
        """Copy the goals of the node; those that were sent keep their poses."""
        poses = {name: robot.goals[name].matrix_world.copy() for name in robot.goals}
        for name in list(robot.goals):
            robot.remove_goal(name)
        for goal in settings.active_goals:
            if goal.link not in robot.links:
                continue
            added = add_goal(robot, goal, weight=goal.weight, priority=goal.priority)
            added.enabled = goal.takes_part
            if goal.name in poses and goal.name in self._commanded:
                self._place(added, poses[goal.name])
        self._commanded &= set(robot.goals)
        self.structure += 1

    def _take_joints(self, robot: Robot, message: Any) -> bool:
        values = dict(zip(message.name, message.position, strict=False))
        names = robot.joint_names
        before = self._q
        self._q = np.array(
            [values.get(name, old) for name, old in zip(names, before.tolist(), strict=True)]
        )
        if np.array_equal(before, self._q):
            return False
        robot.q = self._q
        return True

    def _take_closures(self, robot: Robot, message: Any) -> bool:
        """Copy from the node which closures are released."""
        if any(status.hardware_id != robot.name for status in message.status):
            # The status belongs to the previous robot or to the next one.
            return False
        released = released_of(message, robot.closures)
        if released is None:
            return False
        wrong = [n for n, each in robot.closures.items() if each.enabled == (n in released)]
        for name in wrong:
            robot.closures[name].enabled = name not in released
        return bool(wrong)

    def _take_goals(self, robot: Robot) -> bool:
        taken = self._remote.take_goals()
        for name, message in taken.items():
            if name not in robot.goals:
                continue
            try:
                position, quat = pose_from_message(name, message.pose)
                frame_id = message.header.frame_id
                frame = self._frames.pose(frame_id, self._q, _unknown)
            except (RefusedInputError, LookupError):
                # The node reports the error itself.
                continue
            pose = pose_matrix(position, quat)
            self._place(robot.goals[name], pose if frame is None else frame @ pose)
            self._commanded.add(name)
        return bool(taken)

    def _move_idle_goals(self, robot: Robot) -> None:
        """Move the goals that no client has sent to their links."""
        for name, goal in robot.goals.items():
            if goal.child is not None and (self.forward or name not in self._commanded):
                self._place(goal, goal.child.matrix_world @ goal.offset_matrix)

    # -- goals

    def move_goal(self, name: str, position: ArrayLike, quat_xyzw: ArrayLike) -> None:
        """Send a goal pose in the root frame [m] to its topic."""
        robot = self._known
        if name not in robot.goals:
            raise UnknownFrameError(name, robot.goals, 'goal')
        x, y, z, *quat = unit_pose(name, (position, quat_xyzw))
        pose = pose_matrix((x, y, z), quat)
        self._place(robot.goals[name], pose)
        self._commanded.add(name)
        self._remote.send_goal(name, self._frames.root, pose)

    def add_goal(self, link: str, dof: str, point: Array | None = None) -> str:
        """Create a goal at a link of the node's robot, or at a point of it, root frame [m]."""
        taken = [*self._goal_names(), *(topic_part(name) for name in self._known.closures)]
        part, number = topic_part(link), 2
        name = part
        while name in taken:
            name, number = f'{part}_{number}', number + 1
        own = {'link': link, 'dof': dof, 'offset': self._offset(link, point)}
        values: Any = {f'goals.{name}.{field}': value for field, value in own.items()}
        self._set_goals((*self._goals_in_ik(), GoalSettings.from_values(name, values)))
        return name

    def move_offset(self, name: str, point: Array | None = None) -> None:
        """Move a goal to a point of its link, root frame [m], or to the link's frame."""
        goal = self._known.goals.get(name)
        if goal is None or goal.child is None:
            raise UnknownFrameError(name, self._known.goals, 'goal')
        offset = self._offset(goal.child.name, point)
        local = pose_matrix(offset[:3], goal.offset_quaternion)
        pose = goal.child.matrix_world @ local
        offset = (*offset[:3], *matrix_to_euler(local).tolist())
        self._remote.set_remote_parameters(
            {f'goals.{name}.offset': list(offset)},
            lambda: self.move_goal(name, pose[:3, 3], matrix_to_quat(pose)),
        )

    def _offset(self, link: str, point: Array | None) -> tuple[float, ...]:
        """Return the offset of a goal at a point of a link, root frame [m], as x y z r p y."""
        links = self._known.links
        offset = self._offset_in_link(links[link], point) if link in links else np.zeros(3)
        return (*offset.tolist(), 0.0, 0.0, 0.0)

    def _set_goals(self, goals: Sequence[GoalSettings]) -> None:
        """Set the goals of the node to exactly these."""
        if self.forward:
            self._resting = {goal.name for goal in goals if goal.enabled}
            goals = [goal.switched(False) for goal in goals]
        values = {key: each for goal in goals for key, each in goal.to_values().items()}
        # The parameters of a goal exist once it is in goal_names.
        self._remote.set_remote_parameters(
            {'goal_names': [goal.name for goal in goals] or ['']},
            lambda: self._remote.set_remote_parameters(values),
        )

    def remove_goal(self, name: str) -> None:
        """Remove a goal from the node."""
        left = [other for other in self._goal_names() if other != name]
        self._remote.set_remote_parameters({'goal_names': left or ['']})

    def change_goal(
        self, name: str, *, dof: str | None = None, enabled: bool | None = None
    ) -> None:
        """Change the axes of a goal, or enable or disable it."""
        values = {'dof': dof, 'enabled': enabled}
        changed = {
            f'goals.{name}.{key}': value for key, value in values.items() if value is not None
        }
        self._remote.set_remote_parameters(changed)

    def set_closure(self, name: str, enabled: bool) -> None:
        """Close or release a closure of the node."""
        self._remote.switch(f'closures/{topic_part(name)}/enable', enabled)
        self._known.closures[name].enabled = enabled

    def _goal_names(self) -> list[str]:
        return [] if self._settings is None else [goal.name for goal in self._settings.goals]

    # -- joints

    def set_forward(self, forward: bool) -> None:
        """Disable all goals for the sliders, or enable them again at the poses of their links."""
        robot, self._taken = self._known, None
        if forward == self.forward:
            return
        if forward:
            self._resting = {name for name, goal in robot.goals.items() if goal.enabled}
        resting = self._resting & robot.goals.keys()
        for name in () if forward else resting:
            self._remote.send_goal(name, self._frames.root, robot.goals[name].matrix_world)
        self.forward = forward
        self._remote.set_remote_parameters(
            {f'goals.{name}.enabled': not forward for name in resting}
        )

    def set_locked(self, name: str, locked: bool) -> None:
        """Lock a joint value of the node, or unlock it."""
        names = self.locked | {name} if locked else self.locked - {name}
        self._remote.set_remote_parameters({'locked_joints': sorted(names) or ['']})

    def set_joint(self, name: str, value: float) -> None:
        """Send a joint target; for an actuated joint, also targets that hold the other ones."""
        if not self.forward or self._settings is None:
            raise IkError('joints can be moved only with `solve from joints`: now the goals lead')
        motors, self._taken = self._motors(self._q), None
        self._remote.send_targets({**(motors if name in motors else {}), name: value})

    def _motors(self, q: Array) -> dict[str, float]:
        """Return the values of all actuated joints [rad or m]."""
        if self._settings is None:
            return {}
        present = dict(zip(self._known.joint_names, q.tolist(), strict=True))
        motors = JointRoles.of(self._known, self._settings).actuated
        return {motor: present[motor] for motor in motors}

    # -- options, reset and undo

    def set_option(self, name: str, value: Any) -> None:
        """Set a solver option of the node."""
        options = dataclasses.replace(self.options, **{name: value})
        kind = type(getattr(SolverOptions(), name))
        self._remote.set_remote_parameters({f'solver.{name}': kind(getattr(options, name))})

    def reset(self) -> None:
        """Reset the node to its start configuration; goals must be sent again."""
        self._commanded.clear()
        self._remote.trigger('reset')

    def save_rest_pose(self) -> None:
        """Save the present configuration of the node as its rest pose."""
        self._remote.trigger('save_rest_pose')

    def remember(self) -> RemoteNodeMemory:
        """Return the goals and their poses, the closed closures and the joint values."""
        goals = {} if self.robot is None else self.robot.goals
        closures = {} if self.robot is None else self.robot.closures
        return RemoteNodeMemory(
            self._goals_in_ik(),
            {name: goal.matrix_world.copy() for name, goal in goals.items()},
            {name: closure.enabled for name, closure in closures.items()},
            self._q,
            self.locked,
            self.solutions,
        )

    def _goals_in_ik(self) -> tuple[GoalSettings, ...]:
        """Return the node's goals as they are while the goals move the robot."""
        goals = () if self._settings is None else self._settings.goals
        resting = self._resting if self.forward else set()
        return tuple(goal.switched(goal.enabled or goal.name in resting) for goal in goals)

    def restore(self, memory: RemoteNodeMemory) -> None:
        """Restore goals and closures, and the joints if the sliders move them."""
        robot = self._known
        if memory.solutions is not None and memory.solutions is self.solutions:
            # A solution was taken.
            self._go_to(memory.q)
            return
        # Set all goals in one request, because the last request may not have arrived yet.
        self._set_goals(memory.goals)
        for name, pose in memory.poses.items():
            if name in robot.goals and not np.allclose(pose, robot.goals[name].matrix_world):
                self.move_goal(name, pose[:3, 3], matrix_to_quat(pose))
        for name, closed in memory.closed.items():
            if name in robot.closures and robot.closures[name].enabled != closed:
                self.set_closure(name, closed)
        if memory.locked != self.locked:
            self._remote.set_remote_parameters({'locked_joints': sorted(memory.locked) or ['']})
        if self.forward and memory.q.shape == self._q.shape:
            self._remote.send_targets(self._motors(memory.q))

    def complaints(self) -> list[str]:
        """Return the messages of requests that the node refused."""
        return self._remote.take_refusals()

    def set_wake(self, wake: Callable[[], None]) -> None:
        """Set a function that is called, from another thread, when the robot has moved."""
        self._remote.wake = wake

    def close(self) -> None:
        """Close the session; the node keeps running."""
        self._end()


def _unknown(target: str, source: str) -> Array:
    raise LookupError(f'{source} in {target}')


def open_view(args: Sequence[str], name: str) -> RemoteNodeSession:
    """Observe a node with one of these arguments; OptionError if its name is invalid."""
    try:
        validate_topic_name(name)
    except InvalidTopicNameException:
        raise OptionError('--node', name, 'a node name such as /cell/left_ik or ik_node') from None
    # The page handles Ctrl-C.
    rclpy.init(args=list(args), signal_handler_options=SignalHandlerOptions.NO)
    remote = RemoteNode(name)
    executor = SingleThreadedExecutor()
    executor.add_node(remote)

    # Shutting an executor down during a callback raises in its thread, so let it finish first.
    over: Any = Future()

    def spin() -> None:
        try:
            executor.spin_until_future_complete(over)
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin, name='ros', daemon=True)
    thread.start()

    def end() -> None:
        if not thread.is_alive():
            return
        over.set_result(None)
        thread.join()
        executor.shutdown()
        remote.destroy_node()
        rclpy.try_shutdown()

    return RemoteNodeSession(remote, end)
