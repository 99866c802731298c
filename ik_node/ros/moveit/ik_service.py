"""The service ~/solve_ik: inverse kinematics for MoveIt's service plugin, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
import dataclasses
from functools import partial
import time
from time import perf_counter
from typing import Any

from ik_node.errors import IkError
from ik_node.model.goal import Goal
from ik_node.model.rotation import Array, matrix_to_quat, pose_from_matrix, pose_matrix
from ik_node.robot import Robot
from ik_node.ros.control.tracker import objection
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose, Refusals
from ik_node.ros.moveit.ik_request import (
    fill_response,
    IkAnswer,
    IkCode,
    IkRequest,
    Lookup,
    read_request,
    RefusedIkError,
)
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.ros.process.background_work import BackgroundWork
from ik_node.solver import Solution, Solver, Status
import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

# Link, wanted axes, whose axes, the pose of the goal's frame in the link, and tolerances.
Shape = tuple[str, str, str, tuple[float, ...], tuple[float, ...] | None]

# Probability with which a solution may be missed where all of them are looked for.
SEARCHED = 0.01


class IkCopy:
    """
    A copy of a model's robot, which solves requests without changing the robot that ticks.

    The copy has only the goals of requests, so that no goal hides a link of the same name. A
    request for a link constrains the same axes as the node's own goals for that link. The copy has
    no rest pose and no joint targets, because an answer should be near the seed. Each request
    defines the locked joints. A loop that the description leaves open by rounding counts as closed
    up to the same limit as in the node.
    """

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self._robot = Robot(deepcopy(model.robot.description))
        for link in self._robot.links.values():
            for goal in [joint for joint in link.closure_joints if isinstance(joint, Goal)]:
                goal.remove_child(link)
        for joint in self._robot.joint_order:
            joint.unlock()
            joint.target_set = joint.rest_pose_set = False
        self._solver = Solver(self._robot, model.request.settings.options)
        self._goal_of: dict[Shape, str] = {}

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
            goals.update(self._goals(link, pose, ik_request.goals[link]))
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

    def _goals(
        self, link: str, pose: Pose, goals: Sequence[GoalSettings]
    ) -> Iterator[tuple[str, Pose]]:
        """Yield the names of the goals for a link's pose, and the poses of their frames."""
        if not goals:
            yield self._goal((link, 'X Y Z EX EY EZ', 'world', (), None), None), pose
        for goal in goals:
            offset = self.model.offsets.get(goal.name)
            shape = (link, goal.dof, goal.axes, goal.offset, goal.goal_tolerance)
            name = self._goal(shape, offset)
            placed = pose if offset is None else pose_from_matrix(pose_matrix(*pose) @ offset)
            yield name, placed

    def _goal(self, shape: Shape, offset: Array | None) -> str:
        """Return the name of the goal of this shape, and create it on first use."""
        name = self._goal_of.get(shape)
        if name is None:
            link, dof, axes, _, tolerance = shape
            name = link
            while name in self._robot.closures or name in self._goal_of.values():
                name += "'"
            frame = None if offset is None else (offset[:3, 3], matrix_to_quat(offset))
            self._robot.add_goal(
                link, name=name, dof=dof, axes=axes, offset=frame, tolerance=tolerance
            )
            self._goal_of[shape] = name
        return name


SERVICE = '~/solve_ik'


# The model, its configuration (nq,) [rad or m] and the parameters at present.
Present = tuple[LoadedModel, Array, Settings]


def add_ik_service(
    node: Node, present: Callable[[], Present | None], lookup: Lookup, work: BackgroundWork
) -> None:
    """
    Create ~/solve_ik if moveit_msgs is installed; otherwise log once what is missing.

    `present` is called in the executor's thread only; it returns None before the first robot.
    `lookup` returns the pose of a frame outside the robot; see `read_request`. A request is read
    in the executor, solved in a thread on a copy of the robot, and answered in the executor, which
    runs other callbacks meanwhile. Requests are answered one after the other, because the service
    has its own callback group.
    """
    try:
        from moveit_msgs.srv import GetPositionIK
    except ImportError:
        node.get_logger().info(
            f'no service {SERVICE}: moveit_msgs is not installed; with it MoveIt can '
            f'request inverse kinematics from this node, through its srv_kinematics_plugin'
        )
        return
    answer = _IkService(node, present, lookup, work).on_request
    node.create_service(
        GetPositionIK, SERVICE, answer, callback_group=MutuallyExclusiveCallbackGroup()
    )


class _IkService:
    """What answers the requests of ~/solve_ik, moveit_msgs/GetPositionIK."""

    def __init__(
        self,
        node: Node,
        present: Callable[[], Present | None],
        lookup: Lookup,
        work: BackgroundWork,
    ) -> None:
        self._node, self._present, self._lookup, self._work = node, present, lookup, work
        self._refusals = Refusals()
        self._ik_copy: IkCopy | None = None

    async def on_request(self, request: Any, response: Any) -> Any:
        """Answer a request."""
        present = self._present()
        model = present and present[0]
        ik_request: IkRequest | None = None
        try:
            if present is None:
                raise RefusedIkError(IkCode.FAILURE, 'the node has no robot yet')
            ik_request = read_request(request.ik_request, *present, self._lookup)
            answer = await self._work.run(partial(self._solve, ik_request, present[0]))
        except RefusedIkError as error:
            answer = IkAnswer(error.code, str(error))
        except Exception as error:  # noqa: BLE001
            # A defect of this package must neither leave the client without answer nor end the
            # node.
            what = f'internal error, please report: {type(error).__name__}: {error}'
            answer = IkAnswer(IkCode.FAILURE, what)
        self._log(answer)
        fill_response(response, answer, ik_request, model, self._node.get_name())
        return response

    def _solve(self, ik_request: IkRequest, model: LoadedModel) -> IkAnswer:
        ik_copy = self._ik_copy
        if ik_copy is None or ik_copy.model is not model:
            ik_copy = self._ik_copy = IkCopy(model)
        return ik_copy.answer(ik_request)

    def _log(self, answer: IkAnswer) -> None:
        """Log a request that could not be processed; an unreachable pose is not logged."""
        if answer.code in (IkCode.SUCCESS, IkCode.NO_IK_SOLUTION, IkCode.TIMED_OUT):
            return
        kind = f'{SERVICE}: {answer.code.name}'
        if self._refusals.add(kind, answer.message, time.monotonic()):
            self._node.get_logger().warning(f'{kind}: {answer.message}')
