"""Build a model from a request, or refuse it with the reason."""

from __future__ import annotations

import dataclasses
from pathlib import Path
import re
from urllib.parse import unquote

from ik_node.description.read import text_alone
from ik_node.errors import DescriptionError, OptionError, UnknownFrameError
from ik_node.model.rotation import matrix_to_quat
from ik_node.robot import load_robot, Robot
from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.loading.loaded_model import LoadedModel, ModelRequest, offset_matrices
from ik_node.ros.messages.names import topic_parts
from ik_node.ros.parameters.settings import GoalSettings, Settings

# Reading takes about a millisecond per link, ten seconds in all, while the robot keeps running.
MOST_LINKS = 10_000
# Closing a chain of a thousand loops takes a gigabyte and a thousand seconds.
MOST_LOOPS = 500

_LINK = re.compile(r'<(?:link|body)[\s/>]')


def count_links(text: str) -> int:
    """Return the number of links in a description, counted without parsing it."""
    return sum(1 for _ in _LINK.finditer(text))


def check_text(text: str) -> None:
    """
    Refuse a description with too many links before it is parsed.

    Raise DescriptionError if there are too many; the message gives both numbers.
    """
    links = count_links(text)
    if links > MOST_LINKS:
        raise DescriptionError(
            f'{links} links; a node accepts at most {MOST_LINKS}, because reading more links '
            'takes too long'
        )


def check_loops(robot: Robot) -> None:
    """
    Refuse a robot with too many loops before they are closed.

    Raise DescriptionError if there are too many; the message gives both numbers.
    """
    loops = len(robot.closures)
    if loops > MOST_LOOPS:
        raise DescriptionError(
            f'{loops} loops; a node accepts at most {MOST_LOOPS}, because more loops leave no '
            'time for a tick'
        )


_PACKAGE, _FILE = 'package://', 'file://'


def path_of_url(parameter: str, text: str) -> str:
    """
    Return the path of a package:// or file:// URL, or any other text unchanged.

    Raise OptionError if the package is not installed; the message names the parameter.
    """
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
    """
    Read the description and check goals and parameters against it; its loops may be open.

    Raise IkError if the description is refused.
    """
    source: str | Path = Path(path_of_url('robot_file', request.file))
    if not request.file:
        source = text_alone(request.text)
        check_text(source)
    closures = path_of_url('closures', request.closures) or None
    robot = load_robot(source, closures=closures, root=request.root, assemble=False)
    check_loops(robot)
    if not robot.joint_names:
        raise DescriptionError(
            f'robot {robot.name!r} has no movable joint: there is nothing to solve'
        )
    topic_parts(robot.closures, 'closure')
    check_goal_links(request.goals, robot)
    JointRoles.of(robot, request.joints)
    return robot


def load_model(request: ModelRequest) -> LoadedModel:
    """
    Read the description, add the goals, close the loops and load the kernels.

    This takes some hundred milliseconds, or a minute if the library of kernels must be built.
    Raise IkError if the description is refused.
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
            tolerance=goal.goal_tolerance,
        )
        # The solver ignores disabled goals and goals of weight 0, so the weight here may be 1.
        added.weight, added.priority = goal.weight or 1.0, goal.priority
    model = LoadedModel.of(request, robot)
    model.mobility_count.at(model.q_start)
    _warm(model)
    return model


def check_settings(model: LoadedModel, settings: Settings) -> None:
    """
    Check changed parameters against the present robot.

    Raise IkError if a parameter does not fit; the message names it, its value and what is allowed.
    """
    check_goal_links(settings.active_goals, model.robot)
    check_joints(model, settings)
    solver, options = model.solver, model.solver.options
    if settings.options.method != options.method:
        # Some methods cannot solve some robots; a trial solve shows it.
        solver.options = dataclasses.replace(settings.options, max_iterations=1, restarts=0)
        try:
            solver.solve_pose({}, q0=model.q_start)
        finally:
            solver.options = options


def check_joints(model: LoadedModel, settings: Settings) -> None:
    """
    Check that the robot has every joint that a parameter names.

    Raise OptionError if a joint does not exist; the message names the parameter and the joint.
    """
    JointRoles.of(model.robot, settings.joints)


def check_goal_links(goals: tuple[GoalSettings, ...], robot: Robot) -> None:
    """
    Check that the robot has every goal's link.

    Raise OptionError if a link does not exist; the message names the parameter and existing links.
    """
    for goal in goals:
        if goal.link not in robot.links:
            known = str(UnknownFrameError(goal.link, robot.links, kind='link'))
            raise OptionError(
                f'goals.{goal.name}.link', goal.link, f'a link of {robot.name!r}: {known}'
            )


def _warm(model: LoadedModel) -> None:
    """Load kernels and fill the caches of each set of goals before the first tick."""
    model.solver.warm()
    poses = {}
    for goal in model.request.goals:
        matrix = model.reached(goal.name, model.q_start)
        poses[goal.name] = (matrix[:3, 3], matrix_to_quat(matrix))
    for wanted in ({}, poses):
        model.solver.solve_pose(wanted, q0=model.q_start)
    model.solver.drive({}, model.q_start)
    model.helper.shapes(model.q_start)
