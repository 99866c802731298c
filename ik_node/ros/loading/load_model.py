"""Decides when a model is built, builds it in a background thread, or refuses it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import dataclasses
from pathlib import Path
import re
import threading
from urllib.parse import unquote

from ik_node.description.read import text_alone
from ik_node.errors import DescriptionError, IkError, OptionError, UnknownFrameError
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
    """
    Read the description and check goals and parameters against it; its loops may be open.

    Raise IkError if the description is refused.
    """
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
    JointRoles.of(robot, settings.joints)
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
    """Raise IkError if a changed parameter does not fit the present robot."""
    check_goal_links(settings.active_goals, model.robot)
    JointRoles.of(model.robot, settings.joints)
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
    poses = {}
    for goal in model.request.goals:
        matrix = model.reached(goal.name, model.q_start)
        poses[goal.name] = (matrix[:3, 3], matrix_to_quat(matrix))
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
        request = self._requested.changed(settings)
        # The description may have been refused because of joint names or options.
        again = self.refused and self._accepted is None and request != self._requested
        if again or not request.builds_same(self._requested):
            self._submit(request)

    def take(self, adopt: Callable[[LoadedModel], None]) -> None:
        """
        Hand over a finished model; after a refusal, `refused` gives the reason.

        `adopt` starts to use the model. If it raises, it has kept the old model, and the new one
        is refused.
        """
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
