"""From a robot description that arrives to the model that ticks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
import dataclasses
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
import re
import threading
from typing import Any, cast
from urllib.parse import unquote

from ik_node.analysis.mobility import mobility_of
from ik_node.description.mesh_path import mesh_path, Visual
from ik_node.description.read import text_alone
from ik_node.description.visuals import visuals_of
from ik_node.errors import DescriptionError, IkError, OptionError, TopologyError, UnknownFrameError
from ik_node.model.constraint import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import Array, pose_from_matrix
from ik_node.robot import load_robot, Robot
from ik_node.ros.messages import FrameNames, quat_xyzw_from_rpy, topic_parts
from ik_node.ros.parameters.settings import GoalSettings, JOINT_VALUES, Settings
from ik_node.scene import IKRootsHelper
from ik_node.solver import Solver
from ik_node.solver.problem.joint_table import LIMIT_SLACK
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class JointRoles:
    """The names of joint values by role; a joint with several has NAME.X, NAME.EZ and so on."""

    actuated: tuple[str, ...] = ()  # Values with a motor.
    outputs: tuple[str, ...] = ()  # Values that hardware outputs command, in this order.
    locked: frozenset[str] = frozenset()  # Values that the solver does not change.
    own_motors: tuple[str, ...] = ()  # Motors of the transmission; empty = `actuated`.
    joint_space: tuple[str, ...] = ()  # Joint space of the transmission; empty = none.

    @property
    def motors(self) -> tuple[str, ...]:
        """Return the motors of the transmission."""
        return self.own_motors or self.actuated

    @classmethod
    def of(cls, robot: Robot, settings: Settings) -> JointRoles:
        """Find the joints of the settings in a robot; OptionError if one cannot have its role."""
        names = _Names(robot)
        locked = frozenset(names.find('locked_joints', settings.locked_joints))
        actuated = names.find('actuated_joints', settings.actuated_joints, leading=True)
        actuated = actuated or names.described_motors()
        outputs = names.find('output.joints', settings.output_joints, leading=True) or actuated
        if settings.groups:
            outputs = tuple(
                value
                for parameter, group in settings.groups.items()
                for value in names.find(parameter, group, leading=True)
            )
            single = [name for group in settings.groups.values() for name in group]
            for value in outputs:
                if value not in single:
                    reason = 'single values of joints, by their own names'
                    raise OptionError('output.groups', value, reason)
        motors = names.find('transmission.actuators', settings.transmission_actuators, True)
        joint_space = names.find('transmission.joints', settings.transmission_joints)
        return cls(actuated, outputs, locked, motors, joint_space)


def lock_only(robot: Robot, names: Collection[str]) -> None:
    """Lock the joints and joint values with these names, and unlock all others."""
    for joint in robot.joint_order:
        for name, dof in zip(joint.value_names, joint.dof, strict=True):
            if joint.locked[dof] != bool({name, joint.name} & {*names}):
                (joint.unlock if joint.locked[dof] else joint.lock)(dof)


def check_joint_targets(robot: Robot, settings: Settings) -> None:
    """Raise OptionError unless a robot has all joints of the rest pose and of the targets."""
    names = _Names(robot)
    for parameter in JOINT_VALUES:
        names.find(parameter, getattr(settings, parameter))


def unknown_joint_targets(robot: Robot, settings: Settings) -> dict[str, list[str]]:
    """Return the joints of the rest pose and the targets that a robot lacks, by parameter."""
    known = _Names(robot)
    missing = {
        parameter: [name for name in getattr(settings, parameter) if name not in known]
        for parameter in JOINT_VALUES
    }
    return {parameter: names for parameter, names in missing.items() if names}


class _Names:
    """The names of a robot's joints and of their values."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._values: dict[str, tuple[str, ...]] = {}
        self._followers: dict[str, str] = {}
        for joint in robot.joint_order:
            self._values[joint.name] = joint.value_names
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                self._values[name] = (name,)
                coupling = joint.couplings.get(dof)
                if coupling is not None and not coupling.others:
                    self._followers[name] = coupling.master.name

    def __contains__(self, name: str) -> bool:
        """Return True if a joint or a joint value has this name."""
        return name in self._values

    def find(self, parameter: str, names: Iterable[str], leading: bool = False) -> tuple[str, ...]:
        """Return the joint values with these names, each once."""
        result: list[str] = []
        for name in names:
            values = self._values.get(name)
            if values is None:
                known = str(UnknownFrameError(name, self._values, kind='movable joint'))
                raise OptionError(parameter, name, f'joints of {self._robot.name!r}: {known}')
            for value in values:
                if leading and value in self._followers:
                    raise OptionError(
                        parameter,
                        name,
                        f'joints that follow no other; it follows {self._followers[value]!r}',
                    )
                if leading and value in result:
                    raise OptionError(parameter, name, 'every joint once')
                result.append(value)
        return tuple(result)

    def described_motors(self) -> tuple[str, ...]:
        """Return the values with a motor by the description, or all independent values."""
        bases = {root.name for root in self._robot.description.roots if isinstance(root, Joint)}
        joints = [joint.name for joint in self._robot.joint_order if joint.name not in bases]
        values = [
            value
            for name in [name for name in self._robot.actuated if name in self._values] or joints
            for value in self._values[name]
        ]
        return tuple(dict.fromkeys(value for value in values if value not in self._followers))


@dataclass(frozen=True)
class ModelRequest:
    """A description and all settings that its solver depends on."""

    text: str  # The robot description; '' if there is a file.
    settings: Settings
    # Closure annotations, a path or text; '' = those in the description.
    closures: str

    @classmethod
    def of(cls, text: str, settings: Settings) -> ModelRequest:
        """Return the request for a description under these settings."""
        return cls(text, settings, settings.closures)

    @property
    def goals(self) -> tuple[GoalSettings, ...]:
        """Return the goals that have a link."""
        return self.settings.active_goals

    def builds_same(self, other: ModelRequest | None) -> bool:
        """Return True if both requests build the same model."""
        return other is not None and self.builds_same_robot(other) and self._rest == other._rest

    def builds_same_robot(self, other: ModelRequest) -> bool:
        """Return True if both requests build the same robot and loops, whatever the goals."""
        mine, others = ((r.text, r.closures, r.settings.root) for r in (self, other))
        return mine == others

    @property
    def _rest(self) -> tuple[object, ...]:
        """Return the other settings that need a new solver when they change."""
        goals = tuple(goal.structure for goal in self.goals)
        return goals, self.settings.base_frame, self.settings.frame_prefix


# Published configurations close their loops at least this well [m or rad].
LOOP_TOLERANCE = 1e-6
# A robot whose loops are open by more than this is refused [m or rad]; careless numbers in a
# description open them by less.
LARGEST_ROUNDING = 1e-3


def loop_limits(robot: Robot) -> dict[str, float]:
    """
    Return the residual [m or rad] up to which each loop of an assembled robot counts as closed.

    Rounded numbers in a description leave redundant loops open. The limit of such a loop is the
    effect of the rounding, or twice the residual after assembly; `robot.notes` says so. A
    tolerance of a closure is its limit. Raise TopologyError if a loop is open by more than that.
    """
    result = robot.assembly
    if result is None:
        return {}
    loose = {k: pair for each in robot.redundancies for k, pair in each.allowance.items()}
    limits = {}
    for name, residual in result.closure_errors.items():
        # A sum of joints has a row, but no closure.
        closure = robot.closures.get(name)
        stated = None if closure is None else closure.tolerance
        limits[name] = max([LOOP_TOLERANCE, *(stated or ())])
        left = max(residual)
        if name in loose:
            if left > limits[name]:
                robot.notes.append(
                    f'loop {name!r} stays {left:.3g} open [m or rad]: its redundant rows disagree '
                    'by the rounding of the description; the solver meets them as well as possible'
                )
            limits[name] = max(limits[name], LOOP_TOLERANCE + max(loose[name]))
        if left <= limits[name]:
            continue
        if not left <= LARGEST_ROUNDING or stated is not None:
            raise TopologyError(
                f'the loops of robot {robot.name!r} cannot be closed: '
                f'{result.worst!r} stays '
                f'{max(result.closure_errors[result.worst]):.3g} open [m or rad] '
                f'({result.message})'
            )
        limits[name] = 2.0 * left
        robot.notes.append(
            f'loop {name!r} stays {left:.3g} open [m or rad], more than the digits of the '
            'description explain: the node moves the robot, but no answer is CONVERGED before the '
            'loop has a `tolerance`'
        )
    return limits


def link_visuals(robot: Robot) -> list[Visual]:
    """Return the visuals of a robot with meshes as URLs; missing meshes are left out."""
    result = []
    for visual in visuals_of(robot.description):
        if visual.kind != 'mesh' or visual.file.startswith('package://'):
            result.append(visual)  # a package is found where the viewer runs
            continue
        path = mesh_path(visual.file, visual.source)
        if path is not None:
            result.append(replace(visual, file=path.resolve().as_uri()))
    return result


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """The robot, its solver and constant arrays; replaced as a whole by the next model."""

    request: ModelRequest  # The request that the model was built from.
    robot: Robot  # The robot, with the goals of the request.
    solver: Solver  # The solver of the robot, with kernels loaded.
    # Configuration of the description with closed loops (nq,) [rad or m].
    q_start: Array
    joint_names: tuple[str, ...]  # Names of the values of q.
    # Limits of positions (nq,) [rad or m] and velocities [rad/s or m/s]; infinite if there is
    # none.
    lower: Array
    upper: Array
    max_velocity: Array
    # Residual up to which each loop counts as closed [m or rad].
    loop_limits: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ModelRequest, robot: Robot) -> LoadedModel:
        """Return the model of a robot; TopologyError if a loop is open by more than rounding."""
        limits = loop_limits(robot)
        return cls(
            request=request,
            robot=robot,
            solver=Solver(robot, request.settings.tick_options),
            q_start=robot.q,
            joint_names=tuple(robot.joint_names),
            lower=np.array(robot.lower),
            upper=np.array(robot.upper),
            max_velocity=np.array(robot.max_velocity),
            loop_limits=limits,
        )

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Return limits (nq,), widened by `LIMIT_SLACK`; the largest float if there is none."""
        largest = np.finfo(np.float64).max
        return (
            np.maximum(self.lower - LIMIT_SLACK, -largest),
            np.minimum(self.upper + LIMIT_SLACK, largest),
        )

    def start_within(self, q: Array, tolerance: float) -> Array:
        """Return q with values outside by more than `tolerance` [rad, a tenth in m] inside."""
        within: Array = np.clip(q, self.lower, self.upper)
        if not tolerance or (within == q).all():
            return within
        far = np.abs(q - within) > tolerance * np.where(self.angular, 1.0, 0.1)
        start: Array = np.where(far, within, q)
        return start

    def with_outside(self, q: Array, target: Array, tolerance: float) -> Array:
        """Return q with those values of `target` that are outside by at most the tolerance."""
        outside = (target < self.lower) | (target > self.upper)
        if not outside.any():
            return q
        kept = self.start_within(target, tolerance)
        mixed: Array = np.where(outside & (kept == target), target, q)
        return mixed

    @cached_property
    def angular(self) -> NDArray[np.bool_]:
        """Return True for each value in [rad], False for each in [m], (nq,)."""
        return np.array([dof.is_rotation for _, dof in self.solver.tree.owner], dtype=np.bool_)

    @cached_property
    def turning(self) -> NDArray[np.bool_]:
        """Return True for each unlimited angle, which sensors may report modulo 2 pi."""
        turning: NDArray[np.bool_] = self.angular & np.isinf(self.lower) & np.isinf(self.upper)
        return turning

    def nearest_turn(self, q: Array, reference: Array) -> Array:
        """Return q with every unlimited angle within half a turn of a reference."""
        if not self.turning.any():
            return q
        turns = np.round((reference - q) / (2.0 * np.pi))
        nearest: Array = q + np.where(self.turning, 2.0 * np.pi * turns, 0.0)
        return nearest

    @cached_property
    def _mobilities(self) -> dict[object, int]:
        """Return the degrees of freedom for each set of closures and locks, the last one last."""
        return {}

    def count_mobility(self, q: Array) -> int:
        """
        Return the number of degrees of freedom, counted at `q` (loops closed) unless it is known.

        Counting takes up to a tenth of a second; nearly every configuration has the same number.
        """
        robot, known = self.robot, self._mobilities
        values = zip(self.joint_names, self.solver.tree.owner, strict=True)
        closed = frozenset(name for name, each in robot.closures.items() if each.enabled)
        held = closed, frozenset(name for name, (joint, dof) in values if joint.locked[dof])
        count = known.pop(held, None)
        known[held] = mobility_of(self.solver, robot.closures, q) if count is None else count
        return known[held]

    @property
    def mobility(self) -> int:
        """Return the last counted number of degrees of freedom."""
        return next(reversed(self._mobilities.values()))

    @cached_property
    def helper(self) -> IKRootsHelper:
        """Return the helper that computes the shapes of the robot; created on first use."""
        return IKRootsHelper(self.solver, seen=lambda: link_visuals(self.robot))

    @cached_property
    def has_transforms(self) -> bool:
        """Return True if links move in ways that joint states cannot express."""
        return self.request.settings.root != 'fixed' or bool(multi_dof_joint_links(self.robot))

    @cached_property
    def frames(self) -> FrameNames:
        """Return the names of the robot's frames."""
        settings = self.request.settings
        return FrameNames(self.robot, settings.frame_prefix, settings.base_frame)

    @cached_property
    def root_frame(self) -> str:
        """Return the name of the root frame, with the prefix."""
        return self.frames.frame(self.frames.root)

    def reached(self, goal: str, q: Array) -> Array:
        """Return the pose (4, 4) of a goal's frame at `q`, in the root frame."""
        own = self.robot.goals[goal]
        pose: Array = self.robot.forward(q, cast('Link', own.child).name) @ own.offset_matrix
        return pose

    def start_from(self, other: LoadedModel, q: Array) -> Array:
        """Return `q` if another model has the same joints, or else the own start."""
        if self.joint_names != other.joint_names:
            return self.q_start.copy()
        return np.clip(q, self.lower, self.upper)


def multi_dof_joint_links(robot: Robot) -> list[tuple[str, str]]:
    """Return the parent and child links of each joint with several DoF."""
    return [
        (joint.parent.name, joint.child.name)
        for joint in robot.joint_order
        if len(joint.dof) > 1 and isinstance(joint.parent, Link) and joint.child is not None
    ]


# Reading takes about a millisecond per link, ten seconds in all, while the robot keeps running.
MOST_LINKS = 10_000
# Closing a chain of a thousand loops takes a gigabyte and a thousand seconds.
MOST_LOOPS = 500

_LINK = re.compile(r'<(?:link|body)[\s/>]')


def count_links(text: str) -> int:
    """Return the number of links in a description, counted without parsing it."""
    return sum(1 for _ in _LINK.finditer(text))


def _refuse_more(count: int, limit: int, what: str, reason: str) -> None:
    if count > limit:
        raise DescriptionError(f'{count} {what}; a node accepts at most {limit}, because {reason}')


_PACKAGE, _FILE = 'package://', 'file://'


def path_of_url(parameter: str, text: str) -> str:
    """Return the path of a URL; OptionError names the parameter if there is no package."""
    if text.startswith(_FILE):
        return unquote(text[len(_FILE) :])
    if not text.startswith(_PACKAGE):
        return text
    package, _, path = text[len(_PACKAGE) :].partition('/')
    try:
        from ament_index_python.packages import get_package_share_directory

        share = get_package_share_directory(package)
    except (ImportError, LookupError, OSError, ValueError):
        raise OptionError(parameter, text, 'a URL of an installed package') from None
    return f'{share}/{path}'


def read_robot(request: ModelRequest) -> Robot:
    """Read the description and check goals and parameters against it; loops may be open."""
    settings = request.settings
    source: str | Path = Path(path_of_url('robot_file', settings.robot_file))
    if not settings.robot_file:
        source = text_alone(request.text)
        # Before it is parsed.
        _refuse_more(count_links(source), MOST_LINKS, 'links', 'reading more takes too long')
    closures = path_of_url('closures', request.closures) or None
    robot = load_robot(source, closures=closures, root=settings.root, assemble=False)
    _refuse_more(len(robot.closures), MOST_LOOPS, 'loops', 'more leave no time for a tick')
    if not robot.joint_names:
        raise DescriptionError(
            f'robot {robot.name!r} has no movable joint: there is nothing to solve'
        )
    topic_parts(robot.closures, 'closure')
    check_goal_links(request.goals, robot)
    JointRoles.of(robot, settings)
    return robot


def add_goal(robot: Robot, goal: GoalSettings, **more: Any) -> Goal:
    """Add a goal with the link, axes, offset and tolerance of the parameters to a robot."""
    own = {'name': goal.name, 'dof': goal.dof, 'axes': goal.axes, 'tolerance': goal.goal_tolerance}
    offset = (goal.offset[:3], quat_xyzw_from_rpy(goal.offset[3:]))
    added: Goal = robot.add_goal(goal.link, **{**own, **more}, offset=offset)
    return added


def load_model(request: ModelRequest) -> LoadedModel:
    """
    Read the description, add the goals, close the loops and load the kernels.

    This takes some hundred milliseconds, or a minute if the library of kernels must be built.
    """
    robot = read_robot(request)
    if robot.closures:
        robot.assemble()
    for goal in request.goals:
        # The solver ignores disabled goals and goals of weight 0, so the weight here may be 1.
        add_goal(robot, goal, weight=goal.weight or 1.0, priority=goal.priority)
    model = LoadedModel.of(request, robot)
    model.count_mobility(model.q_start)
    _warm(model)
    return model


def check_settings(model: LoadedModel, settings: Settings) -> None:
    """Raise IkError if a changed parameter does not fit the present robot."""
    check_goal_links(settings.active_goals, model.robot)
    JointRoles.of(model.robot, settings)
    solver, options = model.solver, model.solver.options
    if settings.options.method != options.method:
        # Some methods cannot solve some robots; a trial solve shows it.
        solver.options = dataclasses.replace(settings.options, max_iterations=1, restarts=0)
        try:
            solver.solve_pose({}, q0=model.q_start)
        finally:
            solver.options = options


def check_goal_links(goals: tuple[GoalSettings, ...], robot: Robot) -> None:
    """Raise OptionError, with the links that exist, unless the robot has every goal's link."""
    for goal in goals:
        if goal.link not in robot.links:
            known = str(UnknownFrameError(goal.link, robot.links, kind='link'))
            raise OptionError(
                f'goals.{goal.name}.link', goal.link, f'a link of {robot.name!r}: {known}'
            )


def _warm(model: LoadedModel) -> None:
    """Load kernels and fill the caches of each set of goals before the first tick."""
    model.solver.warm()
    poses = {
        name: pose_from_matrix(model.reached(name, model.q_start)) for name in model.robot.goals
    }
    for goals in ({}, poses):
        model.solver.solve_pose(goals, q0=model.q_start)
    model.solver.drive({}, model.q_start)
    model.helper.shapes(model.q_start)


def as_refusal(error: Exception) -> Exception:
    """
    Return the error to report when there is no model.

    A defect of this package or of the middleware must not end a thread or the node. It is
    reported like a refused description, and the node keeps its model.
    """
    if isinstance(error, IkError):
        return error
    return RuntimeError(f'internal error, please report: {type(error).__name__}: {error}')


class ModelSupply:
    """
    The supply of models: it decides when one is built, in the background, and hands over each.

    A refused description changes nothing: the last valid model stays. Goals that need a new solver
    lead to a new model of the same robot. A request that arrives during a build waits, and
    replaces an earlier one that waits. `build`: ModelRequest -> LoadedModel; raises IkError.
    """

    def __init__(self, build: Callable[[ModelRequest], LoadedModel]) -> None:
        self.refused = ''  # Why the last description was refused; '' if it was accepted.
        self.refusals = 0  # Number of refused descriptions since the start.
        # Requests with their models, or the reasons why there are none, until `take`.
        self.finished: deque[tuple[ModelRequest, LoadedModel | Exception]] = deque()
        self._build = build
        self._accepted: ModelRequest | None = None
        self._requested: ModelRequest | None = None
        self._lock = threading.Lock()
        self._waiting: ModelRequest | None = None
        self._running = False

    @property
    def busy(self) -> bool:
        """Return True while a model is being built."""
        with self._lock:
            return self._running

    def describe(self, text: str, settings: Settings) -> bool:
        """Request a model of a description; return False if it is the present one."""
        request = ModelRequest.of(text, settings)
        if self._requested is self._accepted and request.builds_same(self._accepted):
            self.refused = ''
            return False
        if request.builds_same(self._requested) and not self.refused:
            return False
        self._submit(request)
        return True

    def apply(self, settings: Settings) -> None:
        """Request a model with other goals or another root, if they need a new solver."""
        if self._requested is None:
            return
        request = replace(self._requested, settings=settings)
        # The description may have been refused because of joint names or options.
        again = self.refused and self._accepted is None and request != self._requested
        if again or not request.builds_same(self._requested):
            self._submit(request)

    def take(self, adopt: Callable[[LoadedModel], None]) -> None:
        """Hand over a finished model; one that `adopt` does not take is refused."""
        if not self.finished:
            return
        request, model = self.finished.popleft()
        if isinstance(model, LoadedModel):
            try:
                adopt(model)
            except Exception as error:  # noqa: BLE001
                model = as_refusal(error)
            else:
                self._accepted = request
                self.refused = ''
                return
        self.refused = ' '.join(str(model).split())
        self.refusals += 1
        if request is self._requested and self._accepted is not None:
            self._requested = self._accepted

    def _submit(self, request: ModelRequest) -> None:
        self._requested = request
        with self._lock:
            if self._running:
                self._waiting = request
                return
            self._running = True
        work = threading.Thread(target=self._work, args=(request,), name='model builder')
        work.daemon = True
        work.start()

    def _work(self, first: ModelRequest) -> None:
        request: ModelRequest | None = first
        while request is not None:
            made: LoadedModel | Exception
            try:
                made = self._build(request)
            except Exception as error:  # noqa: BLE001
                made = as_refusal(error)
            # All changes under one lock, so that no caller sees the last result and a busy supply.
            with self._lock:
                self.finished.append((request, made))
                request, self._waiting = self._waiting, None
                self._running = request is not None
