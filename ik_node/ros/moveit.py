"""The service ~/solve_ik: inverse kinematics for MoveIt and others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
import math
import time
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from ik_node.errors import IkError, listed
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import (
    Array,
    matrix_to_euler,
    motion_matrix,
    nearest_euler,
    pose_from_matrix,
    pose_matrix,
    quat_from_euler,
)
from ik_node.model.tree import Tree
from ik_node.robot import Robot
from ik_node.ros.control.tracker import objection
from ik_node.ros.loading import add_goal, as_refusal, LoadedModel
from ik_node.ros.messages import (
    Pose,
    pose_from_message,
    pose_in_root,
    positions_from_message,
    put_pose,
    Refusals,
    RefusedInputError,
)
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.ros.process import BackgroundWork, optional
from ik_node.solver import Solution, Solver, SolverOptions, Status
import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node


class RefusedIkError(IkError):
    """A request that is answered with an error code and without a solve."""

    def __init__(self, code: IkCode, message: str) -> None:
        self.code = code  # The error code of the answer.
        super().__init__(message)


@contextmanager
def _refused_with(code: IkCode) -> Iterator[None]:
    """Answer with an error code where a part of the request is refused."""
    try:
        yield
    except RefusedInputError as error:
        raise RefusedIkError(code, str(error)) from None


class IkCode(IntEnum):
    """The values of moveit_msgs/MoveItErrorCodes that this node returns."""

    SUCCESS = 1
    TIMED_OUT = -6
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    FRAME_TRANSFORM_FAILURE = -21
    NO_IK_SOLUTION = -31
    FAILURE = 99999


@dataclass(frozen=True)
class IkAnswer:
    """A configuration, or the reason why there is none."""

    code: IkCode  # Result code.
    message: str  # Description of the result.
    # Configuration (nq,) [rad or m]; None unless the code is SUCCESS.
    q: Array | None = None


Axis = tuple[Joint, DOF]


def carries(base: Link, tip: Link) -> bool:
    """
    Return True if `base` moves, is above `tip`, and has a movable joint below it on that path.

    A pose of `tip` in the frame of such a link is relative to the moving link.
    """
    above = list(_path(tip))
    if base not in above:
        return False
    index = above.index(base)
    return any(map(_moves, above[:index])) and any(map(_moves, above[index:]))


def staying_values(
    robot: Robot, tree: Tree, missing: Iterable[str], actuated: Collection[str]
) -> tuple[str, ...]:
    """
    Return those values, not named by a request, that keep the node's values.

    The answer does not contain them, so a solution that moved them would be wrong. Passive joints
    of loops and coupled joints move nevertheless. Without actuated joints, all values of a robot
    with loops count as passive, and no value of a robot without loops.
    """
    loops = any(closure.enabled for closure in robot.closures.values())
    unnamed, motors = set(missing), set(actuated)
    return tuple(
        name
        for name, (joint, dof) in zip(tree.names, tree.owner, strict=True)
        if name in unnamed
        and dof not in joint.couplings
        and (not loops or {name, joint.name} & motors or joint.parent is None)
    )


def movable_values(
    tree: Tree, bases: Iterable[Link], staying: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """
    Return the names of the values that may change; None = all values.

    Locked values, values that move one of `bases`, and `staying` do not change. A coupled value
    moves with its master; if it must not move, its master must not move either.
    """
    carriers = {frame for base in bases for frame in _path(base)}
    held = {
        _master((joint, dof))
        for joint, dof in tree.owner
        if joint.locked[dof] or joint in carriers
    }
    further = set(staying)
    held.update(axis for name, axis in zip(tree.names, tree.owner, strict=True) if name in further)
    if not held:
        return None
    return tuple(
        name
        for name, axis in zip(tree.names, tree.owner, strict=True)
        if _master(axis) == axis and axis not in held
    )


def _master(axis: Axis) -> Axis:
    joint, dof = axis
    while (coupling := joint.couplings.get(dof)) is not None and not coupling.others:
        joint, dof = coupling.master, coupling.master_dof
    return joint, dof


def _path(frame: Frame | None) -> Iterator[Frame]:
    """Yield a frame and all of its ancestors."""
    while frame is not None:
        yield frame
        frame = frame.parent


def _moves(frame: Frame) -> bool:
    return isinstance(frame, Joint) and bool(frame.dof)


@dataclass(frozen=True)
class IkRequest:
    """A checked request, without references to objects that another thread changes."""

    seed: IkSeed  # Start of the solve, and the names of the answer.
    poses: Mapping[str, Pose]  # Link to its wanted pose in the root frame [m].
    # Link to the node's goals for it, which define the constrained axes. For a link without goals,
    # all six axes are constrained.
    goals: Mapping[str, tuple[GoalSettings, ...]]
    movable: tuple[str, ...] | None  # Values that may change; None = all values.
    held: str  # Values that are held, and why, for the message without a solution; '' = none.
    closures: Mapping[str, bool]  # For each loop, whether it is closed.
    options: SolverOptions  # Solver options with the time budget of this request.
    choice: str = 'nearest'  # Which of all solutions, see the parameter solve_ik_choice.
    checks_collisions: bool = False  # True if the client requested an answer without collisions.
    # Obstacles and allowed pairs, as of `Collisions.surroundings`, for such an answer.
    surroundings: tuple[Any, Any] = ({}, frozenset())


# Largest difference between a transform and the nearest one that the joint allows [m or rad].
_SLACK = 1e-6


@dataclass(frozen=True)
class IkSeed:
    """The start of a solve, and the names of its answer."""

    q: Array  # All joint values (nq,) [rad or m], within limits and with couplings applied.
    indices: Mapping[str, int]  # Name in joint_state of the answer to its index in q.
    # Name in multi_dof_joint_state of the answer to its joint.
    multi_dof_joints: Mapping[str, Joint]
    missing: tuple[str, ...]  # Values that the request does not contain.
    frame_id: str  # Frame of multi_dof_joint_state; '' = not given.

    @property
    def has_base(self) -> bool:
        """Return True if the seed contains the pose of the floating base."""
        return any(joint.parent is None for joint in self.multi_dof_joints.values())

    def fill(self, state: Any, q: Array, tree: Tree) -> None:
        """Write the answer `q` to a moveit_msgs/RobotState."""
        state.joint_state.name = list(self.indices)
        state.joint_state.position = q[list(self.indices.values())].tolist()
        if not self.multi_dof_joints:
            return
        from geometry_msgs.msg import Transform

        multi_dof = state.multi_dof_joint_state
        multi_dof.header.frame_id = self.frame_id
        multi_dof.joint_names = list(self.multi_dof_joints)
        multi_dof.transforms = [Transform() for _ in self.multi_dof_joints]
        for transform, joint in zip(
            multi_dof.transforms, self.multi_dof_joints.values(), strict=True
        ):
            x, y, z, *turn = _all_six(joint, q[_indices_of(joint, tree)]).tolist()
            a, b, c, d = quat_from_euler(*turn).tolist()
            put_pose(transform.translation, transform.rotation, ((x, y, z), (a, b, c, d)))


def read_seed(state: Any, model: LoadedModel, present: Array) -> IkSeed:
    """
    Read the seed of a request.

    Joints that its state does not name keep the node's values; joints that the robot does not have
    are ignored. If it names no joint, or with `is_diff`, the node's configuration replaces all
    missing values: they may move, and the answer names every joint.
    """
    tree = model.solver.tree
    q = np.array(present, dtype=np.float64)
    index_of = {name: index for index, name in enumerate(tree.names)}
    with _refused_with(IkCode.INVALID_ROBOT_STATE):
        named = positions_from_message('robot_state.joint_state', state.joint_state)
    multi_dof = state.multi_dof_joint_state
    indices = {name: index_of[name] for name in named if name in index_of}
    for name, index in indices.items():
        q[index] = named[name]
    multi_dof_joints = _read_multi_dof_joints(multi_dof, model, q)
    all_names = [*named, *multi_dof.joint_names]
    if all_names and not indices and not multi_dof_joints:
        raise RefusedIkError(
            IkCode.INVALID_ROBOT_STATE,
            f'robot_state names no joint of robot {model.robot.name!r}, but '
            f'{", ".join(all_names[:5])}: does it belong to another robot?',
        )
    if not all_names or state.is_diff:
        # The request covers all joints: those not named have the node's values.
        frame_id = multi_dof.header.frame_id if multi_dof_joints else ''
        own = {joint: name for name, joint in multi_dof_joints.items()}
        wide = [joint for joint in model.robot.joint_order if len(joint.dof) > 1]
        multi_dof_joints = {own.get(joint, joint.name): joint for joint in wide}
        inside = {index for joint in wide for index in _indices_of(joint, tree)}
        indices = {name: index for name, index in index_of.items() if index not in inside}
        frame_id = frame_id or (model.frames.root if multi_dof_joints else '')
        return IkSeed(_consistent(q, model), indices, multi_dof_joints, (), frame_id)
    given = {index for joint in multi_dof_joints.values() for index in _indices_of(joint, tree)}
    given.update(indices.values())
    missing = tuple(name for name, index in index_of.items() if index not in given)
    return IkSeed(
        _consistent(q, model), indices, multi_dof_joints, missing, multi_dof.header.frame_id
    )


def _read_multi_dof_joints(multi_dof: Any, model: LoadedModel, q: Array) -> dict[str, Joint]:
    """Read joints with several axes into q; return them by their names in the message."""
    names, transforms = list(multi_dof.joint_names), multi_dof.transforms
    if len(names) != len(transforms):
        raise RefusedIkError(
            IkCode.INVALID_ROBOT_STATE,
            f'robot_state.multi_dof_joint_state: {len(names)} names need as many transforms, not '
            f'{len(transforms)}',
        )
    robot = model.robot
    own = {j.name: j for j in robot.joint_order if len(j.dof) > 1}
    multi_dof_joints = {name: own[name] for name in names if name in own}
    # MoveIt names the joint of the base as in the SRDF, which the node does not know.
    unknown = [name for name in names if name not in own]
    base = robot.root
    if isinstance(base, Joint) and base.name not in multi_dof_joints and len(unknown) == 1:
        multi_dof_joints[unknown[0]] = base
    for name, transform in zip(names, transforms, strict=True):
        if name in multi_dof_joints:
            indices = _indices_of(multi_dof_joints[name], model.solver.tree)
            q[indices] = _values_of(name, transform, multi_dof_joints[name], q[indices])
    return multi_dof_joints


def _values_of(name: str, transform: Any, joint: Joint, present: Array) -> Array:
    """Return the joint values of a geometry_msgs/Transform, nearest to the present ones."""
    field = f'robot_state.multi_dof_joint_state, transform of {name!r}'
    pose = SimpleNamespace(position=transform.translation, orientation=transform.rotation)
    with _refused_with(IkCode.INVALID_ROBOT_STATE):
        position, quat_xyzw = pose_from_message(field, pose)
    target = pose_matrix(position, quat_xyzw)
    six = np.zeros(6)
    six[:3] = position
    now = np.zeros(6)
    now[joint.dof] = present
    six[3:] = nearest_euler(matrix_to_euler(target), now[3:])
    values = six[joint.dof]
    if not np.allclose(motion_matrix(_all_six(joint, values)), target, rtol=0.0, atol=_SLACK):
        axes = ' '.join(dof.name for dof in joint.dof)
        raise RefusedIkError(
            IkCode.INVALID_ROBOT_STATE,
            f'{field} = {np.round(target, 6).tolist()} refused: the joint moves along or about '
            f'{axes} only',
        )
    return values


def _all_six(joint: Joint, values: Array) -> Array:
    """Return x, y, z, ex, ey, ez of a joint, which are zero along axes that it does not have."""
    six = np.zeros(6)
    six[joint.dof] = values
    return six


def _indices_of(joint: Joint, tree: Tree) -> list[int]:
    return [index for index, (owner, _) in enumerate(tree.owner) if owner is joint]


def _consistent(q: Array, model: LoadedModel) -> Array:
    """Return q with all couplings applied and all values within limits."""
    with model.solver.lock:
        followed = model.solver.arrays_for(())[1].with_couplings(q)
    # A solve does the same. Otherwise a held link would be held elsewhere than it was read.
    within: Array = np.clip(followed, model.lower, model.upper)
    return within


def read_tips(request: Any, model: LoadedModel) -> dict[str, Any]:
    """
    Return the wanted pose of each link.

    A request for one pose without a link is for the link of the node's goals, if they all have the
    same link. Raise RefusedIkError if the links cannot be used.
    """
    poses = list(request.pose_stamped_vector) or [request.pose_stamped]
    links = list(request.ik_link_names)
    if not links and len(poses) == 1:
        links = [request.ik_link_name or _only_goal_link(model)]
    if len(links) != len(poses):
        raise RefusedIkError(
            IkCode.INVALID_LINK_NAME,
            f'ik_link_names: {len(links)} links for {len(poses)} poses; each pose needs its own',
        )
    tips = dict(zip(links, poses, strict=True))
    if len(tips) != len(links):
        twice = next(link for link in links if links.count(link) > 1)
        raise RefusedIkError(
            IkCode.INVALID_LINK_NAME,
            f'ik_link_names: {twice!r} is named twice; a link can have only one pose',
        )
    known = model.robot.links
    for link in tips:
        if link not in known:
            names = listed(known)
            raise RefusedIkError(
                IkCode.INVALID_LINK_NAME,
                f'robot {model.robot.name!r} has no link {link!r}; it has {names}',
            )
    return tips


def _only_goal_link(model: LoadedModel) -> str:
    links: set[str] = {goal.link for goal in model.request.goals if goal.link}
    if len(links) == 1:
        return links.pop()
    reason = f'goals for {listed(sorted(links))}' if links else 'no goal'
    raise RefusedIkError(
        IkCode.INVALID_LINK_NAME,
        f'ik_link_name is empty and the node has {reason}: set it to the wanted link',
    )


Lookup = Callable[[str, str], Array]

# Time budget of a request with timeout 0 [s], which MoveIt's plugin always sends.
TIME_BUDGET = 0.1
# Restarts if the solve from the seed fails and the node's parameter sets none: they end when
# independent starts agree, so that an unreachable pose is detected before the budget is spent.
RESTARTS = SolverOptions().restarts


def read_request(
    request: Any, model: LoadedModel, present: Array, settings: Settings, lookup: Lookup
) -> IkRequest:
    """Read a request; its group does not count. RefusedIkError names a part that is unusable."""
    _refuse_constraints(request.constraints)
    tips = read_tips(request, model)
    seed = read_seed(request.robot_state, model, present)
    poses: dict[str, Pose] = {}
    bases: dict[str, Link] = {}
    links = model.robot.links
    for link, stamped in tips.items():
        frame = model.frames.link(stamped.header.frame_id or settings.base_frame)
        poses[link] = _pose_in_root(link, stamped, frame, model, seed, lookup)
        base = links.get(frame)
        if base is not None and carries(base, links[link]):
            bases[frame] = base
    actuated = settings.actuated_joints or model.robot.actuated
    staying = staying_values(model.robot, model.solver.tree, seed.missing, actuated)
    held = [f'joints that move {base}, because a pose is given in its frame' for base in bases]
    if staying:
        held.append(f'joints that robot_state does not name: {listed(staying)}')
    return IkRequest(
        seed=seed,
        poses=poses,
        goals={link: _goals_of(link, model, settings) for link in poses},
        movable=movable_values(model.solver.tree, bases.values(), staying),
        held='; '.join(held),
        closures={name: closure.enabled for name, closure in model.robot.closures.items()},
        options=_options(settings.options, request.timeout),
        choice=settings.solve_ik_choice,
        checks_collisions=bool(request.avoid_collisions),
        surroundings=model.robot.collisions.surroundings(),
    )


def fill_response(
    response: Any,
    answer: IkAnswer,
    ik_request: IkRequest | None,
    model: LoadedModel | None,
    source: str,
) -> None:
    """Write an answer to a moveit_msgs/GetPositionIK response; only a success has a solution."""
    code = response.error_code
    code.val, code.message, code.source = int(answer.code), answer.message, source
    if answer.q is not None and ik_request is not None and model is not None:
        ik_request.seed.fill(response.solution, answer.q, model.solver.tree)


def _refuse_constraints(constraints: Any) -> None:
    kinds = ('joint', 'position', 'orientation', 'visibility')
    refused = [kind for kind in kinds if len(getattr(constraints, f'{kind}_constraints'))]
    if refused:
        raise RefusedIkError(
            IkCode.INVALID_GOAL_CONSTRAINTS,
            f'constraints: {", ".join(refused)} constraints are not supported by this node: '
            f'send none',
        )


def _goals_of(link: str, model: LoadedModel, settings: Settings) -> tuple[GoalSettings, ...]:
    """Return the node's active goals for a link, or all of them if none is active."""
    goals = [goal for goal in model.request.goals if goal.link == link]
    enabled = {goal.name for goal in settings.active_goals if goal.takes_part}
    return tuple([goal for goal in goals if goal.name in enabled] or goals)


def _pose_in_root(
    link: str, stamped: Any, frame: str, model: LoadedModel, seed: IkSeed, lookup: Lookup
) -> Pose:
    """Return a pose in the root frame, or in the frame of the seed's base if it has one."""
    field = f'pose of {link}'
    with _refused_with(IkCode.INVALID_GOAL_CONSTRAINTS):
        pose = pose_from_message(field, stamped.pose)
    world = (model.frames.link(seed.frame_id) if seed.has_base else '') or model.frames.root
    if frame in ('', world):
        return pose
    if frame in model.robot.links:
        return pose_in_root(pose, model.robot.forward(seed.q, frame))
    try:
        return pose_in_root(pose, lookup(model.frames.frame(world), frame))
    except LookupError as error:
        raise RefusedIkError(
            IkCode.FRAME_TRANSFORM_FAILURE, f'{field}: frame {frame!r}: {error.args[0]}'
        ) from None


def _options(options: SolverOptions, timeout: Any) -> SolverOptions:
    """Return the node's solver options with the settings of a request, such as restarts."""
    seconds = float(timeout.sec) + 1e-9 * float(timeout.nanosec)
    return dataclasses.replace(
        options,
        method='dls',
        jacobian='analytic',
        use_svd=False,
        comfort=None,
        max_joint_step=math.inf,
        restarts=options.restarts or RESTARTS,
        time_budget=seconds if seconds > 0.0 else TIME_BUDGET,
    )


# Probability with which a solution may be missed where all of them are looked for.
SEARCHED = 0.01


class IkCopy:
    """
    A copy of a model's robot, which solves requests without changing the robot that ticks.

    A request for a link constrains the same axes as the node's own goals for that link. In the
    copy goals have the names of their topics, so that none hides a link. The copy has no rest
    pose and no joint targets, because an answer should be near the seed. Each request
    defines the locked joints. A loop that the description leaves open by rounding counts as closed
    up to the same limit as in the node.
    """

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self._robot = Robot(deepcopy(model.robot.description))
        for name in list(self._robot.goals):
            self._robot.remove_goal(name)
        for goal in model.request.goals:
            add_goal(self._robot, goal, name=_topic(goal))
        for joint in self._robot.joint_order:
            joint.unlock()
            joint.target_set = joint.rest_pose_set = False
        self._solver = Solver(self._robot, model.request.settings.options)

    def answer(self, ik_request: IkRequest) -> IkAnswer:
        """Solve a request; the caller makes sure that only one thread calls this at a time."""
        try:
            return self._answer(ik_request)
        except IkError as error:
            return IkAnswer(IkCode.FAILURE, str(error))

    def _answer(self, ik_request: IkRequest) -> IkAnswer:
        for name, closed in ik_request.closures.items():
            closure = self._robot.closures[name]
            if closure.enabled != closed:
                closure.enabled = closed
        checked = False
        if ik_request.checks_collisions:
            self._robot.collisions.surround(*ik_request.surroundings)
            checked = bool(self._robot.collisions.pairs)
        options = dataclasses.replace(ik_request.options, avoid_collisions=checked)
        ik_request = dataclasses.replace(ik_request, options=options)
        goals: dict[str, Pose] = {}
        for link, pose in ik_request.poses.items():
            for name in map(_topic, ik_request.goals[link]):
                offset = self._robot.goals[name].offset_matrix
                goals[name] = pose_from_matrix(pose_matrix(*pose) @ offset)
            if not ik_request.goals[link]:
                goals[link] = pose
        solution = self._solve(goals, ik_request)
        model = self.model
        if solution.status is not Status.CONVERGED:
            late = solution.solve_time >= ik_request.options.time_budget
            message = solution.message
            if ik_request.held:
                message += f'; held: {ik_request.held}'
            return IkAnswer(IkCode.TIMED_OUT if late else IkCode.NO_IK_SOLUTION, message)
        amiss = objection(model, solution, ik_request.options)
        if amiss:
            return IkAnswer(IkCode.NO_IK_SOLUTION, amiss)
        q = np.clip(solution.q, model.lower, model.upper)
        starts = f' and {solution.starts} starts' if solution.starts > 1 else ''
        message = f'CONVERGED after {solution.iterations} steps{starts}'
        if ik_request.checks_collisions and not checked:
            message += '; the robot has no bodies to check for collisions'
        return IkAnswer(IkCode.SUCCESS, message, q)

    def _solve(self, goals: Mapping[str, Pose], ik_request: IkRequest) -> Solution:
        """
        Solve from the seed; after a restart, or for another choice, look at all solutions.

        If the request asks for no collisions, only solutions free of contact count.
        """
        begin = perf_counter()
        options, start, solver = ik_request.options, ik_request.seed.q, self._solver
        solver.options = options
        best = solver.solve_pose(goals, q0=start, joints=ik_request.movable)
        nearest = ik_request.choice == 'nearest'
        if ik_request.choice == 'mode':
            mode = solver.mode_of(start, goals)
            kept = best.status is Status.CONVERGED and solver.mode_of(best.q, goals) == mode
            if kept or '0' in mode:
                return best
            return solver.solve_pose(goals, q0=start, joints=ik_request.movable, mode=mode)
        left = options.time_budget - (perf_counter() - begin)
        first = best.status is not Status.CONVERGED or (nearest and best.starts == 1)
        if first or left <= 0.0:
            return best
        sort = 'distance' if nearest else ik_request.choice
        found = solver.solve_all(
            goals, start, ik_request.movable, seconds=left, miss=SEARCHED, sort=sort
        )
        if not len(found):
            return best
        distance = np.linalg.norm(found.q[0] - start)
        nearer = distance < np.linalg.norm(best.q - start)
        chosen: Solution = found[0] if nearer or not nearest else best
        return chosen


def _topic(goal: GoalSettings) -> str:
    return f'~/goals/{goal.name}'


SERVICE = '~/solve_ik'


# The model, its configuration (nq,) [rad or m] and the parameters at present.
Present = tuple[LoadedModel, Array, Settings]


def add_ik_service(
    node: Node, present: Callable[[], Present | None], lookup: Lookup, work: BackgroundWork
) -> None:
    """
    Create ~/solve_ik if moveit_msgs is installed; otherwise log once what is missing.

    `present` is called in the executor's thread only. A request is read in the executor, solved in
    a thread on a copy of the robot, and answered in the executor, which runs other callbacks
    meanwhile. Requests are answered one after the other, because the service has its own callback
    group.
    """
    log, refusals = node.get_logger(), Refusals()
    ik_copy: IkCopy | None = None
    lost = f'no service {SERVICE} for the srv_kinematics_plugin of MoveIt'
    services = optional('moveit_msgs.srv', log.info, lost)
    if services is None:
        return

    def solve(ik_request: IkRequest, model: LoadedModel) -> IkAnswer:
        nonlocal ik_copy
        if ik_copy is None or ik_copy.model is not model:
            ik_copy = IkCopy(model)
        return ik_copy.answer(ik_request)

    async def on_request(request: Any, response: Any) -> Any:
        now = present()
        model = now and now[0]
        ik_request: IkRequest | None = None
        try:
            if now is None:
                raise RefusedIkError(IkCode.FAILURE, 'the node has no robot yet')
            ik_request = read_request(request.ik_request, *now, lookup)
            answer = await work.run(partial(solve, ik_request, now[0]))
        except RefusedIkError as error:
            answer = IkAnswer(error.code, str(error))
        except Exception as error:  # noqa: BLE001
            # A defect must neither leave the client without answer nor end the node.
            answer = IkAnswer(IkCode.FAILURE, str(as_refusal(error)))
        # A request that cannot be processed is logged, an unreachable pose is not.
        kind = f'{SERVICE}: {answer.code.name}'
        processed = (IkCode.SUCCESS, IkCode.NO_IK_SOLUTION, IkCode.TIMED_OUT)
        if answer.code not in processed and refusals.add(kind, answer.message, time.monotonic()):
            log.warning(f'{kind}: {answer.message}')
        fill_response(response, answer, ik_request, model, node.get_name())
        return response

    group = MutuallyExclusiveCallbackGroup()
    node.create_service(services.GetPositionIK, SERVICE, on_request, callback_group=group)
