"""
Conversion of MoveIt's requests for inverse kinematics, and of their answers.

The functions are pure and accept any object with the fields of the message.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import math
from typing import Any

from ik_node.errors import listed
from ik_node.model.link import Link
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose, pose_from_message, pose_in_root, RefusedInputError
from ik_node.ros.messages.names import root_frame
from ik_node.ros.moveit.ik_seed import (
    carries,
    IkAnswer,
    IkCode,
    IkRequest,
    IkSeed,
    movable_values,
    read_seed,
    RefusedIkError,
    staying_values,
)
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.solver import SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def read_tips(request: Any, model: LoadedModel) -> dict[str, Any]:
    """
    Return the wanted pose of each link.

    `request`: `pose_stamped_vector` takes precedence over `pose_stamped`, and `ik_link_names` over
    `ik_link_name`. `model`: the robot. A request for one pose without a link is for the link of
    the node's goals, if they all have the same link. Raise RefusedIkError if the numbers of links
    and poses differ, a link is repeated, or the robot does not have it.
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
    found = f'goals for {listed(sorted(links))}' if links else 'no goal'
    raise RefusedIkError(
        IkCode.INVALID_LINK_NAME,
        f'ik_link_name is empty and the node has {found}: set it to the wanted link',
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
    """
    Read and check a request.

    `request`: the request; its `group_name` is ignored, because the node has no groups. `lookup`
    looks up frames outside the robot: (target, source) -> pose (4, 4); raises LookupError. Raise
    RefusedIkError if a part of the request cannot be used; the message names it.
    """
    _refuse_constraints(request.constraints)
    tips = read_tips(request, model)
    seed = read_seed(request.robot_state, model, present)
    poses: dict[str, Pose] = {}
    bases: dict[str, Link] = {}
    links = model.robot.links
    for link, stamped in tips.items():
        frame = model.link(stamped.header.frame_id or settings.base_frame)
        poses[link] = _pose_in_root(link, stamped, frame, model, seed, lookup)
        base = links.get(frame)
        if base is not None and carries(base, links[link]):
            bases[frame] = base
    actuated = settings.joints.actuated or model.robot.actuated
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
        checks_collisions=bool(request.avoid_collisions),
    )


def fill_response(
    response: Any,
    answer: IkAnswer,
    ik_request: IkRequest | None,
    model: LoadedModel | None,
    source: str,
) -> None:
    """
    Write an answer to a moveit_msgs/GetPositionIK response.

    `response`: the response; its solution stays empty unless the answer is a success.
    `ik_request`: the request; None if it was refused.
    """
    code = response.error_code
    code.val = int(answer.code)
    # These fields are missing in Humble, and had other names in some versions.
    for field, text in (('message', answer.message), ('source', source)):
        for name in (field, f'error_{field}'):
            if hasattr(code, name):
                setattr(code, name, text)
    if answer.q is not None and ik_request is not None and model is not None:
        ik_request.seed.fill(response.solution, answer.q, model.solver.tree)


def _refuse_constraints(constraints: Any) -> None:
    kinds = ('joint', 'position', 'orientation', 'visibility')
    found = [kind for kind in kinds if len(getattr(constraints, f'{kind}_constraints'))]
    if found:
        raise RefusedIkError(
            IkCode.INVALID_GOAL_CONSTRAINTS,
            f'constraints: {", ".join(found)} constraints are not supported by this node: '
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
    try:
        pose = pose_from_message(field, stamped.pose)
    except RefusedInputError as error:
        raise RefusedIkError(IkCode.INVALID_GOAL_CONSTRAINTS, str(error)) from None
    world = (model.link(seed.frame_id) if seed.has_base else '') or root_frame(model.robot)
    if frame in ('', world):
        return pose
    if frame in model.robot.links:
        return pose_in_root(pose, model.robot.forward(seed.q, frame))
    try:
        return pose_in_root(pose, lookup(model.frame(world), frame))
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
