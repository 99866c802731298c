# flake8: noqa: E203
"""From a request to a model that can tick, or to the reason why not."""

from __future__ import annotations

from contextlib import suppress
import dataclasses
import re

from ik_node.description.read import text_alone
from ik_node.errors import DescriptionError, OptionError, shown, UnknownFrameError
from ik_node.model.rotation import matrix_to_quat
from ik_node.robot import load_robot, Robot
from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.loading.loaded_model import LoadedModel, offset_matrices
from ik_node.ros.loading.model_request import ModelRequest
from ik_node.ros.messages.topic_names import topic_parts
from ik_node.ros.parameters.goal_settings import GoalSettings
from ik_node.ros.parameters.settings import Settings

# Reading takes about a millisecond each, some ten seconds in all, beside the running robot.
MOST_LINKS = 10_000
# Closing a thousand loops in one row takes a gigabyte and as many seconds.
MOST_LOOPS = 500

_LINK = re.compile(r'<(?:link|body)[\s/>]')


def count_links(text: str) -> int:
    """Return how many links a description seems to have, without reading it."""
    return sum(1 for _ in _LINK.finditer(text))


def check_text(text: str) -> None:
    """
    Refuse a description with too many links, before it is read.

    Raises
    ------
    DescriptionError
        Says how many it has, and how many are allowed.

    """
    links = count_links(text)
    if links > MOST_LINKS:
        raise DescriptionError(
            f'{links} links; a node takes a robot of at most {MOST_LINKS}, for reading more would '
            'keep it busy too long'
        )


def check_loops(robot: Robot) -> None:
    """
    Refuse a robot with too many loops, before they are closed.

    Raises
    ------
    DescriptionError
        Says how many it has, and how many are allowed.

    """
    loops = len(robot.closures)
    if loops > MOST_LOOPS:
        raise DescriptionError(
            f'{loops} loops; a node takes a robot of at most {MOST_LOOPS}, for more leave no time '
            'for a tick'
        )


_SCHEME = 'package://'


def resolve_package_url(text: str) -> str:
    """
    Return the path that a package:// URL stands for; any other text as it is.

    Raises
    ------
    OptionError
        If the package is not installed.

    """
    if not text.startswith(_SCHEME):
        return text
    package, _, path = text[len(_SCHEME) :].partition('/')
    try:
        from ament_index_python.packages import get_package_share_directory

        share = get_package_share_directory(package)
    except (ImportError, LookupError, OSError, ValueError):
        raise OptionError('closures', text, 'a URL into a package that is installed') from None
    return f'{share}/{path}'


def read_robot(request: ModelRequest) -> Robot:
    """
    Read the description and check that goals and parameters fit it; its loops may be open.

    Raises
    ------
    IkError
        If the description is refused.

    """
    text = text_alone(request.text)
    check_text(text)
    closures = resolve_package_url(request.closures) or None
    robot = load_robot(text, closures=closures, root=request.root, assemble=False)
    check_loops(robot)
    if not robot.joint_names:
        raise DescriptionError(
            f'robot {shown(robot.name)} has no movable joint: there is nothing to solve'
        )
    topic_parts(robot.closures, 'closure')
    check_goal_links(request.goals, robot)
    JointRoles.of(robot, request.joints)
    return robot


def load_model(request: ModelRequest) -> LoadedModel:
    """
    Read the description, add the goals, close the loops, load the kernels.

    Takes up to some hundred milliseconds, or many seconds when kernels are compiled.

    Raises
    ------
    IkError
        If the description is refused.

    """
    robot = read_robot(request)
    if robot.closures:
        robot.assemble()
    offsets = offset_matrices(request)
    for goal in request.goals:
        offset = offsets.get(goal.name)
        added = robot.add_goal(
            goal.link,
            name=goal.name,
            dof=goal.dof,
            axes=goal.axes,
            offset=None if offset is None else (offset[:3, 3], matrix_to_quat(offset)),
        )
        # A goal of weight zero, like one not enabled, is not asked for; the solver knows it.
        added.weight, added.priority = goal.weight or 1.0, goal.priority
    model = LoadedModel.of(request, robot)
    model.mobility_count.at(model.q_start)
    _warm(model)
    return model


def check_settings(model: LoadedModel, settings: Settings) -> None:
    """
    Check that parameters that change while a model is there fit its robot.

    Raises
    ------
    IkError
        Names the parameter, its value and what is allowed.

    """
    check_goal_links(settings.active_goals, model.robot)
    check_joints(model, settings)
    solver, options = model.solver, model.solver.options
    if settings.options.method != options.method:
        # Not every method can serve every robot: it says so itself.
        solver.options = dataclasses.replace(settings.options, max_iterations=1)
        try:
            solver.solve_pose({}, q0=model.q_start)
        finally:
            solver.options = options


def check_joints(model: LoadedModel, settings: Settings) -> None:
    """
    Check that the robot has every joint that a parameter names.

    Raises
    ------
    OptionError
        Names the parameter and the joint.

    """
    JointRoles.of(model.robot, settings.joints)


def check_goal_links(goals: tuple[GoalSettings, ...], robot: Robot) -> None:
    """
    Check that the robot has every goal's link.

    Raises
    ------
    OptionError
        Names the parameter and some of the links there are.

    """
    for goal in goals:
        if goal.link not in robot.links:
            known = str(UnknownFrameError(goal.link, robot.links, kind='link'))
            raise OptionError(
                f'goals.{goal.name}.link', goal.link, f'a link of {shown(robot.name)}: {known}'
            )


def _warm(model: LoadedModel) -> None:
    """Load kernels and build what is cached per set of goals, before the first tick needs it."""
    model.solver.warm()
    poses = {}
    for goal in model.request.goals:
        matrix = model.reached(goal.name, model.q_start)
        poses[goal.name] = (matrix[:3, 3], matrix_to_quat(matrix))
    for wanted in ({}, poses):
        model.solver.solve_pose(wanted, q0=model.q_start)
    model.solver.drive({}, model.q_start)
    model.helper.shapes(model.q_start)
    # The method slsqp may be chosen at any tick, and this import takes many.
    with suppress(ImportError):
        import scipy.optimize  # noqa: F401
